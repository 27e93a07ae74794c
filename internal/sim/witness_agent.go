package sim

import (
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// What an agent promises about time, with room for its disk.
const (
	reportAckLimit = 10*time.Second + 2*time.Second
	progressLimit  = 5*time.Second + 2*time.Second
)

// agentWitness is what was seen of one agent's process.
type agentWitness struct {
	shown    map[string]bool          // pause ids
	received work.Ref                 // the newest dispatch that its core has heard
	dropped  string                   // the attempt that was cancelled before it began
	told     map[string]bool          // actions that it has reported
	forgot   map[string]bool          // actions whose report it knows to be answered
	waiting  map[string]time.Duration // reports of this stream without an answer, since when
	progress time.Duration            // when it last said how far it is
}

func (v *witness) agentStarted(a *agent) {
	if a.disk.fresh || a.disk.memory.Held() != nil {
		v.stopped[a] = !a.disk.fresh
	}
	v.agents[a] = &agentWitness{shown: map[string]bool{}, told: map[string]bool{}, forgot: map[string]bool{}, waiting: map[string]time.Duration{}}
	if v.owed[a.disk.id] == nil {
		v.owed[a.disk.id] = map[string]bool{}
	}
}

// agentDies notes that an agent's process ends. A stop outlives it, unless its record may
// not be on the disk yet.
func (v *witness) agentDies(a *agent) {
	delete(v.agents, a)
	if a.writing || len(a.backlog) > 0 || a.disk.broken {
		delete(v.stopped, a)
	}
}

func (v *witness) streamOpened(a *agent) { v.agents[a].progress = v.w.now }

func (v *witness) streamLost(a *agent) {
	if aw := v.agents[a]; aw != nil {
		clear(aw.waiting)
	}
}

// agentStepped: a result stays told until it is acknowledged, and what need not be
// told is forgotten in the end.
func (v *witness) agentStepped(a *agent) {
	o := a.core.Opening()
	if n, most := a.core.Remembered(), v.w.plan.Policy.Remember+len(o.Results)+len(o.Unfinished)+1; n > most {
		v.w.fail("I11", "the %s remembers %d actions, more than %d", a.name, n, most)
	}
	v.unfinishedIsTold(a, o)
	owed := v.owed[a.disk.id]
	if len(owed) == 0 {
		return
	}
	told := map[string]bool{}
	for _, r := range o.Results {
		told[r.ActionID] = true
	}
	for id := range owed {
		if !told[id] {
			v.w.fail("C7", "the %s owes the result of %s and no longer tells it", a.name, id)
		}
	}
}

// hails: what a hello tells is told.
func (v *witness) hails(a *agent, results []work.Report) {
	for _, r := range results {
		v.agents[a].told[r.ActionID] = true
	}
}

// reports: the result is on the disk before it is told, but for what is no result
// and for a disk that takes nothing.
func (v *witness) reports(a *agent, r work.Report) {
	if !a.open {
		return
	}
	aw := v.agents[a]
	aw.told[r.ActionID] = true
	e, known := a.disk.memory.Get(r.ActionID)
	switch {
	case r.Outcome.Code == work.DesktopUnavailable,
		r.Outcome.Code == work.Internal && r.Outcome.Completion == work.NotStarted:
		return
	case a.core.Impaired() != nil:
	case !a.reported(r.ActionID):
		v.w.fail("C6", "the %s reports %s, and its result is not on the disk", a.name, r.ActionID)
	case aw.forgot[r.ActionID]:
		return // it is said once more, and nothing waits for the answer
	case e.State == spool.Finished:
		v.owed[a.disk.id][r.ActionID] = true
	}
	if _, waits := aw.waiting[r.ActionID]; !waits && known && e.State == spool.Finished {
		aw.waiting[r.ActionID] = v.w.now
	}
}

// forgets: only what the server has answered is forgotten.
func (v *witness) forgets(a *agent, r spool.Record) {
	if !v.answers[r.ActionID] {
		v.w.fail("C7", "the %s forgets the result of %s, which the server has not answered", a.name, r.ActionID)
	}
	v.agents[a].forgot[r.ActionID] = true
	delete(v.owed[a.disk.id], r.ActionID)
	delete(v.agents[a].waiting, r.ActionID)
}

func (v *witness) progresses(a *agent) { v.agents[a].progress = v.w.now }

// shows: a pause is shown once by a process.
func (v *witness) shows(a *agent, pauseID string) {
	aw := v.agents[a]
	if aw.shown[pauseID] {
		v.w.fail("C5", "the %s shows %s twice", a.name, pauseID)
	}
	aw.shown[pauseID] = true
}

// executes: one action at a time, and the execution is told of.
func (v *witness) executes(a *agent, d work.Dispatch) {
	if a.job != nil {
		v.w.fail("C2", "the %s executes %s beside %s", a.name, d.ActionID, a.job.ActionID)
	}
	v.agents[a].progress = v.w.now
	v.begins(a, d)
	switch {
	case a.clearing: // it was taken up before, and waited for the keys
	case !a.open:
		v.w.fail("4", "the %s executes %s, which the end of its stream should have dropped", a.name, d.AttemptID)
	case d.SessionID != a.session:
		v.w.fail("4", "the %s executes %s, which came on an earlier stream", a.name, d.AttemptID)
	}
	if newest := v.agents[a].received.AttemptID; newest != "" && newest != d.AttemptID && !a.clearing {
		v.w.fail("4", "the %s executes %s, and has received %s since", a.name, d.AttemptID, newest)
	}
}

// begins: what was cancelled while it waited does not.
func (v *witness) begins(a *agent, d work.Dispatch) {
	if d.AttemptID == v.agents[a].dropped && !a.clearing {
		v.w.fail("I4", "the %s executes %s, which was cancelled while it waited", a.name, d.AttemptID)
	}
}

// receives notes the newest dispatch that the core of an agent has heard.
func (v *witness) receives(a *agent, d work.Dispatch) { v.agents[a].received = d.Ref }

// cancelled: what is cancelled is stopped, and not begun.
func (v *witness) cancelled(a *agent, m dispatch.CancelAction) {
	j := a.job
	meant := func(r work.Ref) bool {
		return r.ReplayID == m.ReplayID && (m.ActionID == "" || m.ActionID == r.ActionID)
	}
	if aw := v.agents[a]; meant(aw.received) && (j == nil || j.AttemptID != aw.received.AttemptID) {
		aw.dropped = aw.received.AttemptID
	}
	if j == nil || j.ReplayID != m.ReplayID || m.ActionID != "" && m.ActionID != j.ActionID {
		return
	}
	if j.cause == nil && !a.reported(j.ActionID) && !v.agents[a].told[j.ActionID] {
		v.w.fail("5.5", "the %s goes on with %s, which is cancelled", a.name, j.ActionID)
	}
}

// lively: an agent that runs, and has a stream, says how far it is, and does not wait
// for an answer for ever.
func (v *witness) lively(a *agent) {
	aw := v.agents[a]
	if a.frozen || !a.open {
		aw.progress = v.w.now
		if a.frozen {
			for id := range aw.waiting {
				aw.waiting[id] = v.w.now
			}
		}
		return
	}
	if a.job != nil && !a.reported(a.job.ActionID) && !aw.told[a.job.ActionID] && v.w.now-aw.progress > progressLimit {
		v.w.fail("C3", "the %s has said nothing of %s for %v", a.name, a.job.ActionID, v.w.now-aw.progress)
	}
	for id, since := range aw.waiting {
		if v.w.now-since > reportAckLimit {
			v.w.fail("C10", "the %s has waited %v for an answer to its report of %s", a.name, v.w.now-since, id)
		}
	}
}

// reported says whether the result of an action is on the agent's disk: all that can
// be said of it has been said, even if its executor hangs.
func (a *agent) reported(actionID string) bool {
	e, known := a.disk.memory.Get(actionID)
	return known && (e.State == spool.Finished || e.State == spool.Acknowledged)
}

// input is one input event of an execution.
func (v *witness) input(a *agent, j *job) {
	if v.stopped[a] {
		v.w.fail("5.5", "the %s sends input of %s after the person's stop", a.name, j.ActionID)
	}
	d := a.m.desktop
	r, act, err := v.w.server.disk.action(j.ReplayID, j.ActionID)
	if err != nil {
		v.w.fail("I9", "input of %s, which is in no journal", j.ActionID)
		return
	}
	if j.sent > 0 {
		if e := &d.ledger[len(d.ledger)-1]; e.actionID == j.ActionID {
			e.whole = j.sent == inputs-1
			e.seen = e.whole && j.fate != Swallows && j.fate != VerifyFails
		}
		return
	}
	v.executed++
	v.vouchedFor(a, j)
	v.w.tell("input of %s leaves on %s", j.ActionID, a.m.name())
	v.inputs[j.ActionID]++
	step := r.Steps[act.Step]
	e, known := a.disk.memory.Get(j.ActionID)
	switch {
	case a.down:
		v.w.fail("C9", "input of %s leaves while a key is still down", j.ActionID)
	case !known || e.State != spool.Started:
		v.w.fail("C6", "input of %s leaves and \"started\" is not on the disk", j.ActionID)
	case v.inputs[j.ActionID] > 1 && !step.Safe:
		v.w.fail("I8", "%s touches the desktop a second time", j.ActionID)
	}
	// An agent that the cancel does not reach, while its server answers every ping, cannot
	// know.
	if !v.unheard[r.ID+" "] && !v.unheard[r.ID+" "+act.ID] {
		v.inOrder(d, r, act)
	}
	d.ledger = append(d.ledger, effect{replayID: j.ReplayID, actionID: j.ActionID, step: act.Step, at: v.w.now, seq: v.executed})
}

// vouchedFor: input begins on a stream on which the server was there a moment ago. Where
// answers are slow to arrive, the moment is as long as a ping may take, twice.
func (v *witness) vouchedFor(a *agent, j *job) {
	const moment, drift = time.Second, 50 * time.Millisecond
	limit, slow := moment+drift, 2*pingTimeout
	if wire := a.m.wire; v.w.now < max(wire.downUntil, wire.upUntil, wire.slowUntil)+slow {
		limit += slow
	}
	if ended, known := v.hungUp[a.session]; known && v.w.now-ended > limit {
		v.w.fail("I4", "input of %s begins %v after the server ended session %s", j.ActionID, v.w.now-ended, a.session)
	}
}

// inOrder: input comes in the workflow's order, and a second decision to run a step
// touches the desktop only when the server knew what became of the first.
func (v *witness) inOrder(d *desktop, r *replay.Replay, act *replay.Action) {
	for _, e := range d.ledger {
		if e.replayID != r.ID || e.actionID == act.ID {
			continue
		}
		if e.step > act.Step && v.born[act.ID] < v.sent[e.actionID] {
			v.w.fail("I7", "input of %s leaves after that of %s", act.ID, e.actionID)
		}
		other := r.Find(e.actionID)
		if e.step == act.Step && !r.Steps[act.Step].Safe && other != nil && !other.Reported && !other.Lost {
			v.w.fail("I8", "%s touches the desktop, and nobody knows what became of %s", act.ID, e.actionID)
		}
	}
	// A replay that has ended may still be at its last input; nothing begins anew.
	if r.State.Ended() && slices.Contains([]replay.State{replay.Completed, replay.Failed}, r.State) {
		v.w.fail("I4", "input of %s begins after %s is %v", act.ID, r.ID, r.State)
	}
}

// stops: no input leaves after the stop key, until the server holds the replay.
func (v *witness) stops(a *agent) { v.stopped[a] = true }

func (v *witness) goesOn(a *agent) { v.stopped[a] = false }
