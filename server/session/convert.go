package session

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// converter turns values into schema. It knows what a welcome says.
type converter struct {
	version  string
	settings *reprisev1.SessionSettings
	results  []dispatch.Ref // of the hello, for the welcome's acknowledgements
}

// effect returns the message that an effect sends.
func (c converter) effect(sessionID string, e dispatch.Effect) (*reprisev1.ConnectResponse, error) {
	switch e := e.(type) {
	case dispatch.Welcome:
		return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Welcome{Welcome: c.welcome(e)}}, nil
	case dispatch.Deliver:
		d, err := c.dispatch(sessionID, e.Delivery)
		return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Dispatch{Dispatch: d}}, err
	case dispatch.Ack:
		return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_ReportAck{ReportAck: ack(e.Ref, e.Verdict)}}, nil
	case dispatch.ShowPause:
		return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Pause{Pause: &reprisev1.Pause{
			ReplayId: e.ReplayID, PauseId: e.Pause.ID, Reason: PauseReason(e.Pause.Reason), Message: e.Pause.Message,
			SafetyChecks: SafetyChecks(e.Pause.Checks),
		}}}, nil
	case dispatch.EndPause:
		return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Resume{Resume: &reprisev1.Resume{
			ReplayId: e.ReplayID, PauseId: e.PauseID,
		}}}, nil
	case dispatch.CancelAction:
		return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Cancel{Cancel: &reprisev1.Cancel{
			ReplayId: e.ReplayID, ActionId: e.ActionID,
		}}}, nil
	}
	return nil, fmt.Errorf("session: %T is not for an agent", e)
}

func (c converter) welcome(w dispatch.Welcome) *reprisev1.Welcome {
	out := &reprisev1.Welcome{
		SessionId: w.SessionID, Version: c.version, ServerTime: timestamppb.Now(),
		ExecutingVerdict: reprisev1.ExecutingVerdict(w.Executing), ClosedActionIds: w.Closed, Settings: c.settings,
	}
	for i, v := range w.Verdicts {
		if v == 0 {
			continue // it could not be recorded: the agent keeps it and says it again
		}
		out.ResultAcks = append(out.ResultAcks, ack(c.results[i], v))
	}
	return out
}

func ack(ref dispatch.Ref, v replay.Verdict) *reprisev1.ReportAck {
	return &reprisev1.ReportAck{ActionId: ref.ActionID, AttemptId: ref.AttemptID, Verdict: reprisev1.ReportVerdict(v)}
}

func (c converter) dispatch(sessionID string, d dispatch.Delivery) (*reprisev1.Dispatch, error) {
	action := &reprisev1.Action{}
	if err := proto.Unmarshal(d.Step.Payload, action); err != nil {
		return nil, fmt.Errorf("session: action %s cannot be read from the journal: %w", d.ActionID, err)
	}
	out := &reprisev1.Dispatch{
		ReplayId: d.ReplayID, SessionId: sessionID, MachineId: d.MachineID, ActionId: d.ActionID, AttemptId: d.AttemptID,
		Action: action, Replaces: d.Replaces, FromNode: d.Step.Name, Masks: masks(d.Masks),
		Timeout: durationpb.New(kind.Timeout(action, c.settings.GetActionTimeout().AsDuration())),
		DispatchMeta: &reprisev1.DispatchMeta{
			FirstDispatchedAt: timestamp(d.FirstDispatchedAt), ResentCount: int32(d.Resent), LastResentAt: timestamp(d.LastResentAt),
			ResendReason: reprisev1.ResendReason(d.Reason), Delivery: int32(d.Number),
		},
	}
	for _, encoded := range d.Popups {
		p := &reprisev1.PopupRule{}
		if err := proto.Unmarshal(encoded, p); err != nil {
			return nil, fmt.Errorf("session: a popup rule of action %s cannot be read from the journal: %w", d.ActionID, err)
		}
		out.Popups = append(out.Popups, p)
	}
	if p := d.Correction; p != nil {
		out.CorrectedPosition = &reprisev1.Point{X: p.X, Y: p.Y}
	}
	return out, nil
}

func masks(all []replay.Mask) []*reprisev1.Mask {
	var out []*reprisev1.Mask
	for _, m := range all {
		out = append(out, &reprisev1.Mask{Monitor: int32(m.Monitor), Left: m.Left, Top: m.Top, Width: m.Width, Height: m.Height})
	}
	return out
}

