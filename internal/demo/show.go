// Package demo runs the product's main job with real programs and real faults,
// and proves from the desktop's own count that every action had its effect
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
	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// Config sets up a run. All fields are required.
type Config struct {
	stage.Config
	Workflow string // the workflow file
}

// limit bounds a whole run.
const limit = 5 * time.Minute

// show is a run on the virtual desktop, with faults.
type show struct {
	*stage.Stage
	desktop wire.ControlClient
	walk    []virtualdesktop.Step

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

// errProof says that the desktop counted something else than exactly once each.
var errProof = errors.New("not every action had its effect exactly once, in order")

// Virtual runs the workflow on the virtual desktop, breaks what the plan says and
// returns nil only if the desktop counted every effect exactly once, in order.
func Virtual(ctx context.Context, c Config) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, err := stage.New(c.Config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	scene, _ := virtualdesktop.BuiltIn("linux_db")
	d := &show{Stage: s, walk: scene.Walk, rows: map[int]*row{}}
	if err := d.start(ctx); err != nil {
		return err
	}
	replayID, err := d.Submit(ctx, c.Workflow)
	if err != nil {
		return err
	}
	d.Say("replay %s is created", replayID)
	start := time.Now()
	if err := d.play(ctx, replayID); err != nil {
		return err
	}
	d.Say("the replay took %v", time.Since(start).Round(time.Second))
	if err := d.prove(ctx, replayID); err != nil {
		return err
	}
	return keepEvidence(ctx, d.Stage, replayID)
}

func (d *show) start(ctx context.Context) error {
	input, control, err := d.StartDesktop(ctx, "linux_db")
	if err != nil {
		return err
	}
	if d.desktop, err = wire.DialControl(ctx, control); err != nil {
		return err
	}
	d.OnClose(d.desktop.Close)
	d.AgentArgs = []string{"--driver", "virtual", "--desktop", input}
	if err := d.StartServer(ctx, serverPoints...); err != nil {
		return err
	}
	if err := d.RegisterMachine(ctx); err != nil {
		return err
	}
	d.Say("server at %s, agent through a link that can break, desktop on its own", d.Address)
	return d.StartAgent(ctx, agentPoints...)
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

// effects returns the positions in the ledger at which a step had its effect.
func (d *show) effects(ledger []wire.Entry, step int) (at []int) {
	if step < 1 || step > len(d.walk) {
		return nil
	}
	w := d.walk[step-1]
	on := w.On
	if on == "" {
		on = w.Widget
	}
	for i, e := range ledger {
		if e.Widget == on && e.Effect == w.Effect {
			at = append(at, i)
		}
	}
	return at
}

func (d *show) count(ledger []wire.Entry, step int) int { return len(d.effects(ledger, step)) }

// prove prints the table and says whether it is as promised.
func (d *show) prove(ctx context.Context, replayID string) error {
	r, err := d.GetReplay(ctx, replayID)
	if err != nil {
		return err
	}
	ledger, err := d.desktop.Ledger(ctx)
	if err != nil {
		return err
	}
	down, err := d.desktop.Down(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(d.Out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nSTEP\tACTION\tSTATE\tDELIVERIES\tATTEMPTS SEEN BY AGENT\tSPOOL AT KILL\tEFFECTS\tWHAT BROKE")
	good := r.GetState() == reprisev1.ReplayState_REPLAY_STATE_COMPLETED && len(r.GetActions()) >= len(d.walk) && len(down) == 0
	before := -1
	for step := range d.walk {
		step++
		at := d.effects(ledger, step)
		inOrder := len(at) == 1 && at[0] > before
		good = good && inOrder
		if len(at) > 0 {
			before = at[len(at)-1]
		}
		d.printRow(w, r, step, len(at), inOrder)
	}
	_ = w.Flush()
	d.Say("")
	if len(down) > 0 {
		d.Say("still held down: %s", strings.Join(down, ", "))
	}
	if !good {
		return errProof
	}
	d.Say("%s: %d actions, each with its effect exactly once, in order; nothing held down", strings.TrimPrefix(r.GetState().String(), "REPLAY_STATE_"), len(d.walk))
	return nil
}

func (d *show) printRow(w *tabwriter.Writer, r *reprisev1.Replay, step, effects int, inOrder bool) {
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
	verdict := fmt.Sprint(effects)
	if !inOrder {
		verdict += " WRONG"
	}
	rw := d.row(step)
	_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", step, kind, state, deliveries, rw.received,
		strings.Join(rw.spool, "; "), verdict, strings.Join(rw.faults, "; "))
}
