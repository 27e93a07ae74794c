package sim

import (
	"reflect"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// sameAsJournal holds what the machine believes against the fold of what is durable.
func (v *witness) sameAsJournal(o *owner, live []*replay.Replay) {
	n := 0
	for _, r := range live {
		durable := v.w.server.disk.folded[r.ID]
		if durable == nil || !reflect.DeepEqual(durable, r) {
			v.w.fail("I10", "%s is not the fold of its journal: %s", r.ID, describe(r))
			return
		}
		n++
	}
	if _, ids := v.w.server.disk.of(machineName(o.machine), false); len(ids) != n {
		v.w.fail("I10", "%s has %d live replays, and %d in the journal", machineName(o.machine), n, len(ids))
	}
}

// durable looks at a record that has become durable. before is the replay's shallow
// state before it.
func (v *witness) durable(r *replay.Replay, before replay.Replay, rec replay.Record) {
	v.seq++
	machine := v.machineOf(r)
	if before.State.Ended() {
		v.w.fail("I4", "%s has ended, and %T follows", r.ID, rec.Events[0])
	}
	paused := v.paused[r.ID]
	for i, ev := range rec.Events {
		switch ev := ev.(type) {
		case replay.Created:
			v.w.tell("%s is durable", r.ID)
		case replay.PausedBy:
			paused = true
			v.paused[r.ID] = true
			v.w.tell("%s pauses: %s %s", r.ID, ev.Reason, ev.Decide)
			v.pausedBy(r, machine, rec, ev)
		case replay.Resumed:
			paused = false
			v.paused[r.ID] = false
			v.away[machine] = v.w.now // the grace counts from the person's word
		case replay.Started:
			v.started(r)
		case replay.Dispatched:
			if paused {
				v.w.fail("I6", "%s is dispatched while %s is paused", ev.ActionID, r.ID)
			}
			v.boots[ev.ActionID] = ev.BootID
			v.attempt[ev.ActionID] = ev.AttemptID
			v.moved[machine] = v.w.now
			if v.sent[ev.ActionID] == 0 {
				v.sent[ev.ActionID] = v.seq
			}
		case replay.Adopted:
			v.attempt[ev.ActionID] = ev.AttemptID
		case replay.Reported:
			v.reported(r, ev)
		case replay.Requeued:
			v.requeued(machine, rec.At, ev)
			v.redelivered(r, machine, rec, i)
		case replay.GaveUp:
			v.gaveUp(r, machine, rec, i)
			v.inTheContractsOrder(rec, i, ev.ActionID)
		case replay.Ended:
			v.ended(r, &before, machine, ev)
		}
	}
	for i := range r.Actions {
		if id := r.Actions[i].ID; v.born[id] == 0 {
			v.born[id] = v.seq
		}
	}
}

func (v *witness) machineOf(r *replay.Replay) int {
	for i := range v.w.machines {
		if machineName(i) == r.MachineID {
			return i
		}
	}
	return -1
}

// started: replays of one machine run one after the other.
func (v *witness) started(r *replay.Replay) {
	for _, id := range v.w.server.disk.order {
		if id == r.ID {
			return
		}
		if o := v.w.server.disk.folded[id]; o.MachineID == r.MachineID && !o.State.Ended() {
			v.w.fail("3.1", "%s starts while %s holds the machine", r.ID, id)
		}
	}
}

func (v *witness) reported(r *replay.Replay, ev replay.Reported) {
	v.w.tell("the report of %s is taken: %v", ev.ActionID, ev.Outcome)
	v.takenOf[ev.ActionID]++
	if v.takenOf[ev.ActionID] > 1 {
		v.w.fail("I3", "a second report of %s is taken", ev.ActionID)
	}
	a := r.Find(ev.ActionID)
	if ev.Outcome != replay.OutcomeRecorded && ev.Report.SpoolID != a.SpoolID {
		v.w.fail("5.1", "a report from %s settles %s, which was delivered to %s", ev.Report.SpoolID, ev.ActionID, a.SpoolID)
	}
	if ev.Report.Code == replay.CodeDesktopUnavailable {
		v.w.fail("4", "%s is settled by an unusable desktop", ev.ActionID)
	}
	step := r.Steps[a.Step]
	v.settles(a, ev)
	v.retriesLeft(r, a, ev)
	if ev.Outcome != replay.OutcomeRetried {
		return
	}
	if ev.Report.Success || ev.Report.Completion != replay.CompletionNotStarted && !step.Safe && !step.RetryExecuted {
		v.w.fail("5.7", "%s is tried again by itself after %q, %v", ev.ActionID, ev.Report.Code, ev.Report.Completion)
	}
	if limit := v.w.plan.Policy.MaxRetries; a.Retries >= limit {
		v.w.fail("3", "%s has had its %d retries, and is tried again", ev.ActionID, limit)
	}
}

// requeued: what a redelivery may cost, and that a deadline runs on a live stream
// alone.
func (v *witness) requeued(machine int, at time.Time, ev replay.Requeued) {
	v.w.tell("%s goes back to the queue: %v, spent %v", ev.ActionID, ev.Reason, ev.Spent)
	h := v.present(machine)
	spends := false
	switch ev.Reason {
	case replay.OrphanTimeout:
		spends = true
		if h == nil || at.Sub(h.since) < orphanTimeout-time.Millisecond {
			v.w.fail("3.1", "%s counts as an orphan, and its stream is not %v old", ev.ActionID, orphanTimeout)
		}
		if at.Sub(v.heardOf[ev.ActionID]) < orphanTimeout-time.Millisecond {
			v.w.fail("5.3", "%s counts as an orphan, and was heard of %v ago", ev.ActionID, at.Sub(v.heardOf[ev.ActionID]))
		}
	case replay.NotReceived:
		if h == nil || at.Sub(h.since) < receiptTimeout-time.Millisecond {
			v.w.fail("3.1", "%s counts as not received, and its stream is not %v old", ev.ActionID, receiptTimeout)
		}
	case replay.Reconnect, replay.ServerRestart:
		if h == nil {
			h = v.opens[machine]
		}
		spends = h != nil && v.boots[ev.ActionID] != h.boot && !h.clean
	}
	if ev.Spent != spends {
		v.w.fail("3.1", "%s goes back for %v; spent a resend: %v, want %v", ev.ActionID, ev.Reason, ev.Spent, spends)
	}
}

// present is the session that holds a machine and is open.
func (v *witness) present(machine int) *holder { return v.holders[machine] }

// pausedBy: a machine whose agent is there is not called away.
func (v *witness) pausedBy(r *replay.Replay, machine int, rec replay.Record, ev replay.PausedBy) {
	if ev.Reason != "dead_client" {
		return
	}
	for _, other := range rec.Events {
		if _, gave := other.(replay.GaveUp); gave {
			return
		}
	}
	if v.present(machine) != nil {
		v.w.fail("3.1", "%s pauses since its agent is away, and it is there", r.ID)
	}
}

// gaveUp: a give-up that is critical pauses, and the one too many says that the
// agent is dead.
func (v *witness) gaveUp(r *replay.Replay, machine int, rec replay.Record, i int) {
	ev := rec.Events[i].(replay.GaveUp)
	v.w.tell("%s is given up", ev.ActionID)
	step := r.Steps[r.Find(ev.ActionID).Step]
	reason := ""
	for _, after := range rec.Events[i+1:] {
		if p, ok := after.(replay.PausedBy); ok && reason == "" {
			reason = p.Reason
		}
	}
	var recent []time.Time
	for _, at := range v.giveUps[machine] {
		if rec.At.Sub(at) <= deadWindow {
			recent = append(recent, at)
		}
	}
	recent = append(recent, rec.At)
	v.giveUps[machine] = recent
	switch {
	case len(recent) >= deadGiveUps:
		v.giveUps[machine] = nil
		if reason != "dead_client" {
			v.w.fail("8.1", "%s is the %d. give-up in a row, and pauses with %q", ev.ActionID, len(recent), reason)
		}
	case (step.Critical && step.OnGiveUp == replay.GiveUpByKind || ev.AllDeliveries && step.OnGiveUp == replay.GiveUpByKind) && reason == "":
		v.w.fail("8.1", "%s is given up, and its replay goes on", ev.ActionID)
	}
}

func (v *witness) ended(r, before *replay.Replay, machine int, ev replay.Ended) {
	v.w.tell("%s is %v", r.ID, ev.State)
	if before.InFlight >= 0 && before.ID != "" && ev.State == replay.Cancelled {
		v.cancels[machine] = before.Actions[before.InFlight].ID
	}
	if r.InFlight >= 0 {
		v.w.fail("I4", "%s has ended with an action in flight", r.ID)
	}
	if ev.State != replay.Completed {
		return
	}
	for i := range r.Steps {
		a := r.Current(i)
		switch a.State {
		case replay.ActionAcked:
			if !r.Steps[i].Safe && a.Report != nil && !v.had(machine, r.ID, i) {
				v.w.fail("lost", "%s is done, and never had its effect", a.ID)
			}
		case replay.ActionSkipped, replay.ActionAbandoned:
		default:
			v.w.fail("lost", "%s is completed, and %s is %v", r.ID, a.ID, a.State)
		}
	}
}

// had says whether a step had its whole effect.
func (v *witness) had(machine int, replayID string, step int) bool {
	for _, e := range v.w.machines[machine].desktop.ledger {
		if e.replayID == replayID && e.step == step && e.whole {
			return true
		}
	}
	return false
}

// replayOf is the replay that made an action's id.
func replayOf(actionID string) string {
	for i := len(actionID) - 1; i >= 0; i-- {
		if actionID[i] == '-' {
			return actionID[:i]
		}
	}
	return ""
}
