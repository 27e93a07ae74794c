package link

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
)

// The schema's limits for texts, in characters. What the desktop or an error
// says may be longer, and a report must not be refused for its eloquence.
const (
	maxMessage     = 4000
	maxDoing       = 1000
	maxDetail      = 1000
	maxDescription = 4000
	maxNote        = 1000
	maxMethod      = 100
)

// maxListed is how many results and unfinished actions a hello may hold.
const maxListed = 4096

// clip makes a text valid UTF-8 of at most limit characters.
func clip(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// word is an enum value's name without its prefix, in lower case.
func word(value fmt.Stringer, prefix string) string {
	return strings.ToLower(strings.TrimPrefix(value.String(), prefix))
}

// value is the enum value of that name, or 0, which every reader treats as not
// said.
func value[E ~int32](values map[string]int32, prefix, name string) E {
	return E(values[prefix+strings.ToUpper(name)])
}

func (l *Link) report(r work.Report, spoolID string) *reprisev1.Report {
	o := r.Outcome
	out := &reprisev1.Report{
		ReplayId: r.ReplayID, SessionId: r.SessionID, MachineId: l.cfg.MachineID, ActionId: r.ActionID, AttemptId: r.AttemptID,
		Success:          o.Success(),
		Completion:       value[reprisev1.Completion](reprisev1.Completion_value, "COMPLETION_", string(o.Completion)),
		Effect:           value[reprisev1.Effect](reprisev1.Effect_value, "EFFECT_", string(o.Effect)),
		ScreenshotBefore: picture(o.Before), ScreenshotAfter: picture(o.After),
		ResolutionMethod: o.Method, ResolutionScore: o.Score,
		NeedsHuman: o.NeedsHuman, StartedAt: timestamp(o.StartedAt), EndedAt: timestamp(o.EndedAt), SpoolId: spoolID,
	}
	for _, w := range o.Warnings {
		out.Warnings = append(out.Warnings, value[reprisev1.Warning](reprisev1.Warning_value, "WARNING_", string(w)))
	}
	if o.Position != nil {
		out.ActualPosition = &reprisev1.PixelPosition{X: int32(o.Position.X), Y: int32(o.Position.Y)}
	}
	if o.Method != "" {
		out.ResolutionElapsed = durationpb.New(o.ResolveElapsed)
	}
	if !o.Success() {
		out.Error = actionError(o)
		out.SystemDialog = dialog(o.Dialog)
		out.TargetDescription, out.Target = clip(o.Description, maxDescription), targetOut(o.Target)
	}
	return out
}

func actionError(o work.Outcome) *reprisev1.ActionError {
	return &reprisev1.ActionError{
		Code:    value[reprisev1.ErrorCode](reprisev1.ErrorCode_value, "ERROR_CODE_", string(o.Code)),
		Message: clip(o.Message, maxMessage),
	}
}

func picture(p *work.Picture) *reprisev1.EvidenceRef {
	if p == nil {
		return nil
	}
	out := &reprisev1.EvidenceRef{
		Sha256: p.SHA256, TakenAt: timestamp(p.TakenAt), Method: clip(p.Method, maxMethod), Settled: p.Settled,
		Note: clip(p.Note, maxNote), Masks: int32(p.Masks),
		Width: int32(p.Width), Height: int32(p.Height), Scale: p.Scale, Geometry: p.Geometry,
	}
	if p.Width > 0 {
		out.Origin = &reprisev1.PixelPosition{X: int32(p.Origin.X), Y: int32(p.Origin.Y)}
	}
	if p.Monitor != nil {
		out.Monitor = proto.Int32(int32(*p.Monitor))
	}
	return out
}

func dialog(d *work.Dialog) *reprisev1.SystemDialog {
	if d == nil {
		return nil
	}
	return &reprisev1.SystemDialog{
		Category: clip(d.Category, maxMethod), MatchedSignal: clip(d.Signal, maxMethod), MatchedValue: clip(d.Value, maxNote),
		Reason: clip(d.Reason, maxNote), Context: clip(d.Context, maxMessage),
	}
}

func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func targetOut(t *work.Target) *reprisev1.Target {
	if t == nil {
		return nil
	}
	out := &reprisev1.Target{
		ByText: t.ByText, VlmDescription: t.Description, WindowTitle: t.Window, Point: pointOut(t.Point),
	}
	for _, way := range t.Order {
		for schema, ours := range resolvers {
			if ours == way {
				out.ResolveOrder = append(out.ResolveOrder, schema)
			}
		}
	}
	if a := t.Anchor; a != nil {
		out.AnchorImage = &reprisev1.AnchorImage{Sha256: a.SHA256, Offset: pointOut(a.Offset), MinScore: a.MinScore, RecordedScale: a.RecordedScale}
	}
	if p := t.OnPicture; p != nil {
		out.PicturePoint = &reprisev1.PicturePoint{
			X: int32(p.X), Y: int32(p.Y), OriginX: int32(p.Origin.X), OriginY: int32(p.Origin.Y), Scale: p.Scale, Geometry: p.Geometry,
		}
	}
	if u := t.UIA; u != nil {
		out.UiaTarget = &reprisev1.UiaTarget{Name: u.Name, AutomationId: u.AutomationID, ControlType: u.ControlType}
	}
	return out
}

func pointOut(p *work.Point) *reprisev1.Point {
	if p == nil {
		return nil
	}
	return &reprisev1.Point{X: p.X, Y: p.Y}
}

func progress(p work.Progress) *reprisev1.Progress {
	state := reprisev1.ProgressState_PROGRESS_STATE_RECEIVED
	if p.Executing {
		state = reprisev1.ProgressState_PROGRESS_STATE_EXECUTING
	}
	return &reprisev1.Progress{ActionId: p.ActionID, AttemptId: p.AttemptID, State: state, Doing: clip(p.Doing, maxDoing)}
}

// desktopKinds pairs our states of a desktop with the schema's.
var desktopKinds = map[desktop.Kind]reprisev1.DesktopStateKind{
	desktop.Active:          reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE,
	desktop.Locked:          reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED,
	desktop.Disconnected:    reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_DISCONNECTED,
	desktop.SecureDesktop:   reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_SECURE_DESKTOP,
	desktop.NoUser:          reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_NO_USER,
	desktop.DisplayTooSmall: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_DISPLAY_TOO_SMALL,
	desktop.AgentImpaired:   reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_AGENT_IMPAIRED,
	desktop.ElevatedWindow:  reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ELEVATED_WINDOW,
}

func desktopState(s desktop.State) *reprisev1.DesktopState {
	return &reprisev1.DesktopState{Kind: desktopKinds[s.Kind], Detail: clip(s.Detail, maxDetail)}
}

func monitorsOut(monitors []driver.Monitor) []*reprisev1.Monitor {
	var out []*reprisev1.Monitor
	for _, m := range monitors {
		out = append(out, &reprisev1.Monitor{
			Index: int32(m.Index), OffsetX: int32(m.Bounds.Min.X), OffsetY: int32(m.Bounds.Min.Y),
			Width: int32(m.Bounds.Dx()), Height: int32(m.Bounds.Dy()), Scale: m.Scale, Primary: m.Primary,
		})
	}
	return out
}

func refOut(r work.Ref) *reprisev1.ActionRef {
	return &reprisev1.ActionRef{ReplayId: r.ReplayID, ActionId: r.ActionID, AttemptId: r.AttemptID}
}

// hello is the first message of a stream.
func (l *Link) hello(o work.Opening, monitors []driver.Monitor, state desktop.State) *reprisev1.Hello {
	out := &reprisev1.Hello{
		MachineId: l.cfg.MachineID, AgentInstanceId: o.SpoolID, BootId: o.BootID, Version: l.cfg.Version,
		ProtocolVersion: protocolVersion, Kinds: kinds(), Monitors: monitorsOut(monitors),
		DesktopState: desktopState(state), AgentTime: timestamppb.Now(), LastExit: clip(o.LastExit, maxDetail),
	}
	if l.cfg.Camera != nil {
		out.Capabilities = []string{capabilityCapture}
	}
	for _, r := range o.Results[:min(len(o.Results), maxListed)] {
		out.Results = append(out.Results, l.report(r, o.SpoolID))
	}
	for _, u := range o.Unfinished[:min(len(o.Unfinished), maxListed)] {
		out.Unfinished = append(out.Unfinished, refOut(u))
	}
	if o.Executing != nil {
		out.Executing = refOut(*o.Executing)
	}
	return out
}

// kinds names the kinds of action that an agent executes.
func kinds() []string {
	var names []string
	for _, k := range kind.All() {
		if !k.ServerSide {
			names = append(names, k.Name)
		}
	}
	return names
}
