// Command bench-vision measures how long it takes to find an anchor of 64 by 64
// pixels in a screen of 2560 by 1600, as a ratio to what OpenCV's matchTemplate
// takes on one thread for the same pictures in the same run, and whether both
// find it in the same place. What the table means is in docs/benchmarks.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := start(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench-vision:", err)
		os.Exit(1)
	}
}

// options is what the flags say.
type options struct {
	repetitions int
	minScore    float64
	python      string
	profile     string
}

func start(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "bench-vision-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	return run(ctx, o, folder, os.Stdout)
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench-vision", flag.ContinueOnError)
	f.IntVar(&o.repetitions, "repetitions", 5, "how often each is measured, in turn with the other; at least 3")
	f.Float64Var(&o.minScore, "min-score", 0.95, "least score of a match")
	f.StringVar(&o.python, "python", "python3", "`interpreter` that has the module cv2")
	f.StringVar(&o.profile, "cpuprofile", "", "`file` that gets a profile of one more round")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("%q is not known", f.Arg(0))
	case o.repetitions < 3:
		return o, fmt.Errorf("-repetitions is at least 3, not %d", o.repetitions)
	case !(o.minScore > 0 && o.minScore <= 1):
		return o, fmt.Errorf("-min-score is over 0 and up to 1, not %v", o.minScore)
	}
	return o, nil
}
