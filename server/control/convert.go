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
	"github.com/reprise-rpa/reprise/server/session/unspoken"
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

// fromGlance shows a replay without its actions.
func fromGlance(v dispatch.View) *reprisev1.Replay {
	r := fromHead(v.Head)
	r.AgentAway = v.AgentAway
	if v.Pause != nil {
		r.Pause = pauseInfo(v.Pause)
	}
	return r
}

// fromView shows a replay with the actions that the view has.
func fromView(v dispatch.View) *reprisev1.Replay {
	r := fromGlance(v)
	for _, a := range inOrder(v.Actions) {
		r.Actions = append(r.Actions, fromAction(r.GetReplayId(), r.GetMachineId(), a))
	}
	return r
}

// inOrder returns actions in the order of the workflow and then of the decisions:
// the core has all of them in that of the decisions alone. A view is shared with
// other watchers, and stays as it is.
func inOrder(actions []dispatch.ActionView) []*dispatch.ActionView {
	out := make([]*dispatch.ActionView, len(actions))
	for i := range actions {
		out[i] = &actions[i]
	}
	slices.SortStableFunc(out, func(a, b *dispatch.ActionView) int { return cmp.Compare(a.Step, b.Step) })
	return out
}

// fromAction shows an action, and its report without what the action typed. What
// cannot be read is not shown: the journal has only what was encoded here.
func fromAction(replayID, machineID string, a *dispatch.ActionView) *reprisev1.ActionStatus {
	out := &reprisev1.ActionStatus{
		ActionId: a.ID, Step: int32(a.Step), Name: a.Name, Kind: a.Kind, State: reprisev1.ActionState(a.State),
		Deliveries: int32(a.Dispatches), ResentCount: int32(a.Resent), RetryCount: int32(a.Retries),
		Phase: reprisev1.ActionPhase(a.Phase), Doing: a.Doing,
	}
	action := &reprisev1.Action{}
	if proto.Unmarshal(a.Payload, action) != nil {
		return out
	}
	out.Intention = action.GetIntention()
	if a.Report != nil {
		if rep, err := unspoken.Of(action).Report(a.Report.Payload, replayID, machineID, a.ID, a.AttemptID, a.SpoolID); err == nil {
			out.Report = rep
		}
	}
	return out
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

// record is what led to a view.
func record(v dispatch.View) replay.Record {
	return replay.Record{ReplayID: v.Head.ReplayID, Seq: v.Head.Revision, At: v.Head.UpdatedAt, Events: v.Events}
}
