// Package dispatch owns the state of each machine: one loop per machine takes
// commands, agent messages and deadlines, decides, makes it durable, and only
// then lets anything leave.
//
// Machine is the decision, a function of values: Step(now, input) returns what to
// write and what to do once that is written. Loop is the thin wrapper with a
// goroutine, a timer and the journal; Fleet holds the loops.
package dispatch

import (
	"fmt"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// Config is what the settings say. All fields are required.
type Config struct {
	Policy            replay.Policy
	Timeouts          pending.Timeouts
	OfflineGrace      time.Duration // agent away so long: its replay pauses
	DeadClientGiveUps int           // give-ups with no report between, within DeadClientWindow: the agent is dead
	DeadClientWindow  time.Duration
}

// Machine decides what happens on one machine. It is not safe for concurrent
// use, and performs nothing.
type Machine struct {
	id       string
	cfg      Config
	live     []*replay.Replay // in the order of their creation; the first one holds the machine
	ended    map[string]bool  // ids of ended replays that are still remembered
	pending  *pending.Map
	session  *Session // nil: the agent is away
	awayFrom time.Time
	graceRan bool // the grace is over and was acted on
	draining bool
	// fromRecovery are actions that were in flight when the server started.
	fromRecovery map[string]bool
	giveUps      []time.Time // with no report since
	unreceived   string      // the action whose receipt was missed last
	out          *Outcome
	now          time.Time
}

// Session is the stream that holds the machine.
type Session struct {
	replay.Session
	Usable bool // the desktop can take input
}

// NewMachine makes a machine of its live replays and the ids of its ended ones,
// as the journal has them.
func NewMachine(id string, cfg Config, now time.Time, live []*replay.Replay, ended []string) *Machine {
	m := &Machine{id: id, cfg: cfg, ended: map[string]bool{}, awayFrom: now}
	for _, e := range ended {
		m.ended[e] = true
	}
	m.Reset(live)
	for _, r := range live {
		if r.InFlight >= 0 {
			m.fromRecovery[r.Actions[r.InFlight].ID] = true
		}
	}
	return m
}

// Reset takes the replays as the journal has them, after a write that failed:
// what was decided since is forgotten, what is in flight waits anew.
func (m *Machine) Reset(live []*replay.Replay) {
	m.live = live
	m.pending = pending.New(m.cfg.Timeouts)
	m.fromRecovery = map[string]bool{}
	for _, r := range live {
		if r.InFlight >= 0 {
			m.putInFlight(r, true)
		}
	}
}

// Outcome is what a step decided: first the entries become durable, all or none,
// then the effects are carried out, in order.
type Outcome struct {
	Entries []replay.Entry
	Effects []Effect
}

// Step decides. What it changes in the machine counts only once the entries are
// durable; if they do not become so, the caller calls Reset.
func (m *Machine) Step(now time.Time, in Input) Outcome {
	m.now, m.out = now, &Outcome{}
	defer func() { m.out = nil }()
	recs := newRecorder(m)
	switch in := in.(type) {
	case Open:
		m.open(recs, in)
	case Closed:
		m.closed(in)
	case Desktop:
		m.desktop(in)
	case Progress:
		m.progress(in)
	case Report:
		m.report(recs, in)
	case Submit:
		m.submit(recs, in)
	case Command:
		m.command(recs, in)
	case Tick:
		m.tick(recs)
	case Sweep:
		m.sweep(recs, in)
	case Drain:
		m.draining = true
	case Forget:
		for _, id := range in.ReplayIDs {
			delete(m.ended, id)
		}
	}
	m.advance(recs)
	recs.finish()
	return *m.out
}

// Next is when the machine wants a Tick; false: never.
func (m *Machine) Next() (time.Time, bool) {
	at, ok := m.pending.Next()
	if m.session == nil && !m.graceRan && len(m.live) > 0 {
		if grace := m.awayFrom.Add(m.cfg.OfflineGrace); !ok || grace.Before(at) {
			return grace, true
		}
	}
	return at, ok
}

func (m *Machine) effect(e Effect) { m.out.Effects = append(m.out.Effects, e) }

func (m *Machine) find(replayID string) *replay.Replay {
	for _, r := range m.live {
		if r.ID == replayID {
			return r
		}
	}
	return nil
}

// advance moves the replay that holds the machine as far as it goes.
func (m *Machine) advance(recs *recorder) {
	for len(m.live) > 0 {
		r := m.live[0]
		if r.State.Ended() {
			m.live = m.live[1:]
			m.ended[r.ID] = true
			continue
		}
		var session *replay.Session
		if m.session != nil && m.session.Usable && !m.draining {
			session = &m.session.Session
		}
		events := r.DecideNext(session)
		if len(events) == 0 || !recs.add(r, events...) {
			return
		}
	}
}

// putInFlight puts the action that a replay has in flight into the pending map.
func (m *Machine) putInFlight(r *replay.Replay, received bool) {
	a := &r.Actions[r.InFlight]
	phase := pending.Sent
	if received {
		phase = pending.Received
	}
	// The replay has one action in flight, and it was in no map: Put cannot fail.
	_ = m.pending.Put(pending.Entry{ReplayID: r.ID, ActionID: a.ID, AttemptID: a.AttemptID, Phase: phase})
	if m.session != nil {
		m.pending.Arm(a.ID, m.now)
	}
}

func (m *Machine) closed(in Closed) {
	if m.session == nil || m.session.ID != in.SessionID {
		return // an older session: its clean-up removes only its own
	}
	m.leave()
}

func (m *Machine) leave() {
	m.session = nil
	m.awayFrom, m.graceRan = m.now, false
	m.pending.StandStill()
}

func (m *Machine) desktop(in Desktop) {
	if m.session != nil && m.session.ID == in.SessionID {
		m.session.Usable = in.Usable
	}
}

func (m *Machine) progress(in Progress) {
	if m.session == nil || m.session.ID != in.SessionID {
		return
	}
	if !m.pending.Progress(in.ActionID, in.Phase, in.Doing, m.now) {
		return
	}
	if m.unreceived == in.ActionID {
		m.unreceived = ""
	}
	e, _ := m.pending.Get(in.ActionID)
	if r := m.find(e.ReplayID); r != nil {
		m.effect(Changed{View: m.view(r, []string{in.ActionID})})
	}
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
