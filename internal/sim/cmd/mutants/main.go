// Command mutants puts deliberate mistakes into the core, one at a time, and says
// which broken promise the simulator finds each by. It fails when one is not
// caught, and when the code without mistakes is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/internal/sim/mutants"
)

var errNotCaught = errors.New("not all mutants were caught")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	only := flags.String("only", "", "hunt these alone: names, separated by commas")
	list := flags.Bool("list", false, "list the mutants, and hunt none")
	seeds := flags.Int("seeds", 10000, "schedules that a mutant may survive at most")
	atOnce := flags.Int("parallel", 2, "mutants at a time")
	root := flags.String("root", ".", "the module's root")
	limit := flags.Duration("limit", 10*time.Minute, "the longest that one run of the simulator may take")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	switch {
	case err != nil:
		return err
	case *seeds < 1 || *atOnce < 1 || *limit <= 0:
		return errors.New("--seeds, --parallel and --limit are positive")
	case *list:
		for _, m := range chosen {
			fmt.Fprintf(out, "%-50s %-60s %s\n", m.Name, m.Promise, m.File)
		}
		return nil
	}
	scratch, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	hunt := mutants.Hunt{Root: *root, Program: "./internal/sim/cmd/sim", Scratch: scratch, Seeds: *seeds, Limit: *limit}
	if err := hunt.Original(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "%-50s passes %d schedules\n", "(without any mistake)", *seeds)
	caught := hunt.Each(ctx, chosen, *atOnce, func(r mutants.Result) { fmt.Fprintln(out, line(r)) })
	fmt.Fprintf(out, "caught %d of %d\n", caught, len(chosen))
	if caught < len(chosen) {
		return errNotCaught
	}
	return nil
}

// choose returns the mutants with these names, or all.
func choose(only string) ([]mutants.Mutant, error) {
	all := mutants.All()
	if only == "" {
		return all, nil
	}
	var chosen []mutants.Mutant
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no mutant %q; --list names them", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func line(r mutants.Result) string {
	switch {
	case r.Err != nil:
		return fmt.Sprintf("%-50s NOT CAUGHT: %v", r.Mutant.Name, r.Err)
	case !r.Caught:
		return fmt.Sprintf("%-50s NOT CAUGHT in %d schedules; it breaks %s", r.Mutant.Name, r.Seeds, r.Mutant.Promise)
	}
	return fmt.Sprintf("%-50s caught after %4d schedules: %s", r.Mutant.Name, r.Seeds, r.By)
}
