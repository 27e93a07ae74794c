package dispatch

import (
	"cmp"
	"context"
	"slices"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// View is a replay at one moment, for those who watch. It shares nothing with
// the machine's own state that changes.
type View struct {
	Head      replay.Head
	Pause     *replay.Pause
	AgentAway bool
	All       bool           // Actions are all of them, not only those that changed
	Actions   []ActionView   // those that changed in the order of the workflow, all of them in that of the decisions
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

// glance shows a replay without its actions.
func (m *Machine) glance(r *replay.Replay) View { return m.view(r, []string{}) }

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
	slices.SortFunc(v.Actions, func(a, b ActionView) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Resumes, b.Resumes), cmp.Compare(a.Retries, b.Retries))
	})
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

// Page is some of a replay's actions, in the order of the workflow and then of the
// decisions.
type Page struct {
	Actions []ActionView
	Last    replay.Place // of the last one, while others follow; zero: none do
}

// PageOf returns the actions of a replay that no machine holds, size of them at
// most, which stand behind a place.
func PageOf(r *replay.Replay, after replay.Place, size int) Page {
	return pageOf(r, after, size, ViewOfAction)
}

func pageOf(r *replay.Replay, after replay.Place, size int, show func(*replay.Replay, *replay.Action) ActionView) Page {
	var p Page
	for at, a := range r.After(after) {
		if len(p.Actions) == size {
			return p
		}
		p.Actions, p.Last = append(p.Actions, show(r, a)), at
	}
	p.Last = replay.Place{}
	return p
}

// Page is PageOf a live replay; found is false when the machine has no such one.
func (l *Loop) Page(ctx context.Context, replayID string, after replay.Place, size int) (p Page, found bool, err error) {
	seen, err := ask(ctx, l, func(m *Machine) *Page {
		r := m.find(replayID)
		if r == nil {
			return nil
		}
		p := pageOf(r, after, size, m.actionView)
		return &p
	})
	if err != nil || seen == nil {
		return Page{}, false, err
	}
	return *seen, true, nil
}
