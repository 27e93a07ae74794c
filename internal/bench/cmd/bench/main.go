// Bench measures how soon a machine gets its next action and how many actions a
// server settles with many machines, as ratios to what a raw gRPC stream and a
// commit take in the same run. What the table means is in docs/benchmarks.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/reprise-rpa/reprise/internal/bench/manymachines"
	"github.com/reprise-rpa/reprise/internal/bench/onemachine"
	"github.com/reprise-rpa/reprise/internal/bench/profile"
	"github.com/reprise-rpa/reprise/internal/bench/report"
	"github.com/reprise-rpa/reprise/internal/bench/systems"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) == 3 && os.Args[1] == systems.ServeFlag {
		// The parent ends its children: an interrupt reaches both, and the parent first.
		signal.Ignore(os.Interrupt)
		exit(systems.Serve(context.Background(), os.Args[2], os.Stdin, os.Stdout))
	}
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// options is what the flags say.
type options struct {
	goal         string
	dir          string
	memory       string
	repetitions  int
	profileLines int
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.goal, "goal", "all", "what to measure: n1 (one machine), n2 (100 and 1,000 machines) or all")
	f.StringVar(&o.dir, "dir", ".bench", "`folder` for data and profiles; it must lie on a disk that keeps what is synced")
	f.StringVar(&o.memory, "memory", "/dev/shm", "`folder` in memory, to measure with commits switched off")
	f.IntVar(&o.repetitions, "repetitions", 5, "how often each is measured, in turn with the others; at least 3")
	f.IntVar(&o.profileLines, "profile", 25, "how many lines of each profile to print; 0: take none")
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
	case o.profileLines < 0:
		return o, fmt.Errorf("-profile is a number of lines, not %d", o.profileLines)
	}
	o.dir, err = filepath.Abs(o.dir)
	return o, err
}

// sizes are the numbers of machines that are measured, with the share of the raw
// stream's rate that is the goal and the actions of each machine. A thousand
// machines do what matters in fewer repetitions.
var sizes = []struct {
	machines, actions int
	rate              float64
	fewer             int
}{
	{machines: 100, actions: 150, rate: 0.7},
	{machines: 1000, actions: 20, rate: 0.8, fewer: 2},
}

// One machine alone does so many actions in a repetition. The disk is the noisiest
// part of it, so its repetitions are short and there are more of them.
const (
	actionsOfOne = 300
	moreOfOne    = 3
)

func run(ctx context.Context, o options, out io.Writer) (err error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	data, err := os.MkdirTemp(o.dir, "data-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	var sections []report.Section
	var profiles []string
	profiled := func(name string) string {
		if o.profileLines == 0 {
			return ""
		}
		profiles = append(profiles, filepath.Join(o.dir, name+".pprof"))
		return profiles[len(profiles)-1]
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }
	if o.goal != "n2" {
		say("one machine")
		s, err := onemachine.Measure(ctx, onemachine.Config{
			Dir: filepath.Join(data, "one"), MemoryDir: o.memory, Repetitions: moreOfOne * o.repetitions, Actions: actionsOfOne, Profile: profiled("n1"),
		})
		if err != nil {
			return err
		}
		sections = append(sections, s)
	}
	for _, size := range sizes {
		if o.goal == "n1" {
			break
		}
		say("%d machines", size.machines)
		s, err := manymachines.Measure(ctx, manymachines.Config{
			Dir: filepath.Join(data, fmt.Sprint(size.machines)), Machines: size.machines, Repetitions: max(3, o.repetitions-size.fewer),
			Actions: size.actions, LeastRate: size.rate, Profile: profiled(fmt.Sprintf("n2-%d", size.machines)),
		})
		if err != nil {
			return err
		}
		sections = append(sections, s)
	}
	for _, path := range profiles {
		if _, err := fmt.Fprintf(out, "profile of the server, %s\n", filepath.Base(path)); err != nil {
			return err
		}
		if err := profile.Print(ctx, out, path, o.profileLines); err != nil {
			return err
		}
	}
	return report.Write(out, sections...)
}
