package cases

import (
	"context"
	"slices"
	"sync"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// link is one stream through the relay.
type link struct {
	up     way[reprisev1.ConnectRequest]
	down   way[reprisev1.ConnectResponse]
	cancel context.CancelCauseFunc // ends the server's side
	ended  chan error              // ends both
	left   chan struct{}           // closed: the agent's side ends alone
}

func newLink(cancel context.CancelCauseFunc) *link {
	return &link{cancel: cancel, ended: make(chan error, 1), left: make(chan struct{})}
}

func (l *link) cut() {
	select {
	case l.ended <- errCut:
	default: // it is cut already
	}
}

// way is one direction of a link. Others than its carrier may put messages on it.
type way[T any] struct {
	mu   sync.Mutex
	send func(*T) error
}

func (w *way[T]) put(m *T) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.send(m)
}

// enter takes in a stream; false: it does not come through.
func (r *relay) enter(l *link, up func(*reprisev1.ConnectRequest) error, down func(*reprisev1.ConnectResponse) error) bool {
	l.up.send, l.down.send = up, down
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.apart {
		r.links = append(r.links, l)
	}
	return !r.apart
}

func (r *relay) leave(l *link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links = slices.DeleteFunc(r.links, func(other *link) bool { return other == l })
}

func (r *relay) open() []*link {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.links)
}

// cutAll cuts every stream now. New ones come through.
func (r *relay) cutAll() {
	for _, l := range r.open() {
		l.cut()
	}
}

// abandon cuts every stream for the agent alone: the server goes on believing in
// it, as behind a proxy that does not pass an end on.
func (r *relay) abandon() {
	for _, l := range r.open() {
		close(l.left)
	}
}

// takeApart cuts every stream and lets no other through until join.
func (r *relay) takeApart() {
	r.mu.Lock()
	r.apart = true
	r.mu.Unlock()
	r.cutAll()
}

func (r *relay) isApart() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.apart
}

// join lets streams through again.
func (r *relay) join() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.apart = false
}

// silence loses every message of both directions, and the end of a stream as well:
// the link is half-open. Each side has to notice by itself.
func (r *relay) silence() {
	r.mu.Lock()
	r.quiet = make(chan struct{})
	r.mu.Unlock()
	r.onUp(func(*reprisev1.ConnectRequest) fate { return drop })
	r.onDown(func(*reprisev1.ConnectResponse) fate { return drop })
}

// hush is closed when the link is heard again; nil: it is.
func (r *relay) hush() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quiet
}

// passesEnd waits until the end of the server's stream can be passed on; false: the
// agent has ended its own before.
func (r *relay) passesEnd(agent context.Context) bool {
	quiet := r.hush()
	if quiet == nil {
		return true
	}
	select {
	case <-quiet:
		return true
	case <-agent.Done():
		return false
	}
}

// listen passes every message on again.
func (r *relay) listen() {
	r.mu.Lock()
	if r.quiet != nil {
		close(r.quiet)
	}
	r.quiet = nil
	r.mu.Unlock()
	r.onUp(nil)
	r.onDown(nil)
}

// say makes the newest stream bring its agent a message that the server has not
// sent.
func (r *relay) say(m *reprisev1.ConnectResponse) error {
	l := r.newest()
	if l == nil {
		return errCut
	}
	return l.down.put(m)
}

// answer makes the newest stream bring the server a message that its agent has not
// sent now.
func (r *relay) answer(m *reprisev1.ConnectRequest) error {
	l := r.newest()
	if l == nil {
		return errCut
	}
	return l.up.put(m)
}

func (r *relay) newest() *link {
	links := r.open()
	if len(links) == 0 {
		return nil
	}
	return links[len(links)-1]
}
