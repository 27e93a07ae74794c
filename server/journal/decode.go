package journal

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	journalv1 "github.com/reprise-rpa/reprise/gen/reprise/journal/v1"
	"github.com/reprise-rpa/reprise/server/replay"
)

// errUnknown says that a record holds something that this program does not
// know. What follows from it cannot be folded, so reading stops there.
var errUnknown = errors.New("this version does not know")

// decode gives back the record that encode made data of.
func decode(data []byte) (replay.Record, error) {
	var in journalv1.Record
	if err := proto.Unmarshal(data, &in); err != nil {
		return replay.Record{}, fmt.Errorf("decode a record: %w", err)
	}
	rec := replay.Record{ReplayID: in.GetReplayId(), Seq: in.GetSeq(), At: in.GetAt().AsTime()}
	for i, e := range in.GetEvents() {
		ev, err := decodeEvent(e)
		if err != nil {
			return replay.Record{}, fmt.Errorf("decode event %d of record %d of replay %s: %w", i+1, rec.Seq, rec.ReplayID, err)
		}
		rec.Events = append(rec.Events, ev)
	}
	return rec, nil
}

func decodeEvent(e *journalv1.Event) (replay.Event, error) {
	switch e := e.GetEvent().(type) {
	case *journalv1.Event_Created:
		return decodeCreated(e.Created)
	case *journalv1.Event_Appended:
		a := e.Appended
		steps, err := decodeSteps(a.GetSteps())
		return replay.Appended{RequestID: a.GetRequestId(), RequestHash: a.GetRequestHash(), By: a.GetBy(), Steps: steps}, err
	case *journalv1.Event_Closed:
		return replay.Closed{By: e.Closed.GetBy()}, nil
	case *journalv1.Event_Started:
		return replay.Started{}, nil
	case *journalv1.Event_Dispatched:
		d := e.Dispatched
		reason, err := within("reason", d.GetReason(), replay.FirstDelivery, replay.DesktopUnavailable)
		return replay.Dispatched{
			ActionID: d.GetActionId(), AttemptID: d.GetAttemptId(), SessionID: d.GetSessionId(),
			SpoolID: d.GetSpoolId(), BootID: d.GetBootId(), Reason: reason,
		}, err
	case *journalv1.Event_Adopted:
		return replay.Adopted{ActionID: e.Adopted.GetActionId(), AttemptID: e.Adopted.GetAttemptId()}, nil
	case *journalv1.Event_Requeued:
		r := e.Requeued
		reason, err := within("reason", r.GetReason(), replay.FirstDelivery, replay.DesktopUnavailable)
		return replay.Requeued{ActionID: r.GetActionId(), Reason: reason, Spent: r.GetSpent(), Refund: r.GetRefund(), Tail: r.GetTail()}, err
	case *journalv1.Event_Reported:
		return decodeReported(e.Reported)
	case *journalv1.Event_LostMemory:
		return replay.LostMemory{ActionID: e.LostMemory.GetActionId()}, nil
	case *journalv1.Event_GaveUp:
		return replay.GaveUp{ActionID: e.GaveUp.GetActionId(), AllDeliveries: e.GaveUp.GetAllDeliveries()}, nil
	case *journalv1.Event_PausedBy:
		p := e.PausedBy
		return replay.PausedBy{
			Reason: p.GetReason(), Message: p.GetMessage(), Checks: decodeChecks(p.GetChecks()), Decide: p.GetDecide(), Again: p.GetAgain(),
			Gate: int(p.GetGatePlusOne()) - 1, By: p.GetBy(),
		}, nil
	case *journalv1.Event_GatePassed:
		return replay.GatePassed{Step: int(e.GatePassed.GetStep())}, nil
	case *journalv1.Event_Resumed:
		return decodeResumed(e.Resumed), nil
	case *journalv1.Event_Ended:
		state, err := within("end state", e.Ended.GetState(), replay.Completed, replay.Cancelled)
		return replay.Ended{State: state, Reason: e.Ended.GetReason(), By: e.Ended.GetBy()}, err
	}
	return nil, fmt.Errorf("%w the event", errUnknown)
}

