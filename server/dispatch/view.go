package dispatch

import (
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// View is a replay at one moment, for those who watch. It shares nothing with
// the machine's own state that changes.
type View struct {
	Head      replay.Head
	Pause     *replay.Pause
	AgentAway bool
	All       bool // Actions are all of them, not only those that changed
	Actions   []ActionView
	Events    []replay.Event // what led here since the view before
}

// ActionView is one action of a View.
type ActionView struct {
	replay.Action
	Name, Kind string
	Payload    []byte // the action, encoded
	Phase      pending.Phase
	Doing      string
}

// view shows a replay with the actions named; nil: all.
func (m *Machine) view(r *replay.Replay, ids []string) View {
	v := ViewOf(r)
	v.AgentAway = m.session == nil && !r.State.Ended()
	if ids == nil {
		v.All = true
		v.Actions = make([]ActionView, len(r.Actions))
		for i := range r.Actions {
			v.Actions[i] = m.actionView(r, &r.Actions[i])
		}
		return v
	}
	for _, id := range ids {
		v.Actions = append(v.Actions, m.actionView(r, r.Find(id)))
	}
	return v
}

// ViewOf shows a replay without its actions.
func ViewOf(r *replay.Replay) View {
	v := View{Head: r.Head()}
	if r.Pause != nil {
		p := *r.Pause
		v.Pause = &p
	}
	return v
}

func (m *Machine) actionView(r *replay.Replay, a *replay.Action) ActionView {
	av := ViewOfAction(r, a)
	if e, ok := m.pending.Get(a.ID); ok {
		av.Phase, av.Doing = e.Phase, e.Doing
	}
	return av
}

// ViewOfAction shows an action that is not in flight.
func ViewOfAction(r *replay.Replay, a *replay.Action) ActionView {
	step := &r.Steps[a.Step]
	return ActionView{Action: *a, Name: step.Name, Kind: step.Kind, Payload: step.Payload}
}

// Status is a machine at one moment.
type Status struct {
	ID            string
	SessionID     string // empty: the agent is away
	CurrentReplay string
	InFlight      string // the action
	Queued        int    // replays behind the current one
}

// Status shows the machine.
func (m *Machine) Status() Status {
	s := Status{ID: m.id}
	if m.session != nil {
		s.SessionID = m.session.ID
	}
	if len(m.live) > 0 {
		r := m.live[0]
		s.CurrentReplay, s.Queued = r.ID, len(m.live)-1
		if r.InFlight >= 0 {
			s.InFlight = r.Actions[r.InFlight].ID
		}
	}
	return s
}