func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// PauseReason returns the schema's value for a pause's reason.
func PauseReason(name string) reprisev1.PauseReason {
	return reprisev1.PauseReason(reprisev1.PauseReason_value["PAUSE_REASON_"+strings.ToUpper(name)])
}

// SafetyChecks returns the schema's form of safety checks.
func SafetyChecks(checks []replay.Check) []*reprisev1.SafetyCheck {
	var out []*reprisev1.SafetyCheck
	for _, c := range checks {
		source := reprisev1.SafetyCheckSource_SAFETY_CHECK_SOURCE_WORKFLOW
		if c.Server {
			source = reprisev1.SafetyCheckSource_SAFETY_CHECK_SOURCE_SERVER
		}
		out = append(out, &reprisev1.SafetyCheck{Id: c.ID, Label: c.Label, Required: c.Required, Source: source})
	}
	return out
}

// result returns what the core needs of a report. Values that the server does
// not know are kept in the payload and treated as "other".
func result(r *reprisev1.Report) (dispatch.Result, error) {
	payload, err := proto.Marshal(r)
	if err != nil {
		return dispatch.Result{}, fmt.Errorf("session: encode a report: %w", err)
	}
	rep := replay.Report{
		Success: r.GetSuccess(), Message: r.GetError().GetMessage(), NeedsHuman: r.GetNeedsHuman(),
		SpoolID: r.GetSpoolId(), Payload: payload,
	}
	if !rep.Success {
		rep.Code = errorCode(r.GetError().GetCode())
	}
	switch r.GetCompletion() {
	case reprisev1.Completion_COMPLETION_NOT_STARTED:
		rep.Completion = replay.CompletionNotStarted
	case reprisev1.Completion_COMPLETION_COMPLETED:
		rep.Completion = replay.CompletionCompleted
	default:
		rep.Completion = replay.CompletionUnknown
	}
	for _, w := range r.GetWarnings() {
		rep.NoChange = rep.NoChange || w == reprisev1.Warning_WARNING_NO_SCREEN_CHANGE
	}
	return dispatch.Result{Ref: dispatch.Ref{ActionID: r.GetActionId(), AttemptID: r.GetAttemptId()}, Report: rep}, nil
}

func errorCode(c reprisev1.ErrorCode) string {
	name, known := reprisev1.ErrorCode_name[int32(c)]
	if !known || c == reprisev1.ErrorCode_ERROR_CODE_UNSPECIFIED {
		return replay.CodeOther
	}
	return strings.ToLower(strings.TrimPrefix(name, "ERROR_CODE_"))
}

func ref(a *reprisev1.ActionRef) dispatch.Ref {
	return dispatch.Ref{ActionID: a.GetActionId(), AttemptID: a.GetAttemptId()}
}

// opening returns what the core needs of a hello.
func opening(sessionID string, h *reprisev1.Hello) (dispatch.Open, error) {
	open := dispatch.Open{Session: dispatch.Session{
		Session: replay.Session{ID: sessionID, SpoolID: h.GetAgentInstanceId(), BootID: h.GetBootId(), Clean: h.GetLastExit() == ""},
		Usable:  usable(h.GetDesktopState()),
	}}
	if h.GetExecuting() != nil {
		r := ref(h.GetExecuting())
		open.Executing = &r
	}
	for _, u := range h.GetUnfinished() {
		open.Unfinished = append(open.Unfinished, ref(u))
	}
	for _, rep := range h.GetResults() {
		res, err := result(rep)
		if err != nil {
			return dispatch.Open{}, err
		}
		open.Results = append(open.Results, res)
	}
	return open, nil
}

// usable says whether a desktop takes input. An agent that says nothing of it
// has one that does.
func usable(d *reprisev1.DesktopState) bool {
	switch d.GetKind() {
	case reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_UNSPECIFIED, reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE:
		return true
	}
	return false
}

func info(h *reprisev1.Hello) registry.Info {
	i := registry.Info{
		AgentVersion: h.GetVersion(), ProtocolVersion: int(h.GetProtocolVersion()), Capabilities: h.GetCapabilities(), LastExit: h.GetLastExit(),
		DesktopKind: int(h.GetDesktopState().GetKind()), DesktopWhy: h.GetDesktopState().GetDetail(),
	}
	for _, m := range h.GetMonitors() {
		i.Monitors = append(i.Monitors, registry.Monitor{
			Index: int(m.GetIndex()), X: int(m.GetOffsetX()), Y: int(m.GetOffsetY()), Width: int(m.GetWidth()), Height: int(m.GetHeight()),
			Scale: m.GetScale(), Primary: m.GetPrimary(),
		})
	}
	return i
}
