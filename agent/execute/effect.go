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
	"github.com/reprise-rpa/reprise/internal/wait"
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
	return &frame, nil
}

// packBefore packs the picture before the input while the input is sent; nil: there is
// none to keep.
func (r *run) packBefore(frame *shot) {
	if frame == nil || r.cfg.Evidence == nil {
		return
	}
	packed := make(chan *work.Picture, 1)
	r.before = packed
	go func() { packed <- r.keep(*frame, false) }()
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
	}
	if after != nil && r.cfg.Evidence != nil {
		packed := make(chan struct{})
		go func() { defer close(packed); r.ahead(*after) }()
		settled, frame, err := r.settle(ctx, *after, r.shoot)
		<-packed
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.outcome.After = r.keep(frame, settled)
	}
	switch {
	case err != nil && r.job.Action.Effect == work.RequireChange:
		// Everything was sent; only what came of it could not be looked at.
		return faultf(work.OutcomeUnknown, "whether the screen changed is not known, it could not be looked at: %v", err)
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
	ignored, err := r.restless(ctx)
	return scene{r.surroundings(windows), ignored, fingerprint(windows)}, err
}

// restless is where the screen changes by itself.
func (r *run) restless(ctx context.Context) ([]image.Rectangle, error) {
	if len(r.cfg.Restless) == 0 {
		return nil, nil
	}
	monitors, err := r.cfg.Driver.Monitors(ctx)
	var areas []image.Rectangle
	for _, rest := range r.cfg.Restless {
		for _, m := range monitors {
			if m.Index == rest.Monitor {
				areas = append(areas, mask.Area(rest, m.Bounds))
			}
		}
	}
	return areas, err
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

// effect notes whether the screen changed, and returns the last picture. A look that
// fails is made again; that nothing changed is said only if the last one shows so.
func (r *run) effect(ctx context.Context, before shot) (*shot, error) {
	if r.job.Action.Effect == work.ExpectNothing {
		frame, err := r.shoot(ctx)
		if err != nil {
			return nil, err
		}
		return &frame, nil
	}
	var last *shot
	var blind error
	changed, err := r.until(ctx, r.job.Settings.EffectTimeout, func() (bool, error) {
		frame, err := r.shoot(ctx)
		if err == nil {
			last = &frame
			var seen bool
			if seen, err = r.shows(ctx, r.scene, [2]shot{before, frame}); seen {
				return true, nil
			}
		}
		blind = err
		return false, nil
	})
	switch {
	case err != nil:
		return nil, err
	case changed:
		r.outcome.Effect = work.Seen
	case blind != nil:
		return last, blind
	default:
		r.outcome.Effect = work.NoneSeen
	}
	return last, nil
}

// settle looks until two frames in a row agree, and returns the last one.
func (r *run) settle(ctx context.Context, frame shot, take func(context.Context) (shot, error)) (bool, shot, error) {
	ignored, err := r.restless(ctx)
	if err != nil {
		return false, frame, err
	}
	if err := wait.For(ctx, r.cfg.Poll); err != nil {
		return false, frame, err
	}
	settled, err := r.until(ctx, settleTime, func() (bool, error) {
		next, err := take(ctx)
		if err != nil {
			return false, err
		}
		same := !differ(frame, next, ignored)
		frame = next
		return same, nil
	})
	return settled, frame, err
}

// differ says whether two pictures differ, masked or not, beside what changes by itself;
// a desktop of another size does.
func differ(before, after shot, ignored []image.Rectangle) bool {
	o := comparison
	o.Ignore = ignored
	change, err := vision.Compare(before.Image, after.Image, o)
	return errors.Is(err, vision.ErrInvalid) || change.Seen()
}
