package execute

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/mask"
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
	if r.scene, err = r.watched(ctx); err != nil {
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
		settled, frame, err := r.settle(ctx, *after, r.shoot)
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

// scene is where the effect of an action is looked for: the surroundings of its target,
// and the windows.
type scene struct {
	region  image.Rectangle
	ignored []image.Rectangle
	windows string
}

// watched returns the scene before the input. What changes far from the target, or by
// itself, is no effect of it.
func (r *run) watched(ctx context.Context) (scene, error) {
	if r.job.Action.Effect == work.ExpectNothing {
		return scene{}, nil
	}
	windows, err := r.cfg.Driver.Windows(ctx)
	if err != nil {
		return scene{}, err
	}
	s := scene{region: r.surroundings(windows), windows: fingerprint(windows)}
	if len(r.cfg.Restless) == 0 {
		return s, nil
	}
	monitors, err := r.cfg.Driver.Monitors(ctx)
	for _, rest := range r.cfg.Restless {
		for _, m := range monitors {
			if m.Index == rest.Monitor {
				s.ignored = append(s.ignored, mask.Area(rest, m.Bounds))
			}
		}
	}
	return s, err
}

// surroundings are the windows of the program that the input goes to: the window under
// each of its places, else the one that has the keyboard, and what else its program
// shows, since a click into a toolbar changes the window beside it. Empty: there is no
// such window, and the whole screen counts.
func (r *run) surroundings(windows []driver.Window) image.Rectangle {
	var region image.Rectangle
	for _, at := range r.places {
		i := slices.IndexFunc(windows, func(w driver.Window) bool { return at.In(w.Bounds) })
		if i < 0 {
			return image.Rectangle{}
		}
		region = region.Union(program(windows, windows[i]))
	}
	if len(r.places) > 0 {
		return region
	}
	for _, w := range windows {
		if w.Active {
			return program(windows, w)
		}
	}
	return image.Rectangle{}
}

// program is the area of a window and of all others of its program.
func program(windows []driver.Window, w driver.Window) image.Rectangle {
	area := w.Bounds
	for _, o := range windows {
		if w.Process != "" && o.Process == w.Process {
			area = area.Union(o.Bounds)
		}
	}
	return area
}

// fingerprint is another one when a window has come or gone, or to the front.
func fingerprint(windows []driver.Window) string {
	var ids []string
	for _, w := range windows {
		id := w.ID
		if w.Active {
			id += " active"
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return strings.Join(ids, "\n")
}

// shows says whether a picture shows an effect, or the windows do.
func (r *run) shows(ctx context.Context, before scene, frames [2]shot) (bool, error) {
	o := comparison
	o.Region, o.Ignore = before.region, before.ignored
	change, err := vision.Compare(frames[0].Image, frames[1].Image, o)
	if change.Seen() || errors.Is(err, vision.ErrInvalid) {
		return true, nil
	}
	windows, err := r.cfg.Driver.Windows(ctx)
	return err == nil && fingerprint(windows) != before.windows, err
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
		return r.shows(ctx, r.scene, [2]shot{before, frame})
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

// goneFault says of a window that went while a picture of it was taken that it was not
// found.
func goneFault(err error) error {
	switch {
	case errors.Is(err, driver.ErrGone):
		return faultf(work.TargetNotFound, "%v", err)
	case errors.Is(err, driver.ErrOffScreen):
		return faultf(work.TargetOffScreen, "%v", err)
	}
	return err
}

// settle looks until two frames in a row agree, and returns the last one.
func (r *run) settle(ctx context.Context, frame shot, take func(context.Context) (shot, error)) (bool, shot, error) {
	if err := r.pause(ctx, r.cfg.Poll); err != nil {
		return false, frame, err
	}
	settled, err := r.until(ctx, settleTime, func() (bool, error) {
		next, err := take(ctx)
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

// keep packs a picture, hands it over and names it.
func (r *run) keep(frame shot, settled bool) *work.Picture {
	kept, err := frame.named(r.masks, delivery{r.packer.pack, r.job.Settings.MaxPicture, r.cfg.Evidence.Keep})
	if err != nil {
		r.cfg.Log.Warn("a screenshot can't be packed", logkeys.Action, r.job.ActionID, logkeys.Error, err)
		return nil
	}
	kept.Settled = settled
	return kept
}
