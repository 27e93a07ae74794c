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

// decode gives back the record that encode made data of. It keeps nothing of data.
func decode(data []byte) (replay.Record, error) {
	events, rest, err := takeOut(data, recordEvents)
	if err != nil {
		return replay.Record{}, fmt.Errorf("decode a record: %w", err)
	}
	var in journalv1.Record
	if err := proto.Unmarshal(rest, &in); err != nil {
		return replay.Record{}, fmt.Errorf("decode a record: %w", err)
	}
	rec := replay.Record{ReplayID: in.GetReplayId(), Seq: in.GetSeq(), At: in.GetAt().AsTime()}
	for i, e := range events {
		ev, err := decodeEvent(e)
		if err != nil {
			return replay.Record{}, fmt.Errorf("decode event %d of record %d of replay %s: %w", i+1, rec.Seq, rec.ReplayID, err)
		}
		rec.Events = append(rec.Events, ev)
	}
	return rec, nil
}

func decodeEvent(data []byte) (replay.Event, error) {
	switch which, body := lastOf(data); which {
	case eventCreated:
		return decodeCreated(body)
	case eventAppended:
		return decodeAppended(body)
	}
	var in journalv1.Event
	if err := proto.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	return decodeSmall(&in)
}

// decodeSmall decodes the events that bring no steps.
func decodeSmall(e *journalv1.Event) (replay.Event, error) {
	switch e := e.GetEvent().(type) {
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

func decodeCreated(data []byte) (replay.Event, error) {
	steps, rest, err := takeOut(data, createdSteps)
	if err != nil {
		return nil, err
	}
	var c journalv1.Created
	if err := proto.Unmarshal(rest, &c); err != nil {
		return nil, err
	}
	out := replay.Created{
		MachineID: c.GetMachineId(), Workflow: c.GetWorkflow(), RequestID: c.GetRequestId(), RequestHash: c.GetRequestHash(),
		Labels: c.GetLabels(), Unattended: c.GetUnattended(), By: c.GetBy(), Open: c.GetOpen(), Popups: c.GetPopups(),
	}
	for _, m := range c.GetMasks() {
		out.Masks = append(out.Masks, replay.Mask{
			Monitor: int(m.GetMonitor()), Left: m.GetLeft(), Top: m.GetTop(), Width: m.GetWidth(), Height: m.GetHeight(),
		})
	}
	out.Steps, err = decodeSteps(steps)
	return out, err
}

func decodeAppended(data []byte) (replay.Event, error) {
	steps, rest, err := takeOut(data, appendedSteps)
	if err != nil {
		return nil, err
	}
	var a journalv1.Appended
	if err := proto.Unmarshal(rest, &a); err != nil {
		return nil, err
	}
	out := replay.Appended{RequestID: a.GetRequestId(), RequestHash: a.GetRequestHash(), By: a.GetBy()}
	out.Steps, err = decodeSteps(steps)
	return out, err
}

func decodeChecks(checks []*journalv1.Check) []replay.Check {
	var out []replay.Check
	for _, c := range checks {
		out = append(out, decodeCheck(c))
	}
	return out
}

func decodeCheck(c *journalv1.Check) replay.Check {
	return replay.Check{ID: c.GetId(), Label: c.GetLabel(), Required: c.GetRequired(), Server: c.GetServer()}
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