func decodeCreated(c *journalv1.Created) (replay.Event, error) {
	steps, err := decodeSteps(c.GetSteps())
	if err != nil {
		return nil, err
	}
	out := replay.Created{
		MachineID: c.GetMachineId(), Workflow: c.GetWorkflow(), RequestID: c.GetRequestId(), RequestHash: c.GetRequestHash(),
		Labels: c.GetLabels(), Unattended: c.GetUnattended(), By: c.GetBy(), Steps: steps, Open: c.GetOpen(),
	}
	for _, m := range c.GetMasks() {
		out.Masks = append(out.Masks, replay.Mask{
			Monitor: int(m.GetMonitor()), Left: m.GetLeft(), Top: m.GetTop(), Width: m.GetWidth(), Height: m.GetHeight(),
		})
	}
	return out, nil
}

func decodeSteps(steps []*journalv1.Step) ([]replay.Step, error) {
	out := make([]replay.Step, len(steps))
	for i, s := range steps {
		giveUp, err := within("give-up rule", s.GetOnGiveUp(), replay.GiveUpByKind, replay.GiveUpFail)
		if err != nil {
			return nil, err
		}
		out[i] = replay.Step{
			Name: s.GetName(), Kind: s.GetKind(), Payload: s.GetPayload(), ServerSide: s.GetServerSide(), Safe: s.GetSafe(),
			Critical: s.GetCritical(), ChangesScreen: s.GetChangesScreen(), Visual: s.GetVisual(), Monitor: int(s.GetMonitor()),
			MonitorSource: s.GetMonitorSource(), MaxRetries: int(s.GetMaxRetries()), RetryExecuted: s.GetRetryExecuted(),
			FailExhausted: s.GetFailExhausted(), OnGiveUp: giveUp, Message: s.GetMessage(), Checks: decodeChecks(s.GetChecks()),
		}
	}
	return out, nil
}

func decodeChecks(checks []*journalv1.Check) []replay.Check {
	var out []replay.Check
	for _, c := range checks {
		out = append(out, replay.Check{ID: c.GetId(), Label: c.GetLabel(), Required: c.GetRequired(), Server: c.GetServer()})
	}
	return out
}

func decodeReported(r *journalv1.Reported) (replay.Event, error) {
	outcome, err := within("outcome", r.GetOutcome(), replay.OutcomeAcked, replay.OutcomeRecorded)
	if err != nil {
		return nil, err
	}
	s := r.GetSummary()
	completion, err := within("completion", s.GetCompletion(), replay.CompletionUnknown, replay.CompletionCompleted)
	return replay.Reported{
		ActionID: r.GetActionId(), AttemptID: r.GetAttemptId(), Outcome: outcome,
		Report: replay.Report{
			Success: s.GetSuccess(), Code: s.GetCode(), Message: s.GetMessage(), Completion: completion,
			NoChange: s.GetNoChange(), NeedsHuman: s.GetNeedsHuman(), SpoolID: s.GetSpoolId(), Payload: r.GetPayload(),
		},
	}, err
}

func decodeResumed(r *journalv1.Resumed) replay.Event {
	out := replay.Resumed{By: r.GetBy(), Acked: r.GetAcked(), Skip: r.GetSkip(), From: int(r.GetFromPlusOne()) - 1}
	if p := r.GetPosition(); p != nil {
		out.Position = &replay.Point{X: p.GetX(), Y: p.GetY()}
	}
	return out
}

// within gives a number on disk its type, and refuses one that has no meaning
// yet.
func within[T ~int](what string, n int32, first, last T) (T, error) {
	if v := T(n); v >= first && v <= last {
		return v, nil
	}
	return 0, fmt.Errorf("%w the %s %d", errUnknown, what, n)
}
