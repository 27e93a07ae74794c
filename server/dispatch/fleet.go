package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reprise-rpa/reprise/server/replay"
)

// Store is what a fleet needs of the durable log to begin with.
type Store interface {
	Journal
	// Live calls f for every record of every live replay, replay by replay in
	// the order of their creation, each one's records in order.
	Live(ctx context.Context, f func(replay.Record) error) error
	// EndedIDs returns the ids of the ended replays that are still kept, by machine.
	EndedIDs(ctx context.Context) (map[string][]string, error)
}

// Fleet holds the loop of every machine.
type Fleet struct {
	cfg       Config
	store     Store
	observer  Observer
	log       *slog.Logger
	scanEvery time.Duration
	swept     func(found Swept, machines int, took time.Duration)

	mu       sync.Mutex
	ctx      context.Context // of Run; nil before
	draining bool
	stopped  bool // Run is ending: no loop starts any more
	loops    map[string]*Loop
	wg       sync.WaitGroup
}

// FleetConfig sets up a fleet. All fields but Log are required.
type FleetConfig struct {
	Machine   Config
	Store     Store
	Observer  Observer
	Log       *slog.Logger                                        // nil means discard
	ScanEvery time.Duration                                       // between two sweeps; 0: none
	Swept     func(found Swept, machines int, took time.Duration) // is told what each sweep found and how long it took
}

// Recover makes a fleet from the journal. Nothing is dispatched before Run.
func Recover(ctx context.Context, c FleetConfig) (*Fleet, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	f := &Fleet{
		cfg: c.Machine, store: c.Store, observer: c.Observer, log: c.Log,
		scanEvery: c.ScanEvery, swept: c.Swept, loops: map[string]*Loop{},
	}
	live := map[string][]*replay.Replay{}
	var last *replay.Replay
	err := c.Store.Live(ctx, func(rec replay.Record) error {
		if last == nil || last.ID != rec.ReplayID {
			last = &replay.Replay{}
		}
		if err := last.Apply(rec); err != nil {
			return err
		}
		if rec.Seq == 1 {
			live[last.MachineID] = append(live[last.MachineID], last)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("recover the journal: %w", err)
	}
	ended, err := c.Store.EndedIDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("recover the journal: %w", err)
	}
	now := time.Now()
	for id := range live {
		f.loops[id] = newLoop(NewMachine(id, c.Machine, now, live[id], ended[id]), c.Store, c.Observer, c.Log)
	}
	for id := range ended {
		if f.loops[id] == nil {
			f.loops[id] = newLoop(NewMachine(id, c.Machine, now, nil, ended[id]), c.Store, c.Observer, c.Log)
		}
	}
	return f, nil
}

// Run runs the loops and sweeps until ctx ends, and returns its cause.
func (f *Fleet) Run(ctx context.Context) error {
	f.mu.Lock()
	f.ctx = ctx
	for _, l := range f.loops {
		f.start(l)
	}
	f.mu.Unlock()
	defer f.stop()
	if f.scanEvery <= 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	tick := time.NewTicker(f.scanEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			f.sweep(ctx)
		}
	}
}

// stop waits for the loops, which end with Run's context.
func (f *Fleet) stop() {
	f.mu.Lock()
	f.stopped = true
	f.mu.Unlock()
	f.wg.Wait()
}

// start must be called with the lock held, once per loop.
func (f *Fleet) start(l *Loop) {
	if f.stopped {
		close(l.done)
		return
	}
	ctx := f.ctx
	f.wg.Go(func() { _ = l.run(ctx) }) // it ends by ctx alone, whose cause Run returns
}

// Loop returns the loop of a machine; one that is not known yet gets one.
func (f *Fleet) Loop(machineID string) *Loop {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.loops[machineID]
	if l == nil {
		m := NewMachine(machineID, f.cfg, time.Now(), nil, nil)
		m.draining = f.draining
		l = newLoop(m, f.store, f.observer, f.log)
		f.loops[machineID] = l
		if f.ctx != nil {
			f.start(l)
		}
	}
	return l
}

// Machines returns the ids of the machines that have a loop.
func (f *Fleet) Machines() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := make([]string, 0, len(f.loops))
	for id := range f.loops {
		ids = append(ids, id)
	}
	return ids
}

// Drain stops dispatching on every machine, also on those that are not known yet.
// It returns once nothing is in flight any more on machines whose agent is there,
// or ctx ends. A machine that is busy holds up no other one.
func (f *Fleet) Drain(ctx context.Context) error {
	f.mu.Lock()
	f.draining = true
	loops := slices.Collect(maps.Values(f.loops))
	f.mu.Unlock()
	var g errgroup.Group
	for _, l := range loops {
		g.Go(func() error { return l.drain(ctx) })
	}
	return g.Wait()
}

// drainPoll is how often a draining machine is looked at.
const drainPoll = 20 * time.Millisecond

func (l *Loop) drain(ctx context.Context) error {
	if err := l.Post(ctx, Drain{}); err != nil {
		return err
	}
	poll := time.NewTicker(drainPoll)
	defer poll.Stop()
	for {
		inFlight, err := ask(ctx, l, func(m *Machine) int {
			if m.session == nil {
				return 0
			}
			return m.pending.Len()
		})
		if err != nil || inFlight == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-poll.C:
		}
	}
}

// Machines look at their deadlines a few at a time: a dispatch on any machine waits
// in the scheduler's queue behind those that were woken before it. Who does not
// answer soon is busy, and the next ones are asked meanwhile.
const (
	sweepAtOnce   = 16
	sweepPatience = time.Millisecond
)

// sweep asks every machine to look once more. A machine that is busy holds up no
// other one: its answer is simply missing.
func (f *Fleet) sweep(ctx context.Context) {
	start := time.Now()
	machines := f.Machines()
	found := make(chan Swept, len(machines))
	var sum Swept
	asked, answered := 0, 0
	collect := func(patience time.Duration) {
		late := time.NewTimer(patience)
		defer late.Stop()
		for answered < asked {
			select {
			case s := <-found:
				answered++
				sum.add(s)
			case <-late.C:
				return
			case <-ctx.Done():
				return
			}
		}
	}
	for some := range slices.Chunk(machines, sweepAtOnce) {
		for _, id := range some {
			if f.Loop(id).TryPost(Sweep{Done: func(s Swept) { found <- s }}) {
				asked++
			}
		}
		collect(sweepPatience)
	}
	collect(f.scanEvery/2 - time.Since(start))
	if ctx.Err() != nil {
		return
	}
	sum.Unanswered = len(machines) - answered
	f.swept(sum, len(machines), time.Since(start))
}

func (s *Swept) add(other Swept) {
	s.Orphans += other.Orphans
	s.Resent += other.Resent
	s.GaveUp += other.GaveUp
	s.Skipped += other.Skipped
	s.InFlight += other.InFlight
}
