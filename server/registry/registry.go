// Package registry says which session holds which machine. The same agent's newer
// session takes over at once; another agent is refused while the first one
// answers. It sends nothing: sessions end themselves when they are told to.
package registry

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Why a session ends or is refused.
var (
	// ErrTakenOver ends a session whose agent has opened a newer one.
	ErrTakenOver = errors.New("a newer stream of this agent has taken over")
	// ErrFenced ends a session whose agent no longer answered when another one came.
	ErrFenced = errors.New("another agent holds the machine, since this one no longer answered")
	// ErrConflict refuses an agent while another one holds the machine.
	ErrConflict = errors.New("another agent holds the machine")
)

// ProbeTimeout is how long the holder has to answer when another agent comes.
const ProbeTimeout = 2 * time.Second

// Session is what a registry needs of the one that asks for a machine.
type Session struct {
	ID      string
	SpoolID string // the agent's memory: the same agent has the same
	// End ends the session with the reason given; it does not block.
	End func(error)
	// Probe asks the agent for an answer and says whether it came before ctx ended.
	Probe func(ctx context.Context) bool
	Info  Info
}

// Info is what an agent says about itself and its desktop, for those who look.
type Info struct {
	AgentVersion    string
	ProtocolVersion int
	Capabilities    []string // what the agent can do beyond the protocol version
	LastExit        string
	Monitors        []Monitor
	DesktopKind     int // by its number in the schema
	DesktopWhy      string
}

// Monitor is one monitor of a machine's desktop, in physical pixels.
type Monitor struct {
	Index, X, Y, Width, Height int
	Scale                      float64
	Primary                    bool
}

// Machine is one machine as the registry sees it.
type Machine struct {
	ID         string
	SessionID  string // empty: no agent holds it
	ChangedAt  time.Time
	ConflictAt time.Time // another agent was refused; zero: never
	DesktopAt  time.Time // since when the desktop is in its state, as far as was said; zero: nothing was
	Info       Info
}

// Registry holds who has which machine. The zero value is ready.
type Registry struct {
	// Changed is told that Machine gives something else for a machine now. It must
	// not block; it is set before the registry is used, or never.
	Changed func(machineID string)

	mu       sync.Mutex
	machines map[string]*machine
}

type machine struct {
	claim  chan struct{} // holds one token: one claim at a time
	holder *Session
	view   Machine
}

func (r *Registry) changed(machineID string) {
	if r.Changed != nil {
		r.Changed(machineID)
	}
}

func (r *Registry) machine(id string) *machine {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.machines == nil {
		r.machines = map[string]*machine{}
	}
	m := r.machines[id]
	if m == nil {
		m = &machine{claim: make(chan struct{}, 1), view: Machine{ID: id}}
		r.machines[id] = m
	}
	return m
}

// Claim gives a machine to a session, or refuses with ErrConflict. The session
// that held it before is ended. opened tells the machine's owner before anybody
// else can claim, so that it learns of sessions in their order; when it fails, the
// machine is held by nobody. Otherwise Release must follow. Claims wait for each
// other; when ctx ends first, its cause is returned.
func (r *Registry) Claim(ctx context.Context, machineID string, s Session, opened func() error) error {
	m := r.machine(machineID)
	select {
	case m.claim <- struct{}{}:
		defer func() { <-m.claim }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	r.mu.Lock()
	before := m.holder
	r.mu.Unlock()
	why := ErrTakenOver
	if before != nil && before.SpoolID != s.SpoolID {
		if err := r.probe(ctx, m, before); err != nil {
			return err
		}
		why = ErrFenced
	}
	r.mu.Lock()
	m.holder = &s
	m.noteDesktop(s.Info.DesktopKind)
	m.view.SessionID, m.view.Info = s.ID, s.Info
	m.view.ChangedAt = time.Now()
	r.mu.Unlock()
	r.changed(machineID)
	if before != nil {
		before.End(why)
	}
	if err := opened(); err != nil {
		r.Release(machineID, s.ID)
		return err
	}
	return nil
}

// probe asks the holder whether it is there; nil: it is silent, or gone.
func (r *Registry) probe(ctx context.Context, m *machine, holder *Session) error {
	wait, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	alive := holder.Probe(wait)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !alive || !r.noteConflict(m, holder) {
		return nil
	}
	r.changed(m.view.ID)
	return ErrConflict
}

// noteConflict notes that the holder was asked for its machine and keeps it; it
// says whether it still holds it.
func (r *Registry) noteConflict(m *machine, holder *Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.holder != holder {
		return false
	}
	m.view.ConflictAt = time.Now()
	return true
}

// Release gives a machine back. A session that does not hold it any more changes
// nothing: a late clean-up removes only its own.
func (r *Registry) Release(machineID, sessionID string) {
	r.ofHolder(machineID, sessionID, func(m *machine) {
		m.holder = nil
		m.view.SessionID, m.view.ChangedAt = "", time.Now()
	})
}

// SetDesktop notes the desktop's state, as the machine's session says.
func (r *Registry) SetDesktop(machineID, sessionID string, kind int, why string) {
	r.ofHolder(machineID, sessionID, func(m *machine) {
		m.noteDesktop(kind)
		m.view.Info.DesktopKind, m.view.Info.DesktopWhy = kind, why
	})
}

// noteDesktop notes since when the desktop is in the state that it is said to be in
// now. Other words for the same state, and another session, change nothing.
func (m *machine) noteDesktop(kind int) {
	if m.view.DesktopAt.IsZero() || kind != m.view.Info.DesktopKind {
		m.view.DesktopAt = time.Now()
	}
}

// ofHolder lets the session that holds a machine change it, and no other one.
func (r *Registry) ofHolder(machineID, sessionID string, change func(*machine)) {
	m := r.machine(machineID)
	r.mu.Lock()
	holds := m.holder != nil && m.holder.ID == sessionID
	if holds {
		change(m)
	}
	r.mu.Unlock()
	if holds {
		r.changed(machineID)
	}
}

// Machines returns every machine that an agent has ever asked for.
func (r *Registry) Machines() []Machine {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Machine, 0, len(r.machines))
	for _, m := range r.machines {
		all = append(all, m.view)
	}
	return all
}

// Machine returns one machine; one that no agent has ever asked for has its id
// alone.
func (r *Registry) Machine(machineID string) Machine {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.machines[machineID]; m != nil {
		return m.view
	}
	return Machine{ID: machineID}
}

// Held says whether a session holds the machine.
func (r *Registry) Held(machineID string) bool { return r.Machine(machineID).SessionID != "" }
