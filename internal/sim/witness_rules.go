package sim

import (
	"time"

	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// redelivered: what a redelivery is allowed at all, and what must follow from it.
func (v *witness) redelivered(r *replay.Replay, machine int, rec replay.Record, i int) {
	ev := rec.Events[i].(replay.Requeued)
	v.inTheContractsOrder(rec, i, ev.ActionID)
	if limit := v.w.plan.Policy.MaxResends; ev.Spent && r.Find(ev.ActionID).Resent > limit {
		v.w.fail("3.1", "%s has had its %d resends, and is sent again", ev.ActionID, limit)
	}
	switch ev.Reason {
	case replay.DesktopUnavailable:
		if !v.unusable[ev.ActionID+v.attempt[ev.ActionID]] {
			v.w.fail("4", "%s goes back for a desktop that another attempt found unusable", ev.ActionID)
		}
	case replay.NotReceived:
		if v.got[ev.ActionID] == v.attempt[ev.ActionID] {
			v.w.fail("5.3", "%s was received, and counts as not received", ev.ActionID)
		}
		h := v.present(machine)
		if v.deaf[machine] == ev.ActionID && h != nil {
			v.hangUp[machine] = h.id
			v.deaf[machine] = ""
			return
		}
		v.deaf[machine] = ev.ActionID
	}
}

// inTheContractsOrder: what an opening says of an action's result is taken before
// the action is sent again or given up.
func (v *witness) inTheContractsOrder(rec replay.Record, i int, actionID string) {
	for _, later := range rec.Events[i+1:] {
		if rep, ok := later.(replay.Reported); ok && rep.ActionID == actionID {
			v.w.fail("5.1", "%s is sent again or given up before its stored result is taken", actionID)
		}
	}
}

// retriesLeft: what may be tried again is, as long as its budget lasts.
func (v *witness) retriesLeft(r *replay.Replay, a *replay.Action, ev replay.Reported) {
	step := r.Steps[a.Step]
	if ev.Outcome != replay.OutcomeNeedsHelp || ev.Report.NeedsHuman || a.Retries >= v.w.plan.Policy.MaxRetries {
		return
	}
	again := step.Safe || step.RetryExecuted
	switch ev.Report.Code {
	case replay.CodeTargetNotFound, replay.CodeTargetOffScreen, replay.CodeTimeout, replay.CodeInternal:
		again = again || ev.Report.Completion == replay.CompletionNotStarted
	case replay.CodeVerifyFailed:
	case replay.CodeOutcomeUnknown:
		again = step.Safe
	default:
		return
	}
	if again {
		v.w.fail("5.7", "%s goes to a person after %q, with %d of %d retries", ev.ActionID, ev.Report.Code, a.Retries, v.w.plan.Policy.MaxRetries)
	}
}

// executingLeaves: what the welcome says to the action that the agent is executing.
func (v *witness) executingLeaves(o *owner, e dispatch.Welcome) {
	h := v.present(o.machine)
	if h == nil || h.executing == nil {
		return
	}
	r, a, err := v.w.server.disk.action(replayOf(h.executing.ActionID), h.executing.ActionID)
	switch {
	case e.Executing == replay.GoOn && (err != nil || r.State.Ended()):
		v.w.fail("5.1", "%s may go on, and nobody waits for it", h.executing.ActionID)
	case e.Executing == replay.GoOn && a.State != replay.ActionDispatched && a.State != replay.ActionSuperseded:
		v.w.fail("5.1", "%s may go on, and is %v", h.executing.ActionID, a.State)
	case e.Executing != replay.GoOn && err == nil && a.State == replay.ActionDispatched && !r.Steps[a.Step].Safe:
		// One that is safe to run twice may have been sent to another memory meanwhile.
		v.w.fail("5.1", "%s is in flight, and is not told to go on", h.executing.ActionID)
	}
}

// calledAway: an agent that has been away longer than the grace pauses its replay.
func (v *witness) calledAway(machine int) {
	s := v.w.server
	excused := !s.alive || s.stopping || v.w.now < s.disk.fullUntil+5*time.Second || v.w.now < s.disk.slowUntil+10*time.Second
	r := v.w.person.current(v.w.machines[machine])
	running := r != nil && r.State == replay.Running
	if excused || !running || v.holders[machine] != nil || v.away[machine] == 0 {
		v.away[machine] = v.w.now
		return
	}
	if away := v.w.now - v.away[machine]; away > offlineGrace+5*time.Second {
		v.w.fail("8.1", "the agent of %s has been away for %v, and %s is %v", machineName(machine), away, r.ID, r.State)
	}
}
