package control

import (
	"sync"
)

// Changes tells watchers of machines which of them to look at. It keeps no more
// than the ids of the machines that a watcher has not looked at yet, however often
// they change and however slow the watcher is. The zero value is ready.
type Changes struct {
	mu       sync.Mutex
	watchers map[*changed]struct{}
}

// Touch says that a machine is different now. It never blocks.
func (c *Changes) Touch(machineID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watchers {
		w.ids[machineID] = struct{}{}
		select {
		case w.wake <- struct{}{}:
		default: // it is awake already
		}
	}
}

// changed is what one watcher has to look at.
type changed struct {
	all  *Changes
	ids  map[string]struct{}
	wake chan struct{} // there is something
}

// subscribe begins to collect; end must be called.
func (c *Changes) subscribe() *changed {
	w := &changed{all: c, ids: map[string]struct{}{}, wake: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchers == nil {
		c.watchers = map[*changed]struct{}{}
	}
	c.watchers[w] = struct{}{}
	return w
}

// take returns what was touched since the last call.
func (w *changed) take() map[string]struct{} {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	ids := w.ids
	w.ids = map[string]struct{}{}
	return ids
}

func (w *changed) end() {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	delete(w.all.watchers, w)
}
