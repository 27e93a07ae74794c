// Bench measures how soon a machine gets its next action and how many actions a
// server settles with many machines, as ratios to what a raw gRPC stream and a
// commit take in the same run. What the table means is in docs/benchmarks.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/reprise-rpa/reprise/internal/bench/systems"
)

func main() {
	if err := start(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func start(args []string) error {
	if len(args) == 2 && args[0] == systems.ServeFlag {
		// The parent ends its children: an interrupt reaches both, and is the parent's.
		signal.Ignore(os.Interrupt)
		return systems.Serve(context.Background(), args[1], os.Stdin, os.Stdout)
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return run(ctx, o, os.Stdout)
}

// options is what the flags say.
type options struct {
	goal         string
	dir          string
	memory       string
	repetitions  int
	machines     int
	profileLines int
	against      string
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.goal, "goal", "all", "what to measure: n1 (one machine), n2 (100 and 1,000 machines) or all")
	f.StringVar(&o.dir, "dir", ".bench", "`folder` for data and profiles; it must lie on a disk that keeps what is synced")
	f.StringVar(&o.memory, "memory", "/dev/shm", "`folder` in memory, to measure with commits switched off")
	f.IntVar(&o.repetitions, "repetitions", 5, "how often each is measured, in turn with the others; at least 3")
	f.IntVar(&o.machines, "machines", 0, "measure n2 with so many machines alone, 100 or 1000; 0: with both")
	f.IntVar(&o.profileLines, "profile", 25, "how many lines of each profile to print; 0: take none")
	f.StringVar(&o.against, "against", "", "measure n2 against the bench `program` of another build, and nothing else")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("%q is not known", f.Arg(0))
	case !slices.Contains([]string{"n1", "n2", "all"}, o.goal):
		return o, fmt.Errorf("-goal is n1, n2 or all, not %q", o.goal)
	case o.repetitions < 3:
		return o, fmt.Errorf("-repetitions is at least 3, not %d", o.repetitions)
	case o.machines != 0 && o.machines != 100 && o.machines != 1000:
		return o, fmt.Errorf("-machines is 100 or 1000, not %d", o.machines)
	case o.profileLines < 0:
		return o, fmt.Errorf("-profile is a number of lines, not %d", o.profileLines)
	}
	o.dir, err = filepath.Abs(o.dir)
	return o, err
}
