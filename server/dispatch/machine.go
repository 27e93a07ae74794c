// Package dispatch owns the state of each machine: one loop per machine takes
// commands, agent messages and deadlines, decides, makes it durable, and only
// then lets anything leave.
//
// Machine is the decision, a function of values: Step(now, input) returns what to
// write and what to do once that is written. Core, a function of values as well,
// sees to it that nothing leaves before. Loop is the thin wrapper with a goroutine,
// a timer and the journal; Fleet holds the loops.
package dispatch

import (
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
	draining bool
	dropped  []string // replays that the last step ended
	// fromRecovery are actions that were in flight when the server started.
	fromRecovery map[string]bool
	volatile
	before volatile // what Reset goes back to
	out    *Outcome
	now    time.Time
}

// volatile is what a machine knows beside its replays. A step changes it before
// its entries are durable, so Reset puts it back.
type volatile struct {
	session    *Session // nil: the agent is away
	awayFrom   time.Time
	graceRan   bool        // the grace is over and was acted on
	giveUps    []time.Time // with no report since; replaced, never changed in place
	unreceived string      // the action whose receipt was missed last
	found      Swept       // what deadlines led to since the last sweep
}

// Session is the stream that holds the machine.
type Session struct {
	replay.Session
	Usable bool // the desktop can take input
}

// NewMachine makes a machine of its live replays and the ids of its ended ones,
// as the journal has them.
func NewMachine(id string, cfg Config, now time.Time, live []*replay.Replay, ended []string) *Machine {
	m := &Machine{id: id, cfg: cfg, ended: map[string]bool{}, before: volatile{awayFrom: now}}
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
// what the last step decided is forgotten, what it was told of the agent and its
// desktop is not; what is in flight waits anew.
func (m *Machine) Reset(live []*replay.Replay) {
	m.undo()
	m.live, m.dropped = live, nil
	m.pending = pending.New(m.cfg.Timeouts)
	m.fromRecovery = map[string]bool{}
	for _, r := range live {
		delete(m.ended, r.ID)
		if r.InFlight >= 0 {
			m.putInFlight(r, true)
		}
	}
}

// keep makes what the last step changed final: it is durable.
func (m *Machine) keep() { m.before, m.dropped = m.volatile, nil }

// undo forgets what the last step changed beside the replays, which Reset brings
// back once the journal can be read.
func (m *Machine) undo() {
	m.volatile = m.before
	for _, id := range m.dropped {
		delete(m.ended, id)
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
	m.now, m.out, m.before, m.dropped = now, &Outcome{}, m.volatile, nil
	defer func() { m.out = nil }()
	recs := newRecorder(m)
	var ask *asked
	switch in := in.(type) {
	case Open:
		// If this cannot be written the new stream is closed, and the one before
		// it has made way already.
		m.before.session, m.before.awayFrom, m.before.graceRan = nil, now, false
		m.open(recs, in)
	case Progress:
		m.progress(in)
	case Report:
		m.report(recs, in)
	case Submit:
		ask = m.submit(recs, in)
	case Command:
		ask = m.command(recs, in)
	case Tick, Sweep:
		m.tick(recs)
	default:
		m.hear(in)
		m.before = m.volatile
	}
	m.advance(recs)
	recs.finish()
	if ask != nil {
		m.answer(ask)
	}
	if sweep, ok := in.(Sweep); ok {
		found := m.found
		found.Done, found.InFlight = sweep.Done, m.pending.Len()
		m.found = Swept{}
		m.effect(found)
	}
	return *m.out
}

// hear takes what is so whether or not anything can be written.
func (m *Machine) hear(in Input) {
	switch in := in.(type) {
	case Closed:
		m.closed(in)
	case Desktop:
		m.desktop(in)
	case Drain:
		m.draining = true
	case Forget:
		for _, id := range in.ReplayIDs {
			delete(m.ended, id)
		}
	}
}

// Hear is Step for a machine whose journal cannot be read: of what it is told it
// keeps only what needs no writing. Of all other inputs nothing is kept.
func (m *Machine) Hear(now time.Time, in Input) {
	m.now, m.out = now, &Outcome{}
	m.hear(in)
	m.out, m.before = nil, m.volatile
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

// holds says whether a replay holds the machine.
func (m *Machine) holds(r *replay.Replay) bool { return len(m.live) > 0 && m.live[0] == r }

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
	for {
		m.dropEnded(recs)
		if len(m.live) == 0 {
			return
		}
		r := m.live[0]
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

// dropEnded takes the replays that this step ended out of the live ones, also
// those that still waited for the machine.
func (m *Machine) dropEnded(recs *recorder) {
	before := len(m.dropped)
	for _, r := range recs.order {
		if r.State.Ended() && !m.ended[r.ID] {
			m.ended[r.ID] = true
			m.dropped = append(m.dropped, r.ID)
		}
	}
	if len(m.dropped) == before {
		return
	}
	m.live = slices.DeleteFunc(m.live, func(r *replay.Replay) bool { return r.State.Ended() })
	if len(m.live) > 0 {
		m.tellPause(m.live[0]) // it may have been paused while it waited
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
	m.showPresence()
}

// showPresence tells the watchers that the agent has come or gone.
func (m *Machine) showPresence() {
	for _, r := range m.live {
		m.effect(Changed{View: m.glance(r)})
	}
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
