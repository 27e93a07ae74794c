// Package recovery measures how long a server that starts again is not ready, and
// compares it with reading the same rows from the same database with the same
// driver and nothing else. It measures opening the journal and recovering the
// fleet, which is what a server does before it serves; it leaves out certificates,
// pictures and the start of the process, which do not grow with what is queued.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/journal"
)

// Config sets up a measurement. The zero value of each field means its default.
type Config struct {
	Replays     int // live ones, each on a machine of its own; 0 means 1,000
	Queued      int // actions of each replay that are queued; 0 means 100
	Settled     int // actions of each replay that were dispatched and reported before
	Repetitions int // 0 means 3
	// Dir is where the journal lies while it is measured, in a folder of its own
	// that is removed again; empty means the system's folder for temporary files.
	Dir string
}

// Result is what was measured. The durations are medians over the repetitions; so
// is the ratio, of the ratios of the single repetitions.
type Result struct {
	Replays, Queued int           // found by the recovered fleet
	Records         int           // read by both sides
	Bytes           int64         // of those records
	Raw             time.Duration // opening the database and reading the rows
	Open            time.Duration // opening the journal
	Recover         time.Duration // from then on until the fleet is there
	Ready           time.Duration // both
	Ratio           float64       // Ready to Raw
}

// Measure fills a journal and recovers it again and again, each time with nothing
// in memory of the time before. The operating system has the file in its cache,
// for both sides.
func Measure(ctx context.Context, c Config) (_ Result, err error) {
	c = c.filled()
	dir, err := os.MkdirTemp(c.Dir, "recovery-")
	if err != nil {
		return Result{}, fmt.Errorf("measure recovery: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := fill(ctx, dir, c); err != nil {
		return Result{}, fmt.Errorf("measure recovery: fill the journal: %w", err)
	}
	if _, err := readRaw(ctx, dir); err != nil { // what a process does once, before both
		return Result{}, fmt.Errorf("measure recovery: %w", err)
	}
	list := make([]repetition, c.Repetitions)
	for i := range list {
		if list[i], err = repeat(ctx, dir); err != nil {
			return Result{}, fmt.Errorf("measure recovery: %w", err)
		}
	}
	return sum(list), nil
}

func (c Config) filled() Config {
	if c.Replays <= 0 {
		c.Replays = 1000
	}
	if c.Queued <= 0 {
		c.Queued = 100
	}
	if c.Repetitions <= 0 {
		c.Repetitions = 3
	}
	return c
}

type repetition struct {
	rows          rows
	found         found
	raw, open, up time.Duration
}

func repeat(ctx context.Context, dir string) (r repetition, err error) {
	runtime.GC()
	start := time.Now()
	if r.rows, err = readRaw(ctx, dir); err != nil {
		return r, fmt.Errorf("read the rows: %w", err)
	}
	r.raw = time.Since(start)

	runtime.GC()
	start = time.Now()
	j, err := journal.Open(ctx, journal.Options{Dir: dir})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	r.open = time.Since(start)
	fleet, err := dispatch.Recover(ctx, fleetConfig(j))
	if err != nil {
		return r, err
	}
	r.up = time.Since(start)
	r.found, err = look(ctx, fleet)
	return r, err
}

func sum(list []repetition) Result {
	first := list[0]
	r := Result{
		Replays: first.found.replays, Queued: first.found.queued, Records: first.rows.count, Bytes: first.rows.bytes,
		Raw:     median(list, func(r repetition) time.Duration { return r.raw }),
		Open:    median(list, func(r repetition) time.Duration { return r.open }),
		Recover: median(list, func(r repetition) time.Duration { return r.up - r.open }),
		Ready:   median(list, func(r repetition) time.Duration { return r.up }),
		Ratio:   median(list, func(r repetition) float64 { return float64(r.up) / float64(r.raw) }),
	}
	return r
}

func median[T time.Duration | float64](list []repetition, of func(repetition) T) T {
	values := make([]T, len(list))
	for i, r := range list {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
