package link

import (
	"fmt"
	"time"
	"unicode/utf8"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/kind"
)

// The schema's limits for ids in a report, in characters.
const (
	maxActionID = 200
	maxID       = 100
)

// answerable says whether a report can name the dispatch.
func answerable(d *reprisev1.Dispatch) bool {
	short := func(id string, most int) bool { return utf8.RuneCountInString(id) <= most }
	return d.GetActionId() != "" && short(d.GetActionId(), maxActionID) &&
		short(d.GetAttemptId(), maxID) && short(d.GetReplayId(), maxID) && short(d.GetSessionId(), maxID)
}

// dispatched turns a dispatch into a value. One that breaks the schema's rules,
// that is for another machine, or that no agent executes is still a dispatch,
// with the reason why it is invalid: it is answered, not dropped.
func dispatched(d *reprisev1.Dispatch, machineID string) work.Dispatch {
	k := kind.Of(d.GetAction())
	out := work.Dispatch{
		Ref:       work.Ref{ReplayID: d.GetReplayId(), ActionID: d.GetActionId(), AttemptID: d.GetAttemptId()},
		SessionID: d.GetSessionId(), Replaces: d.GetReplaces(), Safe: k.Safe, Timeout: d.GetTimeout().AsDuration(),
	}
	switch err := protovalidate.Validate(d); {
	case err != nil:
		out.Invalid = fmt.Sprintf("the dispatch breaks the schema's rules: %v", err)
	case d.GetMachineId() != "" && d.GetMachineId() != machineID:
		out.Invalid = fmt.Sprintf("the dispatch is for machine %q, this is %q", d.GetMachineId(), machineID)
	case d.GetAction() == nil || k.Name == "":
		out.Invalid = "the dispatch holds no action that this agent knows"
	case k.ServerSide:
		out.Invalid = fmt.Sprintf("actions of kind %s are the server's to execute", k.Name)
	default:
		out.Action = action(d, k)
	}
	if out.Timeout <= 0 {
		out.Timeout = kind.Timeout(d.GetAction(), 0)
	}
	return out
}

func action(d *reprisev1.Dispatch, k kind.Kind) work.Action {
	a := d.GetAction()
	out := work.Action{
		Kind: k.Name, Do: gesture(a), Intention: a.GetIntention(), Corrected: point(d.GetCorrectedPosition()),
		WindowBefore: a.GetExpectedWindowBefore(), WindowAfter: a.GetExpectedWindowTitle(), Strict: a.GetSuccessStrict(),
		Target: target(a.GetTarget()), Masks: masks(d.GetMasks()), Popups: Popups(d.GetPopups()),
	}
	if m := a.GetMonitorResolution(); m != nil {
		index := int(m.GetIndex())
		out.Monitor = &index
	}
	switch kind.ExpectedEffect(a) {
	case reprisev1.ExpectedEffect_EXPECTED_EFFECT_CHANGE:
		out.Effect = work.ExpectChange
	case reprisev1.ExpectedEffect_EXPECTED_EFFECT_REQUIRED:
		out.Effect = work.RequireChange
	}
	return out
}

func masks(all []*reprisev1.Mask) []work.Mask {
	var out []work.Mask
	for _, m := range all {
		out = append(out, work.Mask{
			Monitor: int(m.GetMonitor()), Left: m.GetLeft(), Top: m.GetTop(), Width: m.GetWidth(), Height: m.GetHeight(),
		})
	}
	return out
}

// Popups reads rules for popups.
func Popups(all []*reprisev1.PopupRule) []work.Popup {
	var out []work.Popup
	for _, p := range all {
		rule := work.Popup{Window: window(p.GetWindow()), Keys: p.GetKeys().GetKeys(), Point: point(p.GetPoint())}
		if len(rule.Keys) == 0 && rule.Point == nil {
			rule.Keys = []string{"escape"}
		}
		out = append(out, rule)
	}
	return out
}

var typeModes = map[reprisev1.TypeMode]work.TypeMode{
	reprisev1.TypeMode_TYPE_MODE_CHARACTERS: work.Characters,
	reprisev1.TypeMode_TYPE_MODE_SCAN_CODES: work.ScanCodes,
	reprisev1.TypeMode_TYPE_MODE_CLIPBOARD:  work.Clipboard,
}

func screenshot(s *reprisev1.Screenshot) work.Screenshot {
	if s.GetWindow() == nil {
		return work.Screenshot{}
	}
	w := window(s.GetWindow())
	return work.Screenshot{Window: &w}
}

