package servertest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/id"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// Agent is a machine's agent. Its methods may be called from any goroutine, also
// from its [Script].
type Agent struct {
	machine string
	conn    *grpc.ClientConn
	log     *slog.Logger
	script  Script
	life    context.Context // until end
	stop    context.CancelFunc
	work    sync.WaitGroup // all its goroutines

	mu      sync.Mutex
	changed chan struct{}        // closed at each change of what follows
	steps   map[string]*sequence // by the step's own name
	tries   map[[2]string]int    // by replay and step
	memory  *memory
	process process
	present bool    // it has, or tries to get, a stream
	stream  *stream // nil: none is open
	running *running
	waiting *reprisev1.Dispatch // received, and not begun
	desktop *reprisev1.DesktopState
	screen  []byte
	calls   []Call
	touched []string
	pauses  []*reprisev1.Pause
}

// process is what ends with the agent's process.
type process struct {
	boot     string
	lastExit string // how the one before ended
}

// sequence is the reactions of one step.
type sequence struct {
	reactions []Reaction
	next      int
}

func newAgent(machine string, script Script, conn *grpc.ClientConn, log *slog.Logger) *Agent {
	if script == nil {
		script = func(Call) Reaction { return Succeed() }
	}
	return &Agent{
		machine: machine, conn: conn, log: log.With(logkeys.Machine, machine), script: script,
		changed: make(chan struct{}), steps: map[string]*sequence{}, tries: map[[2]string]int{},
		memory: newMemory(id.New("spool")), process: process{boot: id.New("boot")}, present: true,
		desktop: &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE}, screen: blank(),
	}
}

// MachineID returns the id of the agent's machine.
func (a *Agent) MachineID() string { return a.machine }

// On sets the reactions of the step with that name, whichever replay it is of: the
// first execution from now on gets the first, the next one the second, and all
// others the last. Without reactions the step is the script's again.
func (a *Agent) On(step string, reactions ...Reaction) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(reactions) == 0 {
		delete(a.steps, step)
		return
	}
	a.steps[step] = &sequence{reactions: slices.Clone(reactions)}
}

// Executed returns the steps that have touched the desktop, by their own names, in
// order: also those that failed or were cut off after something was sent. A step
// that was run twice is there twice.
func (a *Agent) Executed() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.touched)
}

// Calls returns all that the agent was asked to execute, in order. What it answered
// from memory is not among them.
func (a *Agent) Calls() []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

// Pauses returns the pauses that were shown at the machine, in order, each once.
func (a *Agent) Pauses() []*reprisev1.Pause {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.pauses)
}

// Await waits until the agent was asked to execute a step, by its own name.
func (a *Agent) Await(ctx context.Context, step string) error {
	return a.await(ctx, "was asked for "+step, func() bool {
		return slices.ContainsFunc(a.calls, func(c Call) bool { return c.Step == step })
	})
}

// AwaitConnected waits until the server has taken the agent's stream.
func (a *Agent) AwaitConnected(ctx context.Context) error {
	return a.await(ctx, "is connected", func() bool { return a.stream != nil && a.stream.welcomed })
}

func (a *Agent) await(ctx context.Context, what string, holds func() bool) error {
	for {
		a.mu.Lock()
		ok, changed := holds(), a.changed
		a.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("servertest: waiting until the agent of %s %s: %w", a.machine, what, context.Cause(ctx))
		}
	}
}

// change changes the agent's state and wakes those who wait for it.
func (a *Agent) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	close(a.changed)
	a.changed = make(chan struct{})
}

// Die ends the agent's process, as a crash would: an action in the middle has no
// result, and nobody knows how it ended. Nothing comes of it until Return.
func (a *Agent) Die() {
	a.change(func() {
		a.die()
		a.present = false
	})
}

// die ends the process. The caller holds mu.
func (a *Agent) die() {
	if a.running != nil {
		a.running.cancel(errDied)
		a.running = nil
	}
	a.waiting = nil
	a.hangUp()
	a.process = process{boot: id.New("boot"), lastExit: "killed"}
}

// Disconnect takes the agent off the network; its process lives, and what it
// executes goes on. Return brings it back.
func (a *Agent) Disconnect() {
	a.change(func() {
		a.hangUp()
		a.present = false
	})
}

// hangUp ends the stream. The caller holds mu.
func (a *Agent) hangUp() {
	if a.stream != nil {
		a.stream.cancel()
		a.stream = nil
	}
	a.waiting = nil // it was received on that stream
}

// Return starts the agent's process after Die, and connects it after Disconnect.
func (a *Agent) Return() { a.change(func() { a.present = true }) }

// Reinstall is Die, and the agent's memory is gone as well: when it returns it no
// longer knows what it did.
func (a *Agent) Reinstall() {
	a.change(func() {
		a.die()
		a.present = false
		a.memory = newMemory(id.New("spool"))
	})
}

// Lock locks the desktop: nothing is executed on it until Unlock.
func (a *Agent) Lock() {
	a.SetDesktop(&reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED, Detail: "the workstation is locked"})
}

// Unlock makes the desktop take input again.
func (a *Agent) Unlock() {
	a.SetDesktop(&reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE})
}

// SetDesktop sets the state of the desktop and tells the server.
func (a *Agent) SetDesktop(d *reprisev1.DesktopState) {
	a.change(func() { a.setDesktop(d) })
}

func (a *Agent) setDesktop(d *reprisev1.DesktopState) {
	a.desktop = d
	a.send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_DesktopState{DesktopState: d}})
}

// SetScreen sets what CaptureScreen and screenshot actions see, a PNG file.
func (a *Agent) SetScreen(png []byte) { a.change(func() { a.screen = slices.Clone(png) }) }

// Ask is what the person at the machine asks for: to stop, to take over, to go on.
func (a *Agent) Ask(kind reprisev1.PersonRequestKind) {
	a.change(func() {
		a.send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_PersonRequest{PersonRequest: &reprisev1.PersonRequest{Kind: kind}}})
	})
}

// reconnectAfter is how soon an agent tries again when the server has ended its
// stream.
const reconnectAfter = 10 * time.Millisecond

// run keeps the agent connected, while it is present, until end.
func (a *Agent) run(ctx context.Context) {
	a.life, a.stop = context.WithCancel(ctx)
	a.work.Go(func() {
		for a.await(a.life, "is there", func() bool { return a.present }) == nil {
			err := a.connect(a.life)
			a.log.Debug("the agent's stream has ended", logkeys.Error, err)
			if wait.For(a.life, reconnectAfter) != nil {
				return
			}
		}
	})
}

// end ends the agent for good.
func (a *Agent) end() {
	a.stop()
	a.Die()
	a.work.Wait()
	_ = a.conn.Close() // it has nothing more to say
}
