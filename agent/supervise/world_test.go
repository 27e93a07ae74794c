package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// world is one Supervisor at work in a bubble.
type world struct {
	t       *testing.T
	m       *fakeMachine
	d       *fakeDesk
	changed chan struct{}
	stop    func() error // ends Run, once, and returns what it returned

	mu      sync.Mutex
	journal []string
	log     bytes.Buffer
}

var errStopped = errors.New("stopped by the test")

// begin makes a machine with these sessions; run starts a Supervisor for that user on it.
func begin(t *testing.T, sessions ...Session) *world {
	t.Helper()
	w := &world{t: t, changed: make(chan struct{})}
	w.m = &fakeMachine{t: t, sessions: sessions, said: w.say}
	w.d = &fakeDesk{said: w.say, t: t}
	return w
}

func (w *world) run(user string) *world {
	w.t.Helper()
	s, err := New(Config{Machine: w.m, Desk: w.d, User: user, Changed: w.changed, Log: slog.New(slog.NewTextHandler(w, nil))})
	if err != nil {
		w.t.Fatal(err)
	}
	s.random = func() float64 { return 1 }
	ctx, cancel := context.WithCancelCause(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var once sync.Once
	var got error
	w.stop = func() error {
		once.Do(func() {
			cancel(errStopped)
			got = <-done
		})
		return got
	}
	w.t.Cleanup(func() { _ = w.stop() })
	synctest.Wait()
	return w
}

func (w *world) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.journal = append(w.journal, fmt.Sprintf(format, args...))
}

// heard returns what happened since it was last asked.
func (w *world) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.journal
	w.journal = nil
	return got
}

func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *world) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Split(strings.TrimSuffix(w.log.String(), "\n"), "\n")
}

// pass lets time pass, and then everything happen that is due.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// in checks in which session helpers live.
func (w *world) in(want ...uint32) {
	w.t.Helper()
	if got := w.m.living(); !slices.Equal(got, want) {
		w.t.Fatalf("helpers live in %v, want %v; %q", got, want, w.heard())
	}
}

// change changes the machine or its desk while both are in use.
func (w *world) change(f func()) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	f()
}
