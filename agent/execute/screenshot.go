package execute

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// screenshot takes a picture that stands still and keeps it: of one window, or of the
// whole screen.
func (r *run) screenshot(ctx context.Context, of *work.WindowSelector) error {
	if r.cfg.Evidence == nil {
		return faultf(work.Unsupported, "this agent keeps no screenshots")
	}
	take := r.shoot
	if of != nil {
		w, err := r.oneWindow(ctx, *of)
		if err != nil {
			return err
		}
		take = func(ctx context.Context) (shot, error) {
			return r.Executor.shoot(ctx, func(ctx context.Context) (driver.Picture, error) { return r.cfg.Driver.CaptureWindow(ctx, w.ID) })
		}
	}
	frame, err := take(ctx)
	if err != nil {
		return goneFault(err)
	}
	settled, frame, err := r.settle(ctx, frame, take)
	if err != nil {
		return goneFault(err)
	}
	r.outcome.After = r.keep(frame, settled)
	return nil
}

// goneFault says why there is no picture of a window: it went meanwhile, it shows
// nowhere, or the machine's owner forbids it.
func goneFault(err error) error {
	switch {
	case errors.Is(err, driver.ErrGone):
		return faultf(work.TargetNotFound, "%v", err)
	case errors.Is(err, driver.ErrOffScreen):
		return faultf(work.TargetOffScreen, "%v", err)
	case errors.Is(err, driver.ErrBlocked):
		return faultf(work.InputBlocked, "%v", err)
	}
	return err
}

// keep packs a picture, hands it over and names it; nil: it can't be packed.
func (r *run) keep(frame shot, settled bool) (kept *work.Picture) {
	err := r.guarded(func() error {
		named, err := frame.named(r.masks, delivery{r.packer.pack, r.job.Settings.MaxPicture, r.cfg.Evidence.Keep})
		kept = named
		return err
	})
	if err != nil {
		r.cfg.Log.Warn("a screenshot can't be packed", logkeys.Action, r.job.ActionID, logkeys.Error, err)
		return nil
	}
	kept.Settled = settled
	return kept
}

// ahead packs a picture that keep is probably asked for next. A fault shows in keep.
func (r *run) ahead(frame shot) {
	_ = r.guarded(func() error {
		r.packer.ahead(frame.masked(r.masks).Image)
		return nil
	})
}

// errPanic says that a picture made the agent panic.
var errPanic = errors.New("a picture made the agent panic")

// guarded makes an error of a panic: the action's input is on its way, or sent, and a
// picture of it is no reason not to know how it came out. In a goroutine of its own it
// would end the process.
func (e *Executor) guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Log.Error("a picture made the agent panic", logkeys.Error, fmt.Sprint(p), logkeys.Stack, string(debug.Stack()))
			err = errPanic
		}
	}()
	return do()
}
