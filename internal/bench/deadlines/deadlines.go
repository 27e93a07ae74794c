// Package deadlines measures the watchdog with an action in flight on each of many
// machines: how late deadlines fire, against as many bare timers with the same due
// times, and what a sweep over all machines does to a dispatch on one more. It runs
// the real loops in real time. It leaves out streams, metrics and the journal: what
// is appended is lost, at no cost, so that nothing but the watchdog is measured.
package deadlines

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Config sets up a measurement. The zero value of each field means its default.
type Config struct {
	Machines int           // with an action in flight each; 0 means 100,000
	Spread   time.Duration // over which the deadlines fall due, evenly; 0 means 10 s
	Sweeps   int           // how many are watched; 0 means 3
	// SweepEvery is the time between two sweeps; 0 means 10 s, as a server has it.
	// A sweep must take less than half of it: what lies between is compared with.
	SweepEvery time.Duration
	Every      time.Duration // between two dispatches on the machine that is watched; 0 means 500 µs
}

// Result is what was measured.
type Result struct {
	Machines        int
	Fleet           Lateness // from a deadline to the redelivery handed to the session
	Map             Lateness // one pending map with as many entries, one timer, nothing decided
	Bare            Lateness // timers that do nothing
	Sweep           time.Duration
	Swept, Between  Dispatch      // during sweeps, and in stretches of the same length between them
	BytesPerMachine int64         // heap and stacks of a machine with an action in flight
	MapSweep        time.Duration // looking through the pending map when nothing is due
}

// Lateness is how long after they were due things happened.
type Lateness struct{ P50, P99, Max time.Duration }

// Dispatch is the time from a report that is due to be posted to the next action
// handed to the session.
type Dispatch struct {
	P50   time.Duration // of all
	Worst time.Duration // in one stretch; the median over the stretches
}

// Blocked is for how much longer a dispatch takes at worst while a sweep runs.
func (r Result) Blocked() time.Duration { return max(0, r.Swept.Worst-r.Between.Worst) }

// Ratio is how much later than a bare timer a deadline fires, at the 99th percentile.
func (r Result) Ratio() float64 { return float64(r.Fleet.P99) / float64(max(1, r.Bare.P99)) }

// Measure measures once. It takes about three times the spread, and the sweeps.
func Measure(ctx context.Context, c Config) (Result, error) {
	c = c.filled()
	w, err := newWorld(ctx, c)
	if err != nil {
		return Result{}, fmt.Errorf("measure deadlines: %w", err)
	}
	r, due, err := w.measure(ctx)
	if err != nil {
		return r, fmt.Errorf("measure deadlines: %w", err)
	}
	runtime.GC()
	if r.Bare, err = bareTimers(ctx, due); err != nil {
		return r, fmt.Errorf("measure bare timers: %w", err)
	}
	runtime.GC()
	if r.Map, r.MapSweep, err = oneMap(ctx, due); err != nil {
		return r, fmt.Errorf("measure the pending map: %w", err)
	}
	return r, nil
}

func (c Config) filled() Config {
	if c.Machines <= 0 {
		c.Machines = 100_000
	}
	if c.Spread <= 0 {
		c.Spread = 10 * time.Second
	}
	if c.Sweeps <= 0 {
		c.Sweeps = 3
	}
	if c.SweepEvery <= 0 {
		c.SweepEvery = 10 * time.Second
	}
	if c.Every <= 0 {
		c.Every = 500 * time.Microsecond
	}
	return c
}

// lateness sums up; it sorts its argument.
func lateness(late []time.Duration) Lateness {
	if len(late) == 0 {
		return Lateness{}
	}
	slices.Sort(late)
	return Lateness{P50: quantile(late, 0.5), P99: quantile(late, 0.99), Max: late[len(late)-1]}
}

// quantile returns a quantile of a sorted list that is not empty.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
