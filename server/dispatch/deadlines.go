package dispatch

import (
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// tick acts on every deadline that has passed, and notes for the next sweep what it
// found.
func (m *Machine) tick(recs *recorder) {
	found := &m.found
	for _, due := range m.pending.Due(m.now) {
		r := m.find(due.ReplayID)
		switch {
		case r == nil:
			m.pending.Remove(due.ActionID) // its replay is gone: no ghost is resent
		case m.draining:
			found.Skipped++
			m.pending.Arm(due.ActionID, m.now) // the next server settles it
		case due.Kind == pending.Receipt:
			m.notReceived(recs, r, due.ActionID)
		default:
			found.Orphans++
			if m.orphan(recs, r, due.ActionID) {
				found.GaveUp++
			} else {
				found.Resent++
			}
		}
	}
	m.agentAway(recs)
}

// notReceived acts on an action whose receipt was missed. The second time in a
// row the stream is closed: an agent that answers pings and takes no work is deaf.
func (m *Machine) notReceived(recs *recorder, r *replay.Replay, actionID string) {
	events := r.DecideNotReceived(actionID, m.cfg.Policy, m.lastStraw())
	if len(events) == 0 {
		m.pending.WaiveReceipt(actionID)
		return
	}
	recs.add(r, events...)
	if m.unreceived == actionID && m.session != nil {
		m.effect(CloseSession{SessionID: m.session.ID, Why: ErrDeaf})
		m.unreceived = ""
		m.leave()
		return
	}
	m.unreceived = actionID
}

// orphan acts on an action whose deadline passed; it says whether that was a
// give-up.
func (m *Machine) orphan(recs *recorder, r *replay.Replay, actionID string) bool {
	events := r.DecideOrphan(actionID, m.cfg.Policy, m.lastStraw())
	recs.add(r, events...)
	return slices.ContainsFunc(events, func(ev replay.Event) bool { _, is := ev.(replay.GaveUp); return is })
}

// lastStraw says whether one more give-up means that the agent is dead.
func (m *Machine) lastStraw() bool {
	return m.cfg.DeadClientGiveUps > 0 && len(m.recentGiveUps())+1 >= m.cfg.DeadClientGiveUps
}

func (m *Machine) recentGiveUps() []time.Time {
	var recent []time.Time
	for _, at := range m.giveUps {
		if m.now.Sub(at) <= m.cfg.DeadClientWindow {
			recent = append(recent, at)
		}
	}
	return recent
}

// countGiveUp counts a give-up of the machine, on whichever of its streams.
func (m *Machine) countGiveUp(r *replay.Replay) {
	dead := m.lastStraw()
	m.giveUps = append(m.recentGiveUps(), m.now)
	if !dead {
		return
	}
	note := Note{Kind: NoteDeadClient, Replay: r.ID, Count: len(m.giveUps), Age: m.cfg.DeadClientWindow}
	if m.session != nil {
		note.Session = m.session.ID
	}
	m.effect(note)
	m.giveUps = nil
}

// agentAway pauses the replay of an agent that has been away longer than the grace.
func (m *Machine) agentAway(recs *recorder) {
	if m.session != nil || m.graceRan || m.now.Sub(m.awayFrom) < m.cfg.OfflineGrace {
		return
	}
	m.graceRan = true
	if len(m.live) > 0 {
		recs.add(m.live[0], m.live[0].DecideAgentAway()...)
	}
}
