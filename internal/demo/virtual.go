package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/stage"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// virtualShow is a run on the virtual desktop.
type virtualShow struct {
	*show
	desktop wire.ControlClient
	walk    []virtualdesktop.Step
}

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
	d := &virtualShow{show: &show{Stage: s, plan: virtualPlan, rows: map[int]*row{}}, walk: scene.Walk}
	d.seen = d.count
	if err := d.start(ctx); err != nil {
		return err
	}
	replayID, err := d.perform(ctx, c.Workflow)
	if err != nil {
		return err
	}
	if err := d.prove(ctx, replayID); err != nil {
		return err
	}
	return keepEvidence(ctx, d.Stage, replayID)
}

func (d *virtualShow) start(ctx context.Context) error {
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

// effects returns the positions in the ledger at which a step had its effect.
func (d *virtualShow) effects(ledger []wire.Entry, step int) (at []int) {
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

func (d *virtualShow) count(ctx context.Context, step int) (int, error) {
	ledger, err := d.desktop.Ledger(ctx)
	return len(d.effects(ledger, step)), err
}

// prove prints the table and says whether it is as promised.
func (d *virtualShow) prove(ctx context.Context, replayID string) error {
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
	good := r.GetState() == reprisev1.ReplayState_REPLAY_STATE_COMPLETED && len(r.GetActions()) >= len(d.walk) && len(down) == 0
	before := -1
	d.table(r, len(d.walk), func(step int) string {
		at := d.effects(ledger, step)
		inOrder := len(at) == 1 && at[0] > before
		good = good && inOrder
		if len(at) > 0 {
			before = at[len(at)-1]
		}
		if !inOrder {
			return fmt.Sprintf("%d WRONG", len(at))
		}
		return fmt.Sprint(len(at))
	})
	if len(down) > 0 {
		d.Say("still held down: %s", strings.Join(down, ", "))
	}
	if !good {
		return ErrProof
	}
	d.Say("%s: %d actions, each with its effect exactly once, in order; nothing held down", strings.TrimPrefix(r.GetState().String(), "REPLAY_STATE_"), len(d.walk))
	return nil
}
