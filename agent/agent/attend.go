package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// attendAgain is how long to wait before the person's side of a desktop that went
// away is attended to again.
const attendAgain = time.Second

// maxNotices is how many changes of what is shown may wait for a desktop that is slow
// to show them.
const maxNotices = 64

var wishes = map[driver.ActKind]work.PersonWish{
	driver.Stopped: work.PersonStops, driver.Used: work.PersonTakesOver, driver.WantsOn: work.PersonGoesOn,
}

// attendant is the agent's side of the person at the machine. At a desktop that is not
// attended it does nothing.
type attendant struct {
	desktop driver.Attended // nil: it is not attended
	queue   chan func(context.Context) error
	log     *slog.Logger
}

func newAttendant(d driver.Driver, log *slog.Logger) *attendant {
	desktop, _ := d.(driver.Attended)
	a := &attendant{desktop: desktop, queue: make(chan func(context.Context) error, maxNotices), log: log}
	a.showServer(false) // until there is one
	return a
}

// attend tells the runner what the person does, until ctx ends.
func (a *attendant) attend(ctx context.Context, run *runner.Runner) {
	if a.desktop == nil {
		return
	}
	told := func(act driver.Act) {
		if wish, ok := wishes[act.Kind]; ok {
			_ = run.Handle(ctx, runner.PersonActs{Wish: wish, By: act.By}) // a runner that has ended executes nothing more
		}
	}
	for again := false; ctx.Err() == nil; again = true {
		err := a.desktop.Attend(ctx, told)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, driver.ErrUnsupported):
			a.log.Info("nobody sits at the desktop", logkeys.Error, err)
			return
		case !again: // once: it may last
			a.log.Warn("what the person at the machine does is not seen now", logkeys.Error, err)
		}
		_ = wait.For(ctx, attendAgain) // whether ctx ended is looked at next
	}
}

// hold keeps the desktop's gestures back because of a stop of a process before.
func (a *attendant) hold(ctx context.Context, stop *spool.Hold) {
	if a.desktop == nil || stop == nil {
		return
	}
	a.log.Warn("a stop of the person at the machine stands from before", logkeys.Detail, stop.By, logkeys.Elapsed, time.Since(stop.At))
	if err := orNobody(a.desktop.Hold(ctx, driver.Act{Kind: driver.Stopped, By: stop.By, At: stop.At})); err != nil {
		a.log.Warn("the desktop does not show the stop; nothing is executed all the same", logkeys.Error, err)
	}
}

// goOn takes the person's stop back at the desktop.
func (a *attendant) goOn(ctx context.Context) error {
	if a.desktop == nil {
		return nil
	}
	return orNobody(a.desktop.GoOn(ctx))
}

// orNobody is nil for the error of a desktop at which nobody sits.
func orNobody(err error) error {
	if errors.Is(err, driver.ErrUnsupported) {
		return nil
	}
	return err
}

// Show implements runner.Shower.
func (a *attendant) Show(p work.Pause) {
	a.put(func(ctx context.Context) error {
		return a.desktop.ShowPause(ctx, driver.Notice{PauseID: p.PauseID, Reason: p.Reason, Message: p.Message, Checks: p.Checks})
	})
}

// Hide implements runner.Shower.
func (a *attendant) Hide(_, pauseID string) {
	a.put(func(ctx context.Context) error { return a.desktop.HidePause(ctx, pauseID) })
}

// showServer shows whether there is a stream to the server.
func (a *attendant) showServer(connected bool) {
	a.put(func(ctx context.Context) error { return a.desktop.ShowServer(ctx, connected) })
}

func (a *attendant) put(change func(context.Context) error) {
	if a.desktop == nil {
		return
	}
	select {
	case a.queue <- change:
	default:
		a.log.Warn("the desktop is too slow to show pauses; one is not shown, or stays shown")
	}
}

// show shows what is queued, one after the other and off the runner's loop, until ctx
// ends.
func (a *attendant) show(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case change := <-a.queue:
			if err := orNobody(change(ctx)); err != nil && ctx.Err() == nil {
				a.log.Warn("a pause is not shown, or stays shown", logkeys.Error, err)
			}
		}
	}
}
