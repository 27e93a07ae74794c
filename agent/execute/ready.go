package execute

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
)

// seenFor is how long what was seen counts while the agent takes the picture before the
// input: a process that stood still in it has seen nothing.
const seenFor = time.Second

// ready looks until both are fresh: what the action needs was seen a moment ago, and the
// server has vouched for the action since. Waiting for its word may take long, and
// another window may come to the front or the target move meanwhile, so after a wait
// everything is looked at again. When the word then takes about as long as before, it is
// the way that is slow, and nothing fresher comes: then it is enough that the windows
// still are where they were.
func (r *run) ready(ctx context.Context) ([]driver.Input, *shot, error) {
	for before := time.Duration(0); ; {
		inputs, err := r.look(ctx)
		if err != nil || len(inputs) == 0 {
			return nil, nil, err
		}
		seen := time.Now()
		var windows []driver.Window
		if before > 0 {
			if windows, err = r.cfg.Driver.Windows(ctx); err != nil {
				return nil, nil, err
			}
		}
		frame, err := r.lookBefore(ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := r.announce(ctx); err != nil {
			return nil, nil, err
		}
		asked := time.Now()
		if err := r.begin(ctx); err != nil {
			return nil, nil, err
		}
		age := elapsed(seen)
		switch {
		case elapsed(asked) <= r.cfg.Poll && age <= r.cfg.Announce+seenFor:
			return inputs, frame, nil
		case before > 0 && age <= 2*before:
			if same, err := r.same(ctx, windows); same || err != nil {
				return inputs, frame, err
			}
		}
		before = age
	}
}

// same says whether the windows lie and have the keyboard as they did, and the one in
// front still has the title that the action expects.
func (r *run) same(ctx context.Context, before []driver.Window) (bool, error) {
	now, err := r.cfg.Driver.Windows(ctx)
	if err != nil {
		return false, err
	}
	want := r.job.Action.WindowBefore
	return layout(now) == layout(before) && (want == "" || titleIs(activeTitle(now), want, r.job.Action.Strict)), nil
}

// layout is another one when a window has come, gone or moved, or lies otherwise over
// the others, or when the keyboard has another one. Titles do not count: some never rest.
func layout(windows []driver.Window) string {
	var lines []string
	for _, w := range windows {
		lines = append(lines, fmt.Sprint(w.ID, w.Bounds, w.Active))
	}
	return strings.Join(lines, "\n")
}

// elapsed is how long a moment is ago. The clock on the wall has a say in it: the other
// one stands still while a machine sleeps. One that was put back tells nothing good.
func elapsed(since time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)).Abs())
}

// begin asks for the server's word, and puts "started" on the disk the first time. No
// input leaves before: not that of a popup, and, since the target may have been looked
// for long after it was closed, not the action's own either.
func (r *run) begin(ctx context.Context) error {
	if err := r.job.Begin(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// No result: the action runs when the server asks for it again.
		return faultf(work.DesktopUnavailable, "nothing was sent: %v", err)
	}
	if !r.begun {
		r.begun = true
		r.veil.begin(work.Begun{Ref: r.job.Ref, Masks: r.job.Action.Masks})
	}
	return nil
}

// input sends the gestures and looks what came of them.
func (r *run) input(ctx context.Context, inputs []driver.Input, before *shot) error {
	r.packBefore(before)
	r.texts = texts(inputs)
	r.job.Doing("sending input")
	for _, in := range inputs {
		if err := r.cfg.Driver.Do(ctx, in); err != nil {
			return r.inputFault(ctx, in, err)
		}
		r.sent = some
	}
	r.sent = all
	faultpoint.Hit(faultpoint.AgentInputDone, r.job.ActionID)
	return r.lookAfter(ctx, before)
}

// texts are what gestures type and paste.
func texts(inputs []driver.Input) []string {
	var all []string
	for _, in := range inputs {
		switch in := in.(type) {
		case driver.Type:
			all = append(all, in.Text)
		case driver.Paste:
			all = append(all, in.Text)
		}
	}
	return all
}
