// Package registry says which session holds which machine. The same agent's newer
// session takes over at once; another agent is refused while the first one
// answers. It sends nothing: sessions end themselves when they are told to. Seat is
// the decision, a value without locks and clocks; Registry guards one for each
// machine, asks and ends holders, and keeps what people want to see of a machine.
package registry

import (
	"context"
	"sync"
	"time"
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
	seat   Seat
	holder *Session // the one that seat names; nil: nobody
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
// other; when ctx ends first, its cause is returned. A session whose ctx has ended
// ends nobody: its agent has cut it, and may hold the machine by a newer one.
func (r *Registry) Claim(ctx context.Context, machineID string, s Session, opened func() error) error {
	m := r.machine(machineID)
	select {
	case m.claim <- struct{}{}:
		defer func() { <-m.claim }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := r.take(ctx, m, &s); err != nil {
		return err
	}
	if err := opened(); err != nil {
		r.Release(machineID, s.ID)
		return err
	}
	return nil
}

// take follows a claim to its end, asks the holder when it must and ends it when it
// has lost the machine. It returns why the claim is refused.
func (r *Registry) take(ctx context.Context, m *machine, s *Session) error {
	c, holder := r.decide(ctx, m, s, func(seat *Seat) Claimed { return seat.Claim(s.ID, s.SpoolID) })
	for c.Probe != "" {
		probed, answered := c.Probe, probe(ctx, holder)
		c, holder = r.decide(ctx, m, s, func(seat *Seat) Claimed { return seat.Probed(s.ID, s.SpoolID, probed, answered) })
	}
	r.changed(m.view.ID)
	if c.Ends != "" {
		holder.End(c.Why)
	}
	return c.Err
}

// decide asks the machine's seat and notes what follows; once ctx has ended it only
// refuses. The session that it returns held the machine before; nil: nobody did.
func (r *Registry) decide(ctx context.Context, m *machine, s *Session, ask func(*Seat) Claimed) (Claimed, *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil { // asked under the lock: whoever was granted it before may be why
		return Claimed{Err: context.Cause(ctx)}, nil
	}
	before, c := m.holder, ask(&m.seat)
	switch {
	case c.Granted:
		m.holder = s
		m.noteDesktop(s.Info.DesktopKind)
		m.view.SessionID, m.view.Info, m.view.ChangedAt = s.ID, s.Info, time.Now()
	case c.Err != nil:
		m.view.ConflictAt = time.Now()
	}
	return c, before
}

// probe asks a holder whether it is there.
func probe(ctx context.Context, holder *Session) bool {
	wait, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	return holder.Probe(wait)
}

// Release gives a machine back. A session that does not hold it any more changes
// nothing: a late clean-up removes only its own.
func (r *Registry) Release(machineID, sessionID string) {
	r.ofHolder(machineID, sessionID, func(m *machine) {
		m.seat.Release(sessionID)
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
