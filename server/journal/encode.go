package journal

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	journalv1 "github.com/reprise-rpa/reprise/gen/reprise/journal/v1"
	"github.com/reprise-rpa/reprise/server/replay"
)

// encode gives the bytes of rec that lie on disk.
func encode(rec replay.Record) ([]byte, error) {
	out := &journalv1.Record{ReplayId: rec.ReplayID, Seq: rec.Seq, At: timestamppb.New(rec.At)}
	for _, ev := range rec.Events {
		e, err := encodeEvent(ev)
		if err != nil {
			return nil, fmt.Errorf("encode record %d of replay %s: %w", rec.Seq, rec.ReplayID, err)
		}
		out.Events = append(out.Events, e)
	}
	// Marshal refuses text that is not UTF-8, which no reader could take back.
	data, err := proto.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode record %d of replay %s: %w", rec.Seq, rec.ReplayID, err)
	}
	return data, nil
}

func encodeEvent(ev replay.Event) (*journalv1.Event, error) {
	switch ev := ev.(type) {
	case replay.Created:
		return &journalv1.Event{Event: &journalv1.Event_Created{Created: encodeCreated(ev)}}, nil
	case replay.Appended:
		return &journalv1.Event{Event: &journalv1.Event_Appended{Appended: &journalv1.Appended{
			RequestId: ev.RequestID, RequestHash: ev.RequestHash, By: ev.By, Steps: encodeSteps(ev.Steps),
		}}}, nil
	case replay.Closed:
		return &journalv1.Event{Event: &journalv1.Event_Closed{Closed: &journalv1.Closed{By: ev.By}}}, nil
	case replay.Started:
		return &journalv1.Event{Event: &journalv1.Event_Started{Started: &journalv1.Started{}}}, nil
	case replay.Dispatched:
		return &journalv1.Event{Event: &journalv1.Event_Dispatched{Dispatched: &journalv1.Dispatched{
			ActionId: ev.ActionID, AttemptId: ev.AttemptID, SessionId: ev.SessionID,
			SpoolId: ev.SpoolID, BootId: ev.BootID, Reason: int32(ev.Reason),
		}}}, nil
	case replay.Adopted:
		return &journalv1.Event{Event: &journalv1.Event_Adopted{Adopted: &journalv1.Adopted{ActionId: ev.ActionID, AttemptId: ev.AttemptID}}}, nil
	case replay.Requeued:
		return &journalv1.Event{Event: &journalv1.Event_Requeued{Requeued: &journalv1.Requeued{
			ActionId: ev.ActionID, Reason: int32(ev.Reason), Spent: ev.Spent, Refund: ev.Refund, Tail: ev.Tail,
		}}}, nil
	case replay.Reported:
		return &journalv1.Event{Event: &journalv1.Event_Reported{Reported: encodeReported(ev)}}, nil
	case replay.LostMemory:
		return &journalv1.Event{Event: &journalv1.Event_LostMemory{LostMemory: &journalv1.LostMemory{ActionId: ev.ActionID}}}, nil
	case replay.GaveUp:
		return &journalv1.Event{Event: &journalv1.Event_GaveUp{GaveUp: &journalv1.GaveUp{ActionId: ev.ActionID, AllDeliveries: ev.AllDeliveries}}}, nil
	case replay.PausedBy:
		return &journalv1.Event{Event: &journalv1.Event_PausedBy{PausedBy: &journalv1.PausedBy{
			Reason: ev.Reason, Message: ev.Message, Checks: encodeChecks(ev.Checks), Decide: ev.Decide, Again: ev.Again, GatePlusOne: int32(ev.Gate + 1), By: ev.By,
		}}}, nil
	case replay.GatePassed:
		return &journalv1.Event{Event: &journalv1.Event_GatePassed{GatePassed: &journalv1.GatePassed{Step: int32(ev.Step)}}}, nil
	case replay.Resumed:
		return &journalv1.Event{Event: &journalv1.Event_Resumed{Resumed: encodeResumed(ev)}}, nil
	case replay.Ended:
		return &journalv1.Event{Event: &journalv1.Event_Ended{Ended: &journalv1.Ended{State: int32(ev.State), Reason: ev.Reason, By: ev.By}}}, nil
	}
	return nil, fmt.Errorf("the journal has no place for the event %T", ev)
}

func encodeCreated(ev replay.Created) *journalv1.Created {
	out := &journalv1.Created{
		MachineId: ev.MachineID, Workflow: ev.Workflow, RequestId: ev.RequestID, RequestHash: ev.RequestHash,
		Labels: ev.Labels, Unattended: ev.Unattended, By: ev.By, Steps: encodeSteps(ev.Steps), Open: ev.Open, Popups: ev.Popups,
	}
	for _, m := range ev.Masks {
		out.Masks = append(out.Masks, &journalv1.Mask{Monitor: int32(m.Monitor), Left: m.Left, Top: m.Top, Width: m.Width, Height: m.Height})
	}
	return out
}

func encodeSteps(steps []replay.Step) []*journalv1.Step {
	out := make([]*journalv1.Step, len(steps))
	for i, s := range steps {
		out[i] = &journalv1.Step{
			Name: s.Name, Kind: s.Kind, Payload: s.Payload, ServerSide: s.ServerSide, Safe: s.Safe, Critical: s.Critical,
			ChangesScreen: s.ChangesScreen, Visual: s.Visual, Monitor: int32(s.Monitor), MonitorSource: s.MonitorSource,
			MaxRetries: int32(s.MaxRetries), RetryExecuted: s.RetryExecuted, FailExhausted: s.FailExhausted,
			OnGiveUp: int32(s.OnGiveUp), Message: s.Message, Checks: encodeChecks(s.Checks),
		}
	}
	return out
}

func encodeChecks(checks []replay.Check) []*journalv1.Check {
	var out []*journalv1.Check
	for _, c := range checks {
		out = append(out, &journalv1.Check{Id: c.ID, Label: c.Label, Required: c.Required, Server: c.Server})
	}
	return out
}

func encodeReported(ev replay.Reported) *journalv1.Reported {
	r := ev.Report
	return &journalv1.Reported{
		ActionId: ev.ActionID, AttemptId: ev.AttemptID, Outcome: int32(ev.Outcome), Payload: r.Payload,
		Summary: &journalv1.ReportSummary{
			Success: r.Success, Code: r.Code, Message: r.Message, Completion: int32(r.Completion),
			NoChange: r.NoChange, NeedsHuman: r.NeedsHuman, SpoolId: r.SpoolID,
		},
	}
}

func encodeResumed(ev replay.Resumed) *journalv1.Resumed {
	out := &journalv1.Resumed{By: ev.By, Acked: ev.Acked, Skip: ev.Skip, FromPlusOne: int32(ev.From + 1)}
	if ev.Position != nil {
		out.Position = &journalv1.Position{X: ev.Position.X, Y: ev.Position.Y}
	}
	return out
}
