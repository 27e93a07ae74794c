package dispatch

import (
	"slices"

	"github.com/reprise-rpa/reprise/server/replay"
)

// before is what an event may end.
type before struct {
	inFlight string // the action in flight
	pauseID  string
	decide   string // the action that the pause waits for
}

func stateBefore(r *replay.Replay) before {
	var b before
	if r.ID != "" && r.InFlight >= 0 {
		b.inFlight = r.Actions[r.InFlight].ID
	}
	if r.Pause != nil {
		b.pauseID, b.decide = r.Pause.ID, r.Pause.Decide
	}
	return b
}

// follow keeps the pending map in step with a replay and says what leaves the
// server because of an event.
func (m *Machine) follow(r *replay.Replay, ev replay.Event, b before) {
	now := stateBefore(r)
	if b.inFlight != "" && b.inFlight != now.inFlight {
		m.pending.Remove(b.inFlight)
		delete(m.fromRecovery, b.inFlight)
	}
	switch ev := ev.(type) {
	case replay.Dispatched:
		m.putInFlight(r, false)
		m.deliver(r)
	case replay.Adopted:
		m.putInFlight(r, true)
	case replay.Resumed:
		if m.session == nil { // the grace counts from the person's word
			m.awayFrom, m.graceRan = m.now, false
		}
		if ev.Skip || ev.From >= 0 {
			m.withdraw(r, b.decide)
		}
	case replay.Requeued:
		if ev.Reason == replay.OrphanTimeout {
			m.noteOrphan(NoteOrphanResent, r, ev.ActionID)
		}
	case replay.GaveUp:
		m.noteOrphan(NoteOrphanGiveUp, r, ev.ActionID)
		m.countGiveUp(r)
	case replay.PausedBy:
		m.showPause(r)
		if len(ev.Checks) > 0 {
			m.effect(Note{Kind: NoteSafetyChecks, Replay: r.ID, Count: len(ev.Checks), Source: sources(ev.Checks)})
		}
	case replay.Ended:
		if ev.State == replay.Cancelled || b.inFlight != "" {
			m.stop(r, b.inFlight)
		}
	}
	if b.pauseID != "" && now.pauseID == "" && m.session != nil && m.holds(r) {
		m.effect(EndPause{SessionID: m.session.ID, ReplayID: r.ID, PauseID: b.pauseID})
	}
}

// withdraw takes back an action that was given up and that nobody waits for any more.
// It may still be waiting at the agent, which would carry it out behind a later step,
// or after a person has done it by hand.
func (m *Machine) withdraw(r *replay.Replay, actionID string) {
	a := r.Find(actionID)
	if a != nil && a.Open() && (r.Pause == nil || r.Pause.Decide != actionID) {
		m.stop(r, actionID)
	}
}

// stop asks the agent to stop an action, or not to begin it; all of the replay if
// actionID is empty.
func (m *Machine) stop(r *replay.Replay, actionID string) {
	if m.session != nil && m.holds(r) {
		m.effect(CancelAction{SessionID: m.session.ID, ReplayID: r.ID, ActionID: actionID})
	}
}

// showPause shows the pause of the replay that holds the machine; one that waits
// behind it must not cover the screen.
func (m *Machine) showPause(r *replay.Replay) {
	if m.session != nil && r.Pause != nil && m.holds(r) {
		m.effect(ShowPause{SessionID: m.session.ID, ReplayID: r.ID, Pause: *r.Pause})
	}
}

// deliver hands the action that was just put in flight to the session's writer.
func (m *Machine) deliver(r *replay.Replay) {
	a := &r.Actions[r.InFlight]
	step := r.Steps[a.Step]
	m.effect(Deliver{SessionID: m.session.ID, Delivery: Delivery{
		ReplayID: r.ID, MachineID: m.id, ActionID: a.ID, AttemptID: a.AttemptID, Step: step,
		FirstDispatchedAt: a.FirstDispatchedAt, LastResentAt: a.LastResentAt, Resent: a.Resent, Number: a.Dispatches,
		Reason: a.Reason, Replaces: r.Unsettled(a.ID), Correction: a.Correction, Masks: r.Masks, Popups: r.Popups,
	}})
	if step.Visual {
		m.effect(Note{Kind: NoteMonitorRouted, Replay: r.ID, Action: a.ID, Index: step.Monitor, Source: step.MonitorSource})
	}
}

func (m *Machine) noteOrphan(kind NoteKind, r *replay.Replay, actionID string) {
	a := r.Find(actionID)
	n := Note{Kind: kind, Replay: r.ID, Action: a.ID, Resent: a.Resent, Max: m.cfg.Policy.MaxResends, Age: m.now.Sub(a.FirstDispatchedAt)}
	if m.session != nil {
		n.Session = m.session.ID
	}
	m.effect(n)
}

func sources(checks []replay.Check) string {
	var list []string
	for _, c := range checks {
		s := "workflow"
		if c.Server {
			s = "server"
		}
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	out := ""
	for i, s := range list {
		if i > 0 {
			out += ","
		}
		out += s
	}
	return out
}
