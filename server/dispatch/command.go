package dispatch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-rpa/reprise/server/replay"
)

// asked is a Submit or a Command that was decided. It is answered when the step
// has come to its end, so that the answer shows all that it led to.
type asked struct {
	reply    func(Answer)
	replayID string
	appendID string
	replay   *replay.Replay // nil with err
	err      error
}

func (m *Machine) submit(recs *recorder, in Submit) *asked {
	a := &asked{reply: in.Reply, replayID: in.ReplayID, replay: &replay.Replay{}}
	m.live = append(m.live, a.replay)
	if !recs.addTo(a.replay, in.ReplayID, in.Created) {
		m.live = slices.DeleteFunc(m.live, func(l *replay.Replay) bool { return l == a.replay })
		a.err = fmt.Errorf("replay %s cannot be created", in.ReplayID)
	}
	return a
}

func (m *Machine) command(recs *recorder, in Command) *asked {
	a := &asked{reply: in.Reply, replayID: in.ReplayID, appendID: in.AppendID}
	if in.SessionID != "" && (m.session == nil || m.session.ID != in.SessionID) {
		a.err = ErrOldSession
		return a
	}
	r := m.find(in.ReplayID)
	if in.ReplayID == "" && len(m.live) > 0 {
		r = m.live[0]
	}
	if r == nil {
		a.err = replay.ErrNotFound
		return a
	}
	a.replay, a.replayID = r, r.ID
	var events []replay.Event
	if events, a.err = in.Decide(r); a.err == nil && !recs.add(r, events...) {
		a.err = errors.New("the command does not fit the replay's state")
	}
	return a
}

// answer says what became of the replay that was submitted or commanded. It goes
// out before all else that the step led to: whoever asked waits for nothing but
// the journal.
func (m *Machine) answer(a *asked) {
	m.out.Effects = append([]Effect{m.answerOf(a)}, m.out.Effects...)
}

func (m *Machine) answerOf(a *asked) Answer {
	out := Answer{Reply: a.reply, Replay: a.replayID, Err: a.err}
	if a.err != nil {
		return out
	}
	v := m.glance(a.replay)
	out.View, out.Remaining = &v, len(a.replay.Steps)-a.replay.Settled
	if m.session != nil {
		out.SessionID = m.session.ID
	}
	if first, count, ok := a.replay.AppendedBy(a.appendID); ok {
		out.Appended = a.replay.StepActionIDs(first, count)
	}
	return out
}
