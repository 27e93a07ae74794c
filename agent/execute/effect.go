package execute

import (
	"context"
	"errors"
	"image"
	"time"

	"github.com/reprise-rpa/reprise/agent/vision"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// settleTime is how long to wait for two frames that agree.
const settleTime = 500 * time.Millisecond

// comparison is what counts as a change. A blinking caret does not, nor does
// what the compression of a remote desktop makes of a still picture.
var comparison = vision.CompareOptions{Tolerance: 8, Caret: image.Pt(3, 48)}

// lookBefore takes the picture that the effect is measured against; nil when
// nothing is compared and no evidence is wanted.
func (r *run) lookBefore(ctx context.Context) (*shot, error) {
	if r.job.Action.Effect == work.ExpectNothing && r.cfg.Evidence == nil {
		return nil, nil
	}
	frame, err := r.shoot(ctx)
	if err != nil {
		return nil, err
	}
	if r.cfg.Evidence != nil {
		// The picture is packed while the input is sent.
		packed := make(chan *work.Picture, 1)
		r.before = packed
		go func() { packed <- r.keep(frame, false) }()
	}
	return &frame, nil
}

// lookAfter looks until the screen has changed, then until it stands still. All
// input is sent: what can't be looked at now is not checked, and no fault.
func (r *run) lookAfter(ctx context.Context, before *shot) error {
	if before == nil {
		return nil
	}
	r.job.Doing("looking for the effect")
	after, err := r.effect(ctx, *before)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.cfg.Log.Warn("the screen can't be looked at after the input", logkeys.Action, r.job.ActionID, logkeys.Error, err)
		after = nil
	}
	if after != nil && r.cfg.Evidence != nil {
		packed := make(chan struct{})
		go func() { defer close(packed); r.packer.ahead(after.masked(r.masks).Image) }()
		settled, frame, err := r.settle(ctx, *after)
		<-packed
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.outcome.After = r.keep(frame, settled)
	}
	switch {
	case r.job.Action.Effect == work.RequireChange && r.outcome.Effect != work.Seen:
		return faultf(work.VerifyFailed, "nothing changed on the screen")
	case r.job.Action.Effect == work.ExpectChange && r.outcome.Effect == work.NoneSeen:
		r.outcome = r.outcome.Warned(work.NoScreenChange)
	}
	return nil
}

// effect notes whether the screen changed, and returns the last picture.
func (r *run) effect(ctx context.Context, before shot) (*shot, error) {
	var last shot
	if r.job.Action.Effect == work.ExpectNothing {
		frame, err := r.shoot(ctx)
		return &frame, err
	}
	changed, err := r.until(ctx, r.job.Settings.EffectTimeout, func() (bool, error) {
		frame, err := r.shoot(ctx)
		if err != nil {
			return false, err
		}
		last = frame
		return differ(before, frame), nil
	})
	switch {
	case err != nil:
		return nil, err
	case changed:
		r.outcome.Effect = work.Seen
	default:
		r.outcome.Effect = work.NoneSeen
	}
	return &last, nil
}

// settle looks until two frames in a row agree, and returns the last one.
func (r *run) settle(ctx context.Context, frame shot) (bool, shot, error) {
	if err := r.pause(ctx, r.cfg.Poll); err != nil {
		return false, frame, err
	}
	settled, err := r.until(ctx, settleTime, func() (bool, error) {
		next, err := r.shoot(ctx)
		if err != nil {
			return false, err
		}
		same := !differ(frame, next)
		frame = next
		return same, nil
	})
	return settled, frame, err
}

// differ says whether two pictures differ, masked or not; a desktop of another
// size does.
func differ(before, after shot) bool {
	change, err := vision.Compare(before.Image, after.Image, comparison)
	return errors.Is(err, vision.ErrInvalid) || change.Seen()
}

// screenshot takes a picture that stands still and keeps it.
func (r *run) screenshot(ctx context.Context) error {
	if r.cfg.Evidence == nil {
		return faultf(work.Unsupported, "this agent keeps no screenshots")
	}
	frame, err := r.shoot(ctx)
	if err != nil {
		return err
	}
	settled, frame, err := r.settle(ctx, frame)
	if err != nil {
		return err
	}
	r.outcome.After = r.keep(frame, settled)
	return nil
}

// keep packs a picture, hands it over and names it.
func (r *run) keep(frame shot, settled bool) *work.Picture {
	kept, err := frame.named(r.masks, r.packer.pack, r.cfg.Evidence.Keep)
	if err != nil {
		r.cfg.Log.Warn("a screenshot can't be packed", logkeys.Action, r.job.ActionID, logkeys.Error, err)
		return nil
	}
	kept.Settled = settled
	return kept
}
