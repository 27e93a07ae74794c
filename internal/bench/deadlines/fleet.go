package deadlines

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// errMeasured ends a fleet that was measured.
var errMeasured = errors.New("the fleet was measured")

// world is a running fleet with an action in flight on each machine.
type world struct {
	cfg   Config
	fleet *dispatch.Fleet
	ended chan error
	stop  context.CancelCauseFunc

	due  []time.Time     // by machine, from arm on; its own loop's, until left is 0
	late []time.Duration // likewise
	left atomic.Int64    // machines whose deadline has not fired
	all  chan struct{}   // closed when it is 0

	mu     sync.Mutex
	sweeps []stretch     // that are over
	sweep  chan struct{} // gets one for each
}

// stretch is a time in which dispatches are looked at.
type stretch struct{ from, to time.Time }

func newWorld(ctx context.Context, c Config) (*world, error) {
	w := &world{
		cfg: c, ended: make(chan error, 1), due: make([]time.Time, c.Machines), late: make([]time.Duration, c.Machines),
		all: make(chan struct{}), sweep: make(chan struct{}, c.Sweeps),
	}
	w.left.Store(int64(c.Machines))
	var err error
	w.fleet, err = dispatch.Recover(ctx, dispatch.FleetConfig{
		Machine: dispatch.Config{
			Policy: replay.Policy{MaxResends: 2, MaxRetries: 3, MaxDeliveries: 20, SwallowedInput: 3},
			// Nothing is due while the fleet is built and swept, however slow that is. The
			// first progress of an agent starts the deadline that is measured.
			Timeouts:     pending.Timeouts{Receipt: time.Hour, Orphan: c.Spread + soon},
			OfflineGrace: time.Hour, DeadClientGiveUps: 2, DeadClientWindow: 300 * time.Second,
		},
		Store: weightless{}, Observer: nobody{}, ScanEvery: c.SweepEvery, Swept: w.swept,
	})
	if err != nil {
		return nil, err
	}
	ctx, w.stop = context.WithCancelCause(ctx)
	go func() { w.ended <- w.fleet.Run(ctx) }()
	return w, nil
}

func (w *world) swept(_ dispatch.Swept, _ int, took time.Duration) {
	now := time.Now()
	w.mu.Lock()
	w.sweeps = append(w.sweeps, stretch{from: now.Add(-took), to: now})
	w.mu.Unlock()
	select {
	case w.sweep <- struct{}{}:
	default:
	}
}

// measure returns what the fleet shows, and when its deadlines fell due, from the
// first of them on.
func (w *world) measure(ctx context.Context) (r Result, due []time.Duration, err error) {
	defer func() {
		w.stop(errMeasured)
		if ended := <-w.ended; err == nil && !errors.Is(ended, errMeasured) {
			err = ended
		}
	}()
	r.Machines = w.cfg.Machines
	before := memory()
	if err := w.fill(ctx); err != nil {
		return r, nil, err
	}
	r.BytesPerMachine = (memory() - before) / int64(w.cfg.Machines)
	if err := w.watchSweeps(ctx, &r); err != nil {
		return r, nil, err
	}
	if err := w.arm(ctx); err != nil {
		return r, nil, err
	}
	select {
	case <-w.all:
	case <-ctx.Done():
		return r, nil, context.Cause(ctx)
	}
	first := slices.MinFunc(w.due, time.Time.Compare)
	for _, at := range w.due {
		due = append(due, at.Sub(first))
	}
	r.Fleet = lateness(w.late)
	return r, due, nil
}

// fill dispatches an action on each machine.
func (w *world) fill(ctx context.Context) error {
	for i := range w.cfg.Machines {
		if err := begin(ctx, w.fleet, name(i), 2, &silent{w: w, machine: i}); err != nil {
			return err
		}
	}
	for i := range w.cfg.Machines { // those are all done when these are
		if err := w.fleet.Loop(name(i)).Do(ctx, func(*dispatch.Machine) {}); err != nil {
			return err
		}
	}
	return nil
}

// arm starts the machines' deadlines, evenly over the spread.
func (w *world) arm(ctx context.Context) error {
	started, tick := time.Now(), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := 0; i < w.cfg.Machines; {
		upTo := int(float64(w.cfg.Machines) * time.Since(started).Seconds() / w.cfg.Spread.Seconds())
		for ; i < min(upTo, w.cfg.Machines); i++ {
			loop := w.fleet.Loop(name(i))
			in := dispatch.Progress{SessionID: "session-" + name(i), ActionID: "replay-" + name(i) + "-1", Phase: pending.Executing}
			if err := loop.Post(ctx, in); err != nil {
				return err
			}
			if err := loop.Do(ctx, func(m *dispatch.Machine) { w.due[i], _ = m.Next() }); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func name(machine int) string { return fmt.Sprintf("desk-%06d", machine) }

// begin submits a replay of so many clicks to a machine and opens a session.
func begin(ctx context.Context, fleet *dispatch.Fleet, machine string, clicks int, conn dispatch.Conn) error {
	if err := submit(ctx, fleet, machine, "replay-"+machine, clicks); err != nil {
		return err
	}
	session := replay.Session{ID: "session-" + machine, SpoolID: "spool", BootID: "boot"}
	return fleet.Loop(machine).Open(ctx, dispatch.Open{Session: dispatch.Session{Session: session, Usable: true}}, conn)
}

// submit queues a replay of so many clicks on a machine.
func submit(ctx context.Context, fleet *dispatch.Fleet, machine, id string, clicks int) error {
	created := replay.Created{MachineID: machine, Workflow: "admission", Steps: slices.Repeat([]replay.Step{click}, clicks)}
	return fleet.Loop(machine).Post(ctx, dispatch.Submit{ReplayID: id, Created: created, Reply: func(dispatch.Answer) {}})
}

var click = replay.Step{Kind: "click", Payload: make([]byte, 200), Critical: true, ChangesScreen: true, MaxRetries: -1}

// silent is an agent that takes a dispatch and says nothing: its deadline passes,
// and what it is sent then says how late that was noticed.
type silent struct {
	w       *world
	machine int
}

func (s *silent) Send(e dispatch.Effect) {
	d, ok := e.(dispatch.Deliver)
	if !ok || d.Delivery.Number != 2 {
		return
	}
	s.w.late[s.machine] = time.Since(s.w.due[s.machine])
	if s.w.left.Add(-1) == 0 {
		close(s.w.all)
	}
}

func (*silent) Close(error) {}

// memory returns the bytes of all that lives, stacks included.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// weightless is a journal that keeps nothing and takes no time.
type weightless struct{}

func (weightless) Append(context.Context, []replay.Entry) error            { return nil }
func (weightless) LiveOf(context.Context, string) ([]replay.Record, error) { return nil, nil }
func (weightless) Live(context.Context, func(replay.Record) error) error   { return nil }
func (weightless) EndedIDs(context.Context) (map[string][]string, error)   { return nil, nil }

// nobody is told what happens.
type nobody struct{}

func (nobody) Note(string, dispatch.Note)    {}
func (nobody) Changed(string, dispatch.View) {}
func (nobody) Appended(time.Duration, error) {}
func (nobody) InFlight(string, int)          {}
