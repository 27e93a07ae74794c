// Package demo runs the product's main job with real programs and real faults,
// and proves from what the desktop itself shows that every action had its effect
// exactly once, in order.
package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/stage"
)

// Config sets up a run. All fields are required.
type Config struct {
	stage.Config
	Workflow string // the workflow file
}

// limit bounds a whole run.
const limit = 20 * time.Minute

// show is a run with faults, on any desktop.
type show struct {
	*stage.Stage
	plan []fault
	// seen says how often the effect of a step, from 1, is seen on the desktop.
	seen func(ctx context.Context, step int) (int, error)

	mu   sync.Mutex
	rows map[int]*row // by step, from 1
	last int          // the step whose action is in flight
}

// row is what the table says of one step.
type row struct {
	received int // attempts that reached the agent
	faults   []string
	spool    []string
}

// ErrProof says that the desktop shows something else than each effect once, in order:
// the run came to its end and found what it looks for. Any other error is the run's own.
var ErrProof = errors.New("not every action had its effect exactly once, in order")

// perform submits the workflow, breaks what the plan says, and returns the replay's
// id when it has ended.
func (d *show) perform(ctx context.Context, workflow string) (string, error) {
	replayID, err := d.Submit(ctx, workflow)
	if err != nil {
		return "", err
	}
	d.Say("replay %s is created", replayID)
	start := time.Now()
	if err := d.play(ctx, replayID); err != nil {
		return "", err
	}
	d.Say("the replay took %v", time.Since(start).Round(time.Second))
	return replayID, nil
}

// play watches the replay to its end while things break.
func (d *show) play(ctx context.Context, replayID string) error {
	watch, err := d.StartCtl(ctx, d.Out, "watch", replayID, "--output", "plain")
	if err != nil {
		return err
	}
	defer watch.Kill()
	over := make(chan struct{})
	var g errgroup.Group
	g.Go(func() error { return d.direct(ctx, over) })
	g.Go(func() error {
		defer close(over)
		if err := d.settle(ctx, replayID); err != nil {
			return err
		}
		r, err := d.AwaitPause(ctx, replayID)
		if err == nil {
			return fmt.Errorf("paused again with %v: %s", r.GetPause().GetReason(), r.GetPause().GetMessage())
		}
		if !errors.Is(err, stage.ErrNoPause) {
			return err
		}
		return watch.Wait(ctx)
	})
	return g.Wait()
}

func (d *show) row(step int) *row {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = step
	r := d.rows[step]
	if r == nil {
		r = &row{}
		d.rows[step] = r
	}
	return r
}

func (d *show) noteSpool(state string) { d.rows[d.last].spool = append(d.rows[d.last].spool, state) }

// table prints a line for each step of a replay; verdict says what is seen of its
// effect.
func (d *show) table(r *reprisev1.Replay, steps int, verdict func(step int) string) {
	w := tabwriter.NewWriter(d.Out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nSTEP\tACTION\tSTATE\tDELIVERIES\tATTEMPTS SEEN BY AGENT\tSPOOL AT KILL\tEFFECTS\tWHAT BROKE")
	for step := 1; step <= steps; step++ {
		d.printRow(w, r, step, verdict(step))
	}
	_ = w.Flush()
	d.Say("")
}

func (d *show) printRow(w *tabwriter.Writer, r *reprisev1.Replay, step int, verdict string) {
	deliveries := 0
	state, kind := "", ""
	for _, a := range r.GetActions() {
		if int(a.GetStep()) == step-1 {
			deliveries += int(a.GetDeliveries())
			state, kind = strings.TrimPrefix(a.GetState().String(), "ACTION_STATE_"), a.GetKind()
			if a.GetName() != "" {
				kind = a.GetName()
			}
		}
	}
	rw := d.row(step)
	_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", step, kind, state, deliveries, rw.received,
		strings.Join(rw.spool, "; "), verdict, strings.Join(rw.faults, "; "))
}
