package supervise

import (
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
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
	takes  atomic.Bool // Connect runs
	t      *testing.T
}

func (d *fakeDesk) Connect(ctx context.Context, conn net.Conn, secret []byte) error {
	d.takes.Store(true)
	defer d.takes.Store(false)
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
	if d.takes.Load() {
		d.t.Error("the desk is told of an absence while it takes a helper")
	}
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
