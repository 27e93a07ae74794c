package service

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// world is a service control manager and an event log that remember.
type world struct {
	requests chan request
	code     chan uint32

	mu       sync.Mutex
	statuses []status
	events   []string
}

func (w *world) report(s status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.statuses = append(w.statuses, s)
}

func (w *world) Write(id uint32, _ slog.Level, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprint(id, " ", text))
	return nil
}

// states are the states told, each once in a row.
func (w *world) states() []State {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []State
	for _, s := range w.statuses {
		all = append(all, s.state)
	}
	return slices.Compact(all)
}

func (w *world) last() status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.statuses[len(w.statuses)-1]
}

// ids are the numbers of the events written.
func (w *world) ids() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for _, e := range w.events {
		id, _, _ := strings.Cut(e, " ")
		ids = append(ids, id)
	}
	return ids
}

func (w *world) ask(r request) {
	w.requests <- r
	synctest.Wait()
}

// runs starts a service with a program.
func runs(ctx context.Context, p Program) *world {
	w := &world{requests: make(chan request), code: make(chan uint32, 1)}
	c := &controller{program: p, requests: w.requests, report: w.report, sink: w, endIn: EndWithin}
	go func() { w.code <- c.run(ctx) }()
	synctest.Wait()
	return w
}

// works is a program that works until it is told to end.
func works(ctx context.Context, h Host) error {
	h.Ready()
	<-ctx.Done()
	return context.Cause(ctx)
}

func (w *world) wants(t *testing.T, code uint32, states []State, ids ...string) {
	t.Helper()
	if got := <-w.code; got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if diff := cmp.Diff(states, w.states()); diff != "" {
		t.Errorf("states (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(ids, w.ids()); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
}
