package dispatch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-rpa/reprise/server/replay"
)

func (m *Machine) submit(recs *recorder, in Submit) {
	r := &replay.Replay{}
	m.live = append(m.live, r)
	if !recs.addTo(r, in.ReplayID, in.Created) {
		m.live = slices.DeleteFunc(m.live, func(l *replay.Replay) bool { return l == r })
		m.effect(Answer{Reply: in.Reply, Err: fmt.Errorf("replay %s cannot be created", in.ReplayID)})
		return
	}
	m.answer(in.Reply, r)
}

func (m *Machine) answer(reply func(Answer), r *replay.Replay) {
	a := Answer{Reply: reply, Replay: r.ID, Remaining: len(r.Steps) - r.Settled}
	if m.session != nil {
		a.SessionID = m.session.ID
	}
	m.effect(a)
}

func (m *Machine) command(recs *recorder, in Command) {
	r := m.find(in.ReplayID)
	if in.ReplayID == "" && len(m.live) > 0 {
		r = m.live[0]
	}
	if in.SessionID != "" && (m.session == nil || m.session.ID != in.SessionID) {
		m.effect(Answer{Reply: in.Reply, Replay: in.ReplayID, Err: ErrOldSession})
		return
	}
	if r == nil {
		m.effect(Answer{Reply: in.Reply, Replay: in.ReplayID, Err: replay.ErrNotFound})
		return
	}
	events, err := in.Decide(r)
	if err != nil {
		m.effect(Answer{Reply: in.Reply, Replay: in.ReplayID, Err: err})
		return
	}
	if !recs.add(r, events...) {
		m.effect(Answer{Reply: in.Reply, Replay: in.ReplayID, Err: errors.New("the command does not fit the replay's state")})
		return
	}
	m.answer(in.Reply, r)
}
