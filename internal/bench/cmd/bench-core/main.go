// Command bench-core measures what a server does by itself, without agents: whether
// deadlines fire when they are due and how long a restart takes, each against
// something measured in the same run. It prints the medians; a noisy machine makes
// them worse, never better.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"syscall"
	"time"

	"github.com/reprise-rpa/reprise/internal/bench/deadlines"
	"github.com/reprise-rpa/reprise/internal/bench/recovery"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-core:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	repetitions, machines, replays int
	spread, sweepEvery             time.Duration
	only, profile                  string
}

func run(ctx context.Context, args []string, w io.Writer) (err error) {
	var o options
	flags := flag.NewFlagSet("bench-core", flag.ContinueOnError)
	flags.IntVar(&o.repetitions, "reps", 3, "repetitions; the medians are printed")
	flags.IntVar(&o.machines, "machines", 100_000, "machines with an action in flight")
	flags.IntVar(&o.replays, "replays", 1000, "live replays at a restart, with 100 queued actions each")
	flags.DurationVar(&o.spread, "spread", 10*time.Second, "time over which the deadlines fall due")
	flags.DurationVar(&o.sweepEvery, "sweep-every", 10*time.Second, "time between two sweeps")
	flags.StringVar(&o.only, "only", "", "measure only this goal: N5 or N6")
	flags.StringVar(&o.profile, "cpuprofile", "", "file that gets a profile of all of it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.profile != "" {
		end, err := profile(o.profile)
		if err != nil {
			return err
		}
		defer end()
	}
	t := newTable(w)
	if o.only != "N6" {
		if err := watchdog(ctx, o, t); err != nil {
			return err
		}
	}
	if o.only != "N5" {
		if err := restart(ctx, o, t); err != nil {
			return err
		}
	}
	return t.flush()
}

func profile(path string) (end func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}

func watchdog(ctx context.Context, o options, t *table) error {
	var list []deadlines.Result
	for range o.repetitions {
		r, err := deadlines.Measure(ctx, deadlines.Config{Machines: o.machines, Spread: o.spread, SweepEvery: o.sweepEvery})
		if err != nil {
			return err
		}
		list = append(list, r)
	}
	fleet := func(r deadlines.Result) time.Duration { return r.Fleet.P99 }
	compare(t, "N5", fmt.Sprintf("%d deadlines: 99 of 100 fire within", o.machines), median(list, fleet), 20*time.Millisecond)
	t.note("lateness p50 / p99 / max: loops", median(list, func(r deadlines.Result) time.Duration { return r.Fleet.P50 }),
		median(list, fleet), median(list, func(r deadlines.Result) time.Duration { return r.Fleet.Max }))
	t.note("bare timers", median(list, func(r deadlines.Result) time.Duration { return r.Bare.P50 }),
		median(list, func(r deadlines.Result) time.Duration { return r.Bare.P99 }), median(list, func(r deadlines.Result) time.Duration { return r.Bare.Max }))
	t.note("one pending map", median(list, func(r deadlines.Result) time.Duration { return r.Map.P50 }),
		median(list, func(r deadlines.Result) time.Duration { return r.Map.P99 }), median(list, func(r deadlines.Result) time.Duration { return r.Map.Max }))
	t.note("loops to bare timers, p99", median(list, deadlines.Result.Ratio))
	compare(t, "N5", "a dispatch waits for a sweep at worst", median(list, deadlines.Result.Blocked), time.Millisecond)
	t.note("sweep; worst dispatch during, between", median(list, func(r deadlines.Result) time.Duration { return r.Sweep }),
		median(list, func(r deadlines.Result) time.Duration { return r.Swept.Worst }), median(list, func(r deadlines.Result) time.Duration { return r.Between.Worst }))
	t.note("bytes per machine with an action in flight", median(list, func(r deadlines.Result) int64 { return r.BytesPerMachine }))
	return nil
}

func restart(ctx context.Context, o options, t *table) error {
	for _, shape := range []struct {
		name            string
		queued, settled int
		goal            bool
	}{{"nothing begun", 100, 0, true}, {"half of it done", 50, 50, false}} {
		r, err := recovery.Measure(ctx, recovery.Config{Replays: o.replays, Queued: shape.queued, Settled: shape.settled, Repetitions: max(o.repetitions, 5)})
		if err != nil {
			return err
		}
		what := fmt.Sprintf("restart with %d queued actions, %s, to reading the %d rows", r.Queued, shape.name, r.Records)
		if shape.goal {
			compare(t, "N6", what, r.Ratio, 3.0)
		} else {
			t.note(what, r.Ratio)
		}
		t.note("raw; open, recover", r.Raw, r.Open, r.Recover)
	}
	return nil
}

// median returns the middle of what of gives of each result.
func median[R any, T cmp.Ordered](list []R, of func(R) T) T {
	values := make([]T, len(list))
	for i, r := range list {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
