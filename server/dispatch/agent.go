package dispatch

import (
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// open reconciles what the server has in flight with what the agent says, in the
// contract's order: what is executing counts as dispatched, then the stored
// results are taken, then what is left is delivered again.
func (m *Machine) open(recs *recorder, in Open) {
	session, wasAway := in.Session, m.session == nil
	m.session, m.unreceived = &session, ""
	m.pending.StandStill()
	welcome := Welcome{SessionID: session.ID}
	goesOn := "" // the action that the agent executes, and somebody waits for
	if in.Executing != nil {
		welcome.Executing = m.executing(recs, *in.Executing)
		if welcome.Executing == replay.GoOn {
			goesOn = in.Executing.ActionID
		}
	}
	for _, res := range in.Results {
		welcome.Verdicts = append(welcome.Verdicts, m.take(recs, res))
	}
	for _, r := range m.live {
		recs.add(r, r.DecideOtherMemory(session.SpoolID)...)
	}
	for _, r := range m.live {
		m.redeliver(recs, r, goesOn)
	}
	for _, u := range in.Unfinished {
		if r := m.find(replayOf(u.ActionID)); r == nil || !r.Expects(u.ActionID) {
			welcome.Closed = append(welcome.Closed, u.ActionID)
		}
	}
	// The session is sent nothing before its welcome.
	m.out.Effects = append([]Effect{welcome}, m.out.Effects...)
	if len(m.live) > 0 {
		m.tellPause(m.live[0])
	}
	if wasAway {
		m.showPresence()
	}
}

// tellPause tells the session of a pause that began before it, or before its
// replay held the machine.
func (m *Machine) tellPause(r *replay.Replay) {
	if r.Pause == nil {
		return
	}
	for _, e := range m.out.Effects {
		if s, ok := e.(ShowPause); ok && s.Pause.ID == r.Pause.ID {
			return
		}
	}
	m.showPause(r)
}

func (m *Machine) executing(recs *recorder, ref Ref) replay.Executing {
	r := m.find(replayOf(ref.ActionID))
	if r == nil {
		return replay.Stop
	}
	if a := r.Find(ref.ActionID); a != nil && a.SpoolID != m.session.SpoolID {
		return replay.Stop // its outcome will count as unknown
	}
	verdict, events := r.DecideExecuting(ref.ActionID, ref.AttemptID)
	recs.add(r, events...)
	if verdict == replay.GoOn {
		m.pending.Progress(ref.ActionID, pending.Executing, "", m.now)
	}
	return verdict
}

// redeliver puts a replay's action in flight back at the head, unless it goes on.
func (m *Machine) redeliver(recs *recorder, r *replay.Replay, goesOn string) {
	if r.InFlight < 0 {
		return
	}
	id := r.Actions[r.InFlight].ID
	if id == goesOn {
		return
	}
	reason := replay.Reconnect
	if m.fromRecovery[id] {
		reason = replay.ServerRestart
	}
	recs.add(r, r.DecideReconnect(m.session.Session, reason, m.cfg.Policy, m.lastStraw())...)
}

// report takes a report. Its answer waits for its own record and all before it.
func (m *Machine) report(recs *recorder, in Report) {
	if verdict := m.take(recs, in.Result); verdict != 0 {
		m.effect(Ack{SessionID: in.SessionID, Ref: in.Ref, Verdict: verdict})
	}
	if in.Report.Code == replay.CodeDesktopUnavailable && m.session != nil && m.session.ID == in.SessionID {
		m.session.Usable = false // until the agent says otherwise
	}
}

// take takes a report; zero: it could not be recorded, so it is not answered.
// Whatever it says, the agent that sends it is neither dead nor deaf.
func (m *Machine) take(recs *recorder, res Result) replay.Verdict {
	m.giveUps, m.unreceived = nil, ""
	id := replayOf(res.ActionID)
	r := m.find(id)
	switch {
	case r != nil:
		verdict, events := r.DecideReport(res.ActionID, res.AttemptID, res.Report, m.cfg.Policy)
		if !recs.add(r, events...) {
			return 0
		}
		return verdict
	case m.ended[id]:
		return replay.NoActiveReplay
	}
	return replay.UnknownAction
}

// replayOf returns the id of the replay that made an action's id.
func replayOf(actionID string) string {
	for i := len(actionID) - 1; i >= 0; i-- {
		if actionID[i] == '-' {
			return actionID[:i]
		}
	}
	return ""
}
