package dispatch

import (
	"context"
	"time"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// Status is a machine at one moment.
type Status struct {
	ID              string
	SessionID       string // empty: the agent is away
	CurrentReplay   string
	CurrentWorkflow string
	CurrentState    replay.State  // 0: no replay holds the machine
	PauseReason     string        // of the current replay; empty: it is not paused
	Masks           []replay.Mask // of the current replay: what no picture may show. They never change
	InFlight        string        // the action
	Queued          int           // replays behind the current one
}

// Status shows the machine.
func (m *Machine) Status() Status {
	s := Status{ID: m.id}
	if m.session != nil {
		s.SessionID = m.session.ID
	}
	if len(m.live) == 0 {
		return s
	}
	r := m.live[0]
	s.CurrentReplay, s.CurrentWorkflow, s.CurrentState, s.Masks = r.ID, r.Workflow, r.State, r.Masks
	s.Queued = len(m.live) - 1
	if r.Pause != nil {
		s.PauseReason = r.Pause.Reason
	}
	if r.InFlight >= 0 {
		s.InFlight = r.Actions[r.InFlight].ID
	}
	return s
}

// Situation is what a machine knows about why a live replay is where it is. The
// holder is the replay that holds the machine: the first one of Ahead, or this
// one where nothing is ahead.
type Situation struct {
	View      View          // the replay, without its actions
	Ahead     []View        // the replays before it, the holder first; without actions
	SessionID string        // empty: the agent is away
	AwaySince time.Time     // while it is away
	PausesIn  time.Duration // the grace that is left of a running holder; 0: none runs
	Usable    bool          // the desktop can take input; true while the agent is away
	Draining  bool          // nothing is dispatched any more
	Failing   bool          // the journal did not take the last write
	InFlight  *InFlight     // of the holder; nil: none
	Idle      bool          // the holder is open and has nothing to do
}

// InFlight is an action that is dispatched and not reported.
type InFlight struct {
	ReplayID, ActionID, Kind string
	Since                    time.Time // of the last dispatch
	Phase                    pending.Phase
	Doing                    string        // what the agent says it is doing
	Deliveries               int           // so far
	Resent                   int           // resends spent
	Deadline                 pending.Kind  // 0: none runs
	DueIn                    time.Duration // only with Deadline; 0 or less: due now
}

// Situation says what holds a live replay up. found is false when the machine has
// no such live replay.
func (l *Loop) Situation(ctx context.Context, replayID string) (s Situation, found bool, err error) {
	seen, err := ask(ctx, l, func(m *Machine) *Situation {
		s := m.situation(time.Now(), replayID)
		if s != nil {
			s.Failing = l.core.Failing()
		}
		return s
	})
	if err != nil || seen == nil {
		return Situation{}, false, err
	}
	return *seen, true, nil
}

// situation returns nil for a replay that the machine does not hold.
func (m *Machine) situation(now time.Time, replayID string) *Situation {
	r := m.find(replayID)
	if r == nil {
		return nil
	}
	holder := m.live[0]
	s := &Situation{View: m.glance(r), Usable: true, Draining: m.draining, InFlight: m.showInFlight(now, holder), Idle: holder.Idle()}
	for _, ahead := range m.live {
		if ahead == r {
			break
		}
		s.Ahead = append(s.Ahead, m.glance(ahead))
	}
	if m.session != nil {
		s.SessionID, s.Usable = m.session.ID, m.session.Usable
		return s
	}
	s.AwaySince = m.awayFrom
	if !m.graceRan && holder.State == replay.Running {
		// One that is over is acted on at any moment; it has not run out before.
		s.PausesIn = max(1, m.awayFrom.Add(m.cfg.OfflineGrace).Sub(now))
	}
	return s
}

func (m *Machine) showInFlight(now time.Time, r *replay.Replay) *InFlight {
	if r.InFlight < 0 {
		return nil
	}
	a := &r.Actions[r.InFlight]
	f := &InFlight{
		ReplayID: r.ID, ActionID: a.ID, Kind: r.Steps[a.Step].Kind, Since: a.LastDispatchedAt,
		Deliveries: a.Dispatches, Resent: a.Resent,
	}
	if e, ok := m.pending.Get(a.ID); ok {
		f.Phase, f.Doing = e.Phase, e.Doing
	}
	// A server that goes away leaves what is due to the next one.
	if kind, at, ok := m.pending.Deadline(a.ID); ok && !m.draining {
		f.Deadline, f.DueIn = kind, at.Sub(now)
	}
	return f
}