func gesture(a *reprisev1.Action) work.Gesture {
	switch k := a.GetKind().(type) {
	case *reprisev1.Action_Click:
		return work.Click{Button: button(k.Click.GetButton()), Count: max(int(k.Click.GetCount()), 1), Modifiers: k.Click.GetModifiers()}
	case *reprisev1.Action_Move:
		return work.Move{}
	case *reprisev1.Action_Drag:
		return work.Drag{To: *target(k.Drag.GetTo()), Button: button(k.Drag.GetButton())}
	case *reprisev1.Action_Type:
		return work.Type{
			Text: work.Text(k.Type.GetText()), Secret: k.Type.GetSecret(), ClearFirst: k.Type.GetClearFirst(), Mode: typeModes[k.Type.GetMode()],
		}
	case *reprisev1.Action_Paste:
		return work.Paste{Text: work.Text(k.Paste.GetText()), ClearFirst: k.Paste.GetClearFirst()}
	case *reprisev1.Action_KeyCombo:
		return work.Combo{Keys: k.KeyCombo.GetKeys()}
	case *reprisev1.Action_Scroll:
		return work.Scroll{Vertical: int(k.Scroll.GetVertical()), Horizontal: int(k.Scroll.GetHorizontal())}
	case *reprisev1.Action_Wait:
		return work.Wait{For: k.Wait.GetDuration().AsDuration()}
	case *reprisev1.Action_WaitForTarget:
		return work.WaitForTarget{}
	case *reprisev1.Action_WaitForWindow:
		return work.WaitForWindow{Window: window(k.WaitForWindow.GetWindow())}
	case *reprisev1.Action_FocusWindow:
		return work.FocusWindow{Window: window(k.FocusWindow.GetWindow())}
	case *reprisev1.Action_Screenshot:
		return screenshot(k.Screenshot)
	}
	return nil
}

func button(b reprisev1.MouseButton) work.Button {
	switch b {
	case reprisev1.MouseButton_MOUSE_BUTTON_RIGHT:
		return work.Right
	case reprisev1.MouseButton_MOUSE_BUTTON_MIDDLE:
		return work.Middle
	}
	return work.Left
}

func window(w *reprisev1.WindowSelector) work.WindowSelector {
	out := work.WindowSelector{Title: w.GetTitle(), Class: w.GetClassName(), Process: w.GetProcess()}
	switch w.GetTitleMatch() {
	case reprisev1.TitleMatch_TITLE_MATCH_EXACT:
		out.Match = work.Exact
	case reprisev1.TitleMatch_TITLE_MATCH_REGEXP:
		out.Match = work.Regexp
	}
	return out
}

func point(p *reprisev1.Point) *work.Point {
	if p == nil {
		return nil
	}
	return &work.Point{X: p.GetX(), Y: p.GetY()}
}

// resolvers pairs the schema's ways to find a target with ours.
var resolvers = map[reprisev1.Resolver]work.Way{
	reprisev1.Resolver_RESOLVER_UIA:      work.WayUIA,
	reprisev1.Resolver_RESOLVER_TEMPLATE: work.WayTemplate,
	reprisev1.Resolver_RESOLVER_OCR:      work.WayOCR,
	reprisev1.Resolver_RESOLVER_VLM:      work.WayVLM,
}

func target(t *reprisev1.Target) *work.Target {
	if t == nil {
		return nil
	}
	out := &work.Target{
		ByText: t.GetByText(), Description: t.GetVlmDescription(), Window: t.GetWindowTitle(), Point: point(t.GetPoint()),
	}
	for _, r := range t.GetResolveOrder() {
		out.Order = append(out.Order, resolvers[r])
	}
	if a := t.GetAnchorImage(); a != nil {
		out.Anchor = &work.Anchor{SHA256: a.GetSha256(), Offset: point(a.GetOffset()), MinScore: a.GetMinScore(), RecordedScale: a.GetRecordedScale()}
	}
	if p := t.GetPicturePoint(); p != nil {
		out.OnPicture = &work.PicturePoint{
			X: int(p.GetX()), Y: int(p.GetY()), Origin: work.Position{X: int(p.GetOriginX()), Y: int(p.GetOriginY())},
			Scale: p.GetScale(), Geometry: p.GetGeometry(),
		}
	}
	if u := t.GetUiaTarget(); u != nil {
		out.UIA = &work.UIA{Name: u.GetName(), AutomationID: u.GetAutomationId(), ControlType: u.GetControlType()}
	}
	return out
}

func opened(w *reprisev1.Welcome) runner.Opened {
	out := runner.Opened{
		Stop:     w.GetExecutingVerdict() == reprisev1.ExecutingVerdict_EXECUTING_VERDICT_STOP,
		Closed:   w.GetClosedActionIds(),
		Settings: settings(w.GetSettings()),
	}
	for _, a := range w.GetResultAcks() {
		out.Acks = append(out.Acks, ack(a))
	}
	return out
}

func ack(a *reprisev1.ReportAck) runner.Ack {
	return runner.Ack{ActionID: a.GetActionId(), AttemptID: a.GetAttemptId()}
}

func settings(s *reprisev1.SessionSettings) work.Settings {
	span := func(d *durationpb.Duration) time.Duration { return d.AsDuration() }
	return work.Settings{
		ReportAck: span(s.GetReportAckTimeout()), ActionTimeout: span(s.GetActionTimeout()),
		ProgressAfter: span(s.GetProgressAfter()), ProgressInterval: span(s.GetProgressInterval()),
		EffectTimeout: span(s.GetEffectTimeout()), ResolveTimeout: span(s.GetResolveTimeout()),
		PingInterval: span(s.GetPingInterval()), PingTimeout: span(s.GetPingTimeout()),
		MinScoreTemplate: s.GetMinScoreTemplate(), MaxPicture: s.GetMaxPictureBytes(),
	}.WithDefaults()
}

func paused(p *reprisev1.Pause) work.Pause {
	out := work.Pause{ReplayID: p.GetReplayId(), PauseID: p.GetPauseId(), Reason: word(p.GetReason(), "PAUSE_REASON_"), Message: p.GetMessage()}
	for _, c := range p.GetSafetyChecks() {
		out.Checks = append(out.Checks, c.GetLabel())
	}
	return out
}
