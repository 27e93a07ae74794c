package control

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/session"
)

func fromHead(h replay.Head) *reprisev1.Replay {
	r := &reprisev1.Replay{
		ReplayId: h.ReplayID, MachineId: h.MachineID, WorkflowName: h.Workflow, Labels: h.Labels,
		Supervision: reprisev1.Supervision_SUPERVISION_SUPERVISED, State: reprisev1.ReplayState(h.State), Pausing: h.Pausing,
		ActionCount: int32(h.Actions), SettledCount: int32(h.Settled), CreatedAt: timestamp(h.CreatedAt),
		UpdatedAt: timestamp(h.UpdatedAt), EndedAt: timestamp(h.EndedAt), EndReason: h.EndReason, Revision: h.Revision,
		Open: h.Open,
	}
	if h.Unattended {
		r.Supervision = reprisev1.Supervision_SUPERVISION_UNATTENDED
	}
	if h.PauseReason != "" {
		r.Pause = &reprisev1.PauseInfo{Reason: session.PauseReason(h.PauseReason)}
	}
	return r
}

func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func fromView(v dispatch.View) *reprisev1.Replay {
	r := fromHead(v.Head)
	r.AgentAway = v.AgentAway
	if v.Pause != nil {
		r.Pause = pauseInfo(v.Pause)
	}
	for _, a := range v.Actions { // shared with other watchers: it stays as it is
		r.Actions = append(r.Actions, fromAction(a))
	}
	// The core has them in the order of the decisions alone.
	slices.SortStableFunc(r.Actions, func(a, b *reprisev1.ActionStatus) int { return cmp.Compare(a.GetStep(), b.GetStep()) })
	return r
}

func fromAction(a dispatch.ActionView) *reprisev1.ActionStatus {
	out := &reprisev1.ActionStatus{
		ActionId: a.ID, Step: int32(a.Step), Name: a.Name, Kind: a.Kind, State: reprisev1.ActionState(a.State),
		Deliveries: int32(a.Dispatches), ResentCount: int32(a.Resent), RetryCount: int32(a.Retries),
		Phase: reprisev1.ActionPhase(a.Phase), Doing: a.Doing, Intention: intention(a.Payload),
	}
	if a.Report != nil {
		rep := &reprisev1.Report{}
		// What the journal holds was encoded here; a report that cannot be read is shown as none.
		if proto.Unmarshal(a.Report.Payload, rep) == nil {
			out.Report = rep
		}
	}
	return out
}

func intention(payload []byte) string {
	a := &reprisev1.Action{}
	if proto.Unmarshal(payload, a) != nil {
		return ""
	}
	return a.GetIntention()
}

// fromRecord names what happened, in order.
func fromRecord(machineID string, rec replay.Record) []*reprisev1.ReplayEvent {
	var out []*reprisev1.ReplayEvent
	for _, ev := range rec.Events {
		kind, action, detail := replay.Describe(ev)
		out = append(out, &reprisev1.ReplayEvent{
			Revision: rec.Seq, At: timestamp(rec.At), Type: kind, ActionId: action, Detail: detail,
			ReplayId: rec.ReplayID, MachineId: machineID, By: replay.By(ev),
		})
	}
	return out
}

// fromEvents names the events that led to a view, in order.
func fromEvents(v dispatch.View) []*reprisev1.ReplayEvent {
	return fromRecord(v.Head.MachineID, replay.Record{
		ReplayID: v.Head.ReplayID, Seq: v.Head.Revision, At: v.Head.UpdatedAt, Events: v.Events,
	})
}
