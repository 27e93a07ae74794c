package dispatch

import (
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// recorder collects the events of one step: one record per replay, applied as
// they come, so that each decision sees what the ones before it changed.
type recorder struct {
	m     *Machine
	at    time.Time
	order []*replay.Replay
	parts map[*replay.Replay]*part
}

type part struct {
	events  []replay.Event
	touched map[string]bool // actions
	all     bool            // any action may have changed
}

func newRecorder(m *Machine) *recorder {
	// What is written is wall-clock time; a monotonic reading means nothing on disk.
	return &recorder{m: m, at: m.now.UTC().Round(0), parts: map[*replay.Replay]*part{}}
}

// add applies events to a replay and follows each with its consequences. An
// event that does not fit is a fault of ours: it is dropped, and reported.
func (rc *recorder) add(r *replay.Replay, events ...replay.Event) bool {
	return rc.addTo(r, r.ID, events...)
}

func (rc *recorder) addTo(r *replay.Replay, id string, events ...replay.Event) bool {
	for _, ev := range events {
		before := stateBefore(r)
		if err := r.ApplyEvent(id, ev, rc.at); err != nil {
			rc.m.effect(Fault{Err: err})
			return false
		}
		p := rc.parts[r]
		if p == nil {
			p = &part{touched: map[string]bool{}}
			rc.parts[r] = p
			rc.order = append(rc.order, r)
		}
		p.events = append(p.events, ev)
		p.touch(r, ev)
		rc.m.follow(r, ev, before)
	}
	// Whether anybody waits for what was given up is known from what came with it.
	for _, ev := range events {
		if g, ok := ev.(replay.GaveUp); ok {
			rc.m.withdraw(r, g.ActionID)
		}
	}
	return true
}

// touch notes which actions an event may have changed.
func (p *part) touch(r *replay.Replay, ev replay.Event) {
	id := ""
	switch ev := ev.(type) {
	case replay.Dispatched:
		id = ev.ActionID
	case replay.Adopted:
		id = ev.ActionID
	case replay.Requeued:
		id = ev.ActionID
	case replay.Reported:
		id = ev.ActionID
	case replay.LostMemory:
		id = ev.ActionID
	case replay.GaveUp:
		id = ev.ActionID
	case replay.PausedBy:
		id = ev.Decide
	case replay.GatePassed:
		id = r.Current(ev.Step).ID
	case replay.Appended:
		for step := len(r.Steps) - len(ev.Steps); step < len(r.Steps); step++ {
			p.touched[r.Current(step).ID] = true
		}
	case replay.Started, replay.Closed:
	default:
		p.all = true
	}
	if a := r.Find(id); a != nil {
		p.touched[id] = true
		p.touched[r.Current(a.Step).ID] = true
	}
}

// finish turns what was collected into entries, and tells the watchers.
func (rc *recorder) finish() {
	for _, r := range rc.order {
		p := rc.parts[r]
		r.Revision++
		rc.m.out.Entries = append(rc.m.out.Entries, replay.Entry{
			Record: replay.Record{ReplayID: r.ID, Seq: r.Revision, At: rc.at, Events: p.events},
			Head:   r.Head(),
		})
		ids := make([]string, 0, len(p.touched))
		for id := range p.touched {
			ids = append(ids, id)
		}
		if p.all {
			ids = nil
		}
		v := rc.m.view(r, ids)
		v.Events = p.events
		rc.m.effect(Changed{View: v})
	}
}
