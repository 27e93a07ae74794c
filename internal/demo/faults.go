package demo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/stage"
	"github.com/reprise-rpa/reprise/internal/testkit"
)

// fault is one thing that breaks, at a point that program and demo agree on.
type fault struct {
	step  int    // of the workflow, from 1
	point string // where the program stands still meanwhile
	what  string // for people
	do    func(context.Context, *show, faultpoint.Arrival) error
}

// virtualPlan is what breaks on the virtual desktop, in order. Together with the
// demo's settings, which are the defaults, it takes about a minute.
var virtualPlan = []fault{
	{1, faultpoint.DispatchJournaled, "the link is reset before the dispatch is sent", resetLink},
	{2, faultpoint.DispatchJournaled, "the link becomes a silent black hole", loseLink},
	{3, faultpoint.AgentResultStored, "kill -9 the agent: the result is on disk, not sent", killAgent},
	{5, faultpoint.AgentInputDone, "kill -9 the server while the click is in flight", killServer},
	{6, faultpoint.AgentReceived, "the link stalls for 6 s: the action is delivered again meanwhile", stallLink},
	{7, faultpoint.AgentResultStored, "the link is cut inside the frame of the report", cutReport},
	{9, faultpoint.AgentMidInput, "kill -9 the agent in the middle of the input", killAgent},
}

var (
	serverPoints = []string{faultpoint.DispatchJournaled}
	agentPoints  = []string{faultpoint.AgentReceived, faultpoint.AgentMidInput, faultpoint.AgentInputDone, faultpoint.AgentResultStored}
)

func resetLink(_ context.Context, d *show, _ faultpoint.Arrival) error {
	d.Link.Reset()
	return nil
}

func loseLink(_ context.Context, d *show, _ faultpoint.Arrival) error {
	d.Link.BlackHole()
	return nil
}

func stallLink(_ context.Context, d *show, _ faultpoint.Arrival) error {
	d.Link.Stall(6 * time.Second)
	return nil
}

func cutReport(_ context.Context, d *show, _ faultpoint.Arrival) error {
	d.Link.CutInsideFrame(testkit.Up)
	return nil
}

func killServer(ctx context.Context, d *show, _ faultpoint.Arrival) error {
	d.Server.Kill()
	return d.StartServer(ctx, serverPoints...)
}

func killAgent(ctx context.Context, d *show, _ faultpoint.Arrival) error {
	d.Agent.Kill()
	state, err := d.spoolState()
	if err != nil {
		return err
	}
	d.noteSpool(state)
	return d.StartAgent(ctx, agentPoints...)
}

// direct lets programs pass their fault points, and breaks what the plan says,
// each once, until the playing is over. What it starts again lives as long as ctx.
func (d *show) direct(ctx context.Context, over <-chan struct{}) error {
	next := 0
	step := 0
	for {
		var a faultpoint.Arrival
		select {
		case a = <-d.Faults.Arrivals():
		case <-over:
			return nil
		}
		if n := stepOf(a.Subject); n > 0 {
			step = n // a point inside the driver does not know its action
		}
		if a.Name == faultpoint.AgentReceived {
			d.row(step).received++
		}
		if next < len(d.plan) && d.plan[next].point == a.Name && d.plan[next].step == step {
			f := d.plan[next]
			next++
			d.Say("step %d: %s (at %s)", f.step, f.what, f.point)
			d.row(step).faults = append(d.row(step).faults, f.what)
			if err := f.do(ctx, d, a); err != nil {
				return fmt.Errorf("step %d: %s: %w", f.step, f.what, err)
			}
		}
		a.GoOn()
	}
}

// stepOf reads the step, from 1, out of an action's id; 0: there is none.
func stepOf(actionID string) int {
	_, rest, ok := strings.Cut(actionID, "-")
	if !ok {
		return 0
	}
	digits, _, _ := strings.Cut(rest, "_")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// settle lets the replay go on after the kill in the middle of the input. The
// person looks at the screen; the demo looks at what it can count there.
func (d *show) settle(ctx context.Context, replayID string) error {
	r, err := d.AwaitPause(ctx, replayID)
	if errors.Is(err, stage.ErrNoPause) {
		return nil // the table will show what came of that
	}
	if err != nil {
		return err
	}
	if got := r.GetPause().GetReason(); got != reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN {
		return fmt.Errorf("paused with %v (%s), want outcome unknown", got, r.GetPause().GetMessage())
	}
	n, err := d.seen(ctx, stepOf(r.GetPause().GetActionToDecide()))
	if err != nil {
		return err
	}
	d.Say("paused: %s The effect is seen %d time(s) on the desktop.", r.GetPause().GetMessage(), n)
	args := []string{"resume", replayID}
	if n > 0 {
		args = append(args, "--skip")
	}
	d.Say("$ reprisectl %s", strings.Join(args, " "))
	_, err = d.Reprisectl(ctx, args...)
	return err
}

// spoolState says what the agent's memory holds of the action in flight, as it
// lies on the disk after the kill.
func (d *show) spoolState() (string, error) {
	memory, err := spool.Inspect(d.SpoolDir())
	if err != nil {
		return "", err
	}
	for _, state := range []spool.State{spool.Started, spool.Finished, spool.Acknowledged} {
		for _, e := range memory.In(state) {
			if stepOf(e.ActionID) == d.last {
				return string(state), nil
			}
		}
	}
	return "unknown", nil
}
