package dispatch

import (
	"context"
	"errors"
)

// ErrSlowWatcher ends a watch that does not keep up.
var ErrSlowWatcher = errors.New("the watcher does not keep up")

// watchBuffer is how many changes a watcher may lag behind.
const watchBuffer = 256

// Watch is a stream of a replay's views. Changes is closed after the view that
// ended the replay, or with Err set.
type Watch struct {
	Changes <-chan View
	changes chan View
	replay  string
	err     error // written before changes is closed
}

// Err says why Changes was closed; nil: the replay ended. Call it after that.
func (w *Watch) Err() error { return w.err }

// watchers are the watches of one machine, by replay.
type watchers map[string][]*Watch

func (ws watchers) publish(v View) {
	list := ws[v.Head.ReplayID]
	if len(list) == 0 {
		return
	}
	kept := list[:0]
	for _, w := range list {
		select {
		case w.changes <- v:
			kept = append(kept, w)
		default:
			w.err = ErrSlowWatcher
			close(w.changes)
		}
	}
	ws[v.Head.ReplayID] = kept
	if v.Head.State.Ended() {
		ws.close(v.Head.ReplayID, nil)
	}
}

func (ws watchers) close(replayID string, err error) {
	for _, w := range ws[replayID] {
		w.err = err
		close(w.changes)
	}
	delete(ws, replayID)
}

func (ws watchers) closeAll(err error) {
	for id := range ws {
		ws.close(id, err)
	}
}

func (ws watchers) remove(w *Watch) {
	list := ws[w.replay]
	for i, other := range list {
		if other == w {
			ws[w.replay] = append(list[:i], list[i+1:]...)
			break
		}
	}
	if len(ws[w.replay]) == 0 {
		delete(ws, w.replay)
	}
}

// Watch returns a live replay as it is, all actions included, and its changes
// from then on; nothing is missed between the two. found is false when the
// machine has no such live replay. end must be called when the caller is done.
func (l *Loop) Watch(ctx context.Context, replayID string) (first View, w *Watch, end func(), found bool, err error) {
	err = l.Do(ctx, func(m *Machine) {
		r := m.find(replayID)
		if r == nil {
			return
		}
		changes := make(chan View, watchBuffer)
		first, found = m.view(r, nil), true
		w = &Watch{Changes: changes, changes: changes, replay: replayID}
		l.watchers[replayID] = append(l.watchers[replayID], w)
	})
	end = func() {}
	if w != nil {
		end = func() { _ = l.post(ctx, envelope{query: func(*Machine) { l.watchers.remove(w) }}) }
	}
	return first, w, end, found, err
}

// View returns a live replay as it is, all actions included.
func (l *Loop) View(ctx context.Context, replayID string) (v View, found bool, err error) {
	err = l.Do(ctx, func(m *Machine) {
		if r := m.find(replayID); r != nil {
			v, found = m.view(r, nil), true
		}
	})
	return v, found, err
}
