package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// settles: a report of what is not settled, however late, is not only recorded.
func (v *witness) settles(a *replay.Action, ev replay.Reported) {
	if ev.Outcome != replay.OutcomeRecorded {
		return
	}
	switch a.State {
	case replay.ActionQueued, replay.ActionDispatched, replay.ActionNeedsHelp:
		v.w.fail("3", "a report of %s, which is %v, is only recorded", a.ID, a.State)
	}
}

// unsettled are the actions that a record is under way of, to the agent's disk.
func (a *agent) unsettled() map[string]bool {
	ids := map[string]bool{}
	for _, r := range a.disk.writing {
		ids[r.ActionID] = true
	}
	for _, r := range a.disk.unsynced {
		ids[r.ActionID] = true
	}
	for _, effect := range a.backlog {
		if w, ok := effect.(runner.Write); ok {
			ids[w.Record.ActionID] = true
		}
	}
	return ids
}

// unfinishedIsTold: what has started and has no result is known to the agent, until
// it has one or the server closes it.
func (v *witness) unfinishedIsTold(a *agent, o work.Opening) {
	if a.core.Impaired() != nil {
		return
	}
	told := a.unsettled()
	for _, r := range o.Unfinished {
		told[r.ActionID] = true
	}
	if o.Executing != nil {
		told[o.Executing.ActionID] = true
	}
	for _, e := range a.disk.memory.In(spool.Started) {
		if !told[e.ActionID] {
			v.w.fail("4", "the %s has started %s, and no longer tells it", a.name, e.ActionID)
		}
	}
}

// outdated says whether an input is progress from a session that does not hold the
// machine.
func (v *witness) outdated(o *owner, in dispatch.Input) bool {
	p, ok := in.(dispatch.Progress)
	if !ok {
		return false
	}
	h := v.present(o.machine)
	return h == nil || h.id != p.SessionID
}

// changed: progress from a session that does not hold the machine is dropped.
func (v *witness) changed(o *owner, e dispatch.Changed) {
	if v.stale[o.machine] && len(e.View.Events) == 0 {
		v.w.fail("j", "progress from a session that does not hold %s counts", machineName(o.machine))
	}
}

// touch notes what moves the deadline of what is in flight.
func (v *witness) touch(machine int, in dispatch.Input) {
	switch in.(type) {
	case dispatch.Open, dispatch.Progress, dispatch.Report, dispatch.Closed:
		v.moved[machine] = v.w.now
	}
}

// overdue: what is in flight on a live stream and silent is acted on.
func (v *witness) overdue(machine int) {
	s := v.w.server
	excused := !s.alive || s.stopping || v.w.now < s.disk.fullUntil+5*time.Second || v.w.now < s.disk.slowUntil+10*time.Second
	r := v.w.person.current(v.w.machines[machine])
	if excused || r == nil || r.InFlight < 0 || v.holders[machine] == nil {
		v.moved[machine] = v.w.now
		return
	}
	if silent := v.w.now - v.moved[machine]; silent > orphanTimeout+5*time.Second {
		v.w.fail("3", "%s has been silent for %v, and nothing is done", r.Actions[r.InFlight].ID, silent)
	}
}

// aloneOn: a session that holds a machine has ended the one that held it before.
func (v *witness) aloneOn(s *session) {
	for _, id := range slices.Sorted(maps.Keys(s.o.sessions)) {
		other := s.o.sessions[id]
		if other != s && other.claimed && !other.ended {
			v.w.fail("j", "session %s holds %s, and %s goes on", s.id, machineName(s.o.machine), other.id)
		}
	}
}

// evicts: another agent takes the machine only from one that was asked and said nothing.
func (v *witness) evicts(old, s *session) {
	if !old.ended && old.spool != s.spool && (old.probed == 0 || v.w.now-old.asked < registry.ProbeTimeout) {
		v.w.fail("j", "session %s takes %s from %s, which was not given the time to answer", s.id, machineName(s.o.machine), old.id)
	}
}

// silence is how long one end of an open stream may hear nothing of the other.
const silence = pingInterval + pingTimeout + time.Second

// hearsSilence: whoever hears nothing for so long has closed the stream.
func (v *witness) hearsSilence(machine int) {
	s, m := v.w.server, v.w.machines[machine]
	if s.alive {
		sessions := s.owners[machine].sessions
		for _, id := range slices.Sorted(maps.Keys(sessions)) {
			ses := sessions[id]
			if ses.welcomed && !ses.ended && v.w.now-ses.heard > silence {
				v.w.fail("h", "session %s of %s is open, and its agent has been silent for %v", ses.id, m.name(), v.w.now-ses.heard)
			}
		}
	}
	switch a := m.agent; {
	case !a.alive || !a.open:
	case a.frozen:
		a.heard = v.w.now
	case v.w.now-a.heard > silence:
		v.w.fail("h", "the %s has an open stream, and heard nothing for %v", a.name, v.w.now-a.heard)
	}
}
