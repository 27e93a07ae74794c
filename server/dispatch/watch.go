package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
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
	gone    atomic.Bool // nobody reads it any more
	err     error       // written before changes is closed
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
		if w.gone.Load() {
			continue
		}
		select {
		case w.changes <- v:
			kept = append(kept, w)
		default:
			w.err = ErrSlowWatcher
			close(w.changes)
		}
	}
	clear(list[len(kept):])
	ws[v.Head.ReplayID] = kept
	switch {
	case len(kept) == 0:
		delete(ws, v.Head.ReplayID)
	case v.Head.State.Ended():
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

// add adds a watch and forgets those of its replay that are over.
func (ws watchers) add(w *Watch) {
	list := slices.DeleteFunc(ws[w.replay], func(other *Watch) bool { return other.gone.Load() })
	ws[w.replay] = append(list, w)
}

// Watch returns a live replay as it is, all actions included, and its changes
// from then on; nothing is missed between the two. found is false when the
// machine has no such live replay. end must be called when the caller is done; it
// does not block, and may be called twice.
func (l *Loop) Watch(ctx context.Context, replayID string) (first View, w *Watch, end func(), found bool, err error) {
	changes := make(chan View, watchBuffer)
	watch := &Watch{Changes: changes, changes: changes, replay: replayID}
	begun, err := ask(ctx, l, func(m *Machine) *View {
		r := m.find(replayID)
		if r == nil || watch.gone.Load() {
			return nil
		}
		v := m.view(r, nil)
		l.watchers.add(watch)
		return &v
	})
	end = func() { watch.gone.Store(true) }
	if err != nil || begun == nil {
		end() // it may be added yet
		return View{}, nil, end, false, err
	}
	return *begun, watch, end, true, nil
}

// View returns a live replay as it is, all actions included.
func (l *Loop) View(ctx context.Context, replayID string) (v View, found bool, err error) {
	seen, err := ask(ctx, l, func(m *Machine) *View {
		r := m.find(replayID)
		if r == nil {
			return nil
		}
		v := m.view(r, nil)
		return &v
	})
	if err != nil || seen == nil {
		return View{}, false, err
	}
	return *seen, true, nil
}
