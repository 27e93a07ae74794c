package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
)

// fakeMachine is a machine whose sessions the test sets.
type fakeMachine struct {
	t        *testing.T
	mu       sync.Mutex
	sessions []Session
	err      error
	refuse   error                    // Start fails
	prepare  func(p *fakeProcess)     // what the next helpers are like
	helpers  []*fakeProcess           // all that were started
	asked    int                      // how often the sessions were listed
	said     func(f string, a ...any) // the journal
}

func (m *fakeMachine) Sessions() ([]Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	return slices.Clone(m.sessions), m.err
}

func (m *fakeMachine) Start(session uint32, secret []byte) (Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		return nil, m.refuse
	}
	for _, p := range m.helpers {
		if p.living() {
			m.t.Errorf("a helper is started in session %d while one lives in %d", session, p.session)
		}
	}
	ours, theirs := net.Pipe()
	p := &fakeProcess{
		m: m, session: session, secret: secret, ours: ours, theirs: theirs,
		calls: make(chan struct{}), gone: make(chan struct{}), obeys: true,
	}
	close(p.calls)
	if m.prepare != nil {
		m.prepare(p)
	}
	m.helpers = append(m.helpers, p)
	m.said("start %d", session)
	go p.run()
	return p, nil
}

// set changes the sessions.
func (m *fakeMachine) set(sessions ...Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = sessions
}

// change changes the machine or its desk while both are in use.
func (w *world) change(f func()) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	f()
}

func (m *fakeMachine) last() *fakeProcess {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.helpers) == 0 {
		return nil
	}
	return m.helpers[len(m.helpers)-1]
}

func (m *fakeMachine) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.helpers)
}

func (m *fakeMachine) looks() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// living are the sessions of the helpers that live.
func (m *fakeMachine) living() (in []uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.helpers {
		if p.living() {
			in = append(in, p.session)
		}
	}
	return in
}

// fakeProcess is a helper that ends when its connection does.
type fakeProcess struct {
	m            *fakeMachine
	session      uint32
	secret       []byte
	ours, theirs net.Conn
	calls        chan struct{} // closed: it calls
	obeys        bool          // it ends with its connection
	once         sync.Once
	gone         chan struct{}
	exit         Exit
}

func (p *fakeProcess) living() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

func (p *fakeProcess) run() {
	_, _ = io.Copy(io.Discard, p.theirs)
	if p.obeys {
		p.die(Exit{})
	}
}

// die ends the process.
func (p *fakeProcess) die(exit Exit) {
	p.once.Do(func() {
		p.exit = exit
		p.m.said("end %d: %v", p.session, exit)
		close(p.gone)
		_ = p.theirs.Close()
	})
}

func (p *fakeProcess) Accept(ctx context.Context) (net.Conn, error) {
	select {
	case <-p.calls:
		return p.ours, nil
	case <-ctx.Done():
		_ = p.ours.Close()
		return nil, context.Cause(ctx)
	}
}

func (p *fakeProcess) Wait() Exit {
	<-p.gone
	return p.exit
}

func (p *fakeProcess) Kill() error {
	p.m.said("kill %d", p.session)
	p.die(Exit{Code: 1})
	return nil
}

// fakeDesk is a desk that reads its connection as gRPC does.
type fakeDesk struct {
	mu     sync.Mutex
	state  desktop.State // what was said last; zero: a helper serves
	all    []desktop.State
	secret []byte
	refuse error         // Connect fails
	slow   time.Duration // how long Connect takes
	said   func(f string, a ...any)
}

func (d *fakeDesk) Connect(ctx context.Context, conn net.Conn, secret []byte) error {
	if d.slow > 0 {
		select {
		case <-time.After(d.slow):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		return d.refuse
	}
	d.state, d.secret = desktop.State{}, secret
	d.said("connect")
	go func() {
		_, err := io.Copy(io.Discard, conn)
		d.said("connection over: %v", err)
	}()
	return nil
}

func (d *fakeDesk) Absent(state desktop.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state, d.all = state, append(d.all, state)
	d.said("absent: %v", state.Kind)
}

func (d *fakeDesk) now() desktop.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

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
	w.d = &fakeDesk{said: w.say}
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
