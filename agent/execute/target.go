package execute

import (
	"context"
	"errors"
	"image"
	"math"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/vision"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// untilStopped is a limit for what only the action's own time-out ends.
const untilStopped = time.Duration(math.MaxInt64)

// place is where an action goes.
type place struct {
	at     image.Point
	method string  // how it was found
	score  float64 // how well, 0 to 1
	on     string  // id of the window that must be the topmost there; empty: whichever is
}

// The methods beside the ways of package work.
const (
	methodCorrection = "correction" // a person showed it
	methodPoint      = "point"      // fractions of a monitor

	methodPicturePoint = "picture_point" // a pixel of a picture
	methodWindow       = "window"        // the middle of a window
	methodWindowPoint  = "window_point"  // fractions of a window
)

// locate returns the action's place: where a person showed it, else its target.
func (r *run) locate(ctx context.Context, t *work.Target, limit time.Duration) (place, error) {
	switch corrected := r.job.Action.Corrected; {
	case corrected != nil:
		monitor, err := r.monitor(ctx)
		if err != nil {
			return place{}, err
		}
		return r.onScreen(ctx, place{at: within(monitor, *corrected), method: methodCorrection, score: 1})
	case t == nil:
		return place{}, faultf(work.InvalidAction, "the action goes to a place and names none")
	}
	return r.resolve(ctx, t, limit)
}

// resolve tries the target's ways in their order; one that this agent does not
// have, or that finds nothing in time, falls through to the next. If none finds
// anything, a point that was given as well is taken, with a warning.
func (r *run) resolve(ctx context.Context, t *work.Target, limit time.Duration) (place, error) {
	var missed error
	for _, way := range ways(t) {
		found, err := r.try(ctx, t, way, limit)
		if err == nil {
			return r.onScreen(ctx, found)
		}
		if !fallsThrough(err) {
			return place{}, err
		}
		missed = moreTelling(missed, err)
	}
	if missed != nil {
		if t.Point == nil && t.OnPicture == nil {
			return place{}, missed
		}
		r.outcome = r.outcome.Warned(work.VisualResolveFailed)
	}
	return r.plain(ctx, t, limit)
}

// plain returns a place that needs no look at the screen's content.
func (r *run) plain(ctx context.Context, t *work.Target, limit time.Duration) (place, error) {
	switch {
	case t.OnPicture != nil:
		return r.onPicture(ctx, *t.OnPicture)
	case t.Window != "":
		return r.inWindow(ctx, t, limit)
	case t.Point != nil:
		monitor, err := r.monitor(ctx)
		if err != nil {
			return place{}, err
		}
		return r.onScreen(ctx, place{at: within(monitor, *t.Point), method: methodPoint, score: 1})
	}
	return place{}, faultf(work.InvalidAction, "the target names no place")
}

var defaultOrder = []work.Way{work.WayUIA, work.WayTemplate, work.WayOCR, work.WayVLM}

// ways returns the ways that the target gives what they need, in its order.
func ways(t *work.Target) []work.Way {
	order := t.Order
	if len(order) == 0 {
		order = defaultOrder
	}
	given := map[work.Way]bool{
		work.WayUIA: t.UIA != nil, work.WayTemplate: t.Anchor != nil,
		work.WayOCR: t.ByText != "", work.WayVLM: t.Description != "",
	}
	var out []work.Way
	for _, way := range order {
		if given[way] {
			out = append(out, way)
		}
	}
	return out
}

// moreTelling puts together why two ways failed: that nothing was found says more than
// that a way is missing.
func moreTelling(before, now error) error {
	var b, n *fault
	if !errors.As(before, &b) || !errors.As(now, &n) {
		return now
	}
	switch {
	case n.code != work.TargetNotFound:
		return before
	case b.code != work.TargetNotFound:
		return now
	}
	return faultf(work.TargetNotFound, "%s; %s", b.message, n.message)
}

func fallsThrough(err error) bool {
	var f *fault
	return errors.As(err, &f) && (f.code == work.TargetNotFound || f.code == work.Unsupported)
}

func (r *run) try(ctx context.Context, t *work.Target, way work.Way, limit time.Duration) (place, error) {
	switch way {
	case work.WayUIA:
		return r.byElement(ctx, t, limit)
	case work.WayTemplate:
		return r.byTemplate(ctx, t, limit)
	}
	return place{}, noWay(way)
}

func noWay(way work.Way) error {
	return faultf(work.Unsupported, "this agent can't find a target by %s", way)
}

// byTemplate looks for the anchor picture, again and again: the screen may still
// be changing. Without a picture to look for it goes on asking for it, since the
// connection may be away.
func (r *run) byTemplate(ctx context.Context, t *work.Target, limit time.Duration) (place, error) {
	l := &lookout{run: r, target: t, options: vision.Options{MinScore: r.job.Settings.MinScoreTemplate}}
	if t.Anchor.MinScore > 0 {
		l.options.MinScore = t.Anchor.MinScore
	}
	var match vision.Match
	var reason error
	ok, err := r.watch(ctx, limit, func() (bool, error) {
		match, reason = l.look(ctx)
		var f *fault
		switch {
		case reason == nil:
			return true, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case errors.Is(reason, errNoAnchor):
			return false, wait.For(ctx, min(anchorRetry, limit))
		case errors.Is(reason, errIcon):
			return false, nil
		case errors.Is(reason, driver.ErrUnavailable), errors.As(reason, &f) && f.code != work.TargetNotFound:
			return false, reason
		}
		return false, nil
	})
	switch {
	case err != nil:
		return place{}, err
	case errors.Is(reason, errIcon):
		return place{}, reason
	case !ok:
		return place{}, faultf(work.TargetNotFound, "%v", reason)
	}
	return place{at: inMatch(match.Bounds, t.Anchor.Offset), method: string(work.WayTemplate), score: match.Score}, nil
}

// errIcon says that the window that is meant shows nowhere: it has no pixel that a place
// in it could be. It may still come back.
var errIcon = faultf(work.TargetOffScreen, "the window shows nowhere: it is an icon, or has no size")

// inWindow returns a place within the target's window: its point, else the
// middle. The window may still be opening.
func (r *run) inWindow(ctx context.Context, t *work.Target, limit time.Duration) (place, error) {
	var found place
	var reason error
	ok, err := r.watch(ctx, limit, func() (bool, error) {
		var w driver.Window
		if w, reason = r.windowByTitle(ctx, t.Window); reason != nil {
			if fallsThrough(reason) {
				return false, nil
			}
			return false, reason
		}
		if w.Bounds.Empty() {
			reason = errIcon
			return false, nil
		}
		found = place{at: within(w.Bounds, work.Point{X: 0.5, Y: 0.5}), method: methodWindow, score: 1, on: w.ID}
		if t.Point != nil {
			found.at, found.method = within(w.Bounds, *t.Point), methodWindowPoint
		}
		return true, nil
	})
	switch {
	case err != nil:
		return place{}, err
	case !ok:
		return place{}, reason
	}
	return r.onScreen(ctx, found)
}

// onPicture maps a pixel of a picture that was taken earlier back to the screen. On
// other monitors than those that it was taken of it may be anywhere.
func (r *run) onPicture(ctx context.Context, p work.PicturePoint) (place, error) {
	monitors, err := r.cfg.Driver.Monitors(ctx)
	if err != nil {
		return place{}, err
	}
	if now := driver.Geometry(monitors); now != p.Geometry {
		return place{}, faultf(work.TargetOffScreen, "the monitors have changed since the picture was taken: their geometry was %s, and is %s", p.Geometry, now)
	}
	// The middle of the pixel, in pixels of the screen. Where an int has 32 bits, the sum
	// for one far beyond the picture could come round to a place on the screen.
	at := func(origin, pixel int) float64 { return float64(origin) + math.Floor(p.Scale*(float64(pixel)+0.5)) }
	x, y := at(p.Origin.X, p.X), at(p.Origin.Y, p.Y)
	if max(math.Abs(x), math.Abs(y)) > math.MaxInt32 {
		return place{}, faultf(work.TargetOffScreen, "the pixel (%d, %d) is not of the picture", p.X, p.Y)
	}
	return r.onScreen(ctx, place{at: image.Pt(int(x), int(y)), method: methodPicturePoint, score: 1})
}

// monitor returns the monitor that fractions refer to.
func (r *run) monitor(ctx context.Context) (image.Rectangle, error) {
	monitors, err := r.cfg.Driver.Monitors(ctx)
	if err != nil {
		return image.Rectangle{}, err
	}
	wanted := r.job.Action.Monitor
	for _, m := range monitors {
		if wanted == nil || m.Index == *wanted {
			return m.Bounds, nil
		}
	}
	if wanted == nil {
		return image.Rectangle{}, faultf(work.TargetOffScreen, "the desktop has no monitor")
	}
	return image.Rectangle{}, faultf(work.TargetOffScreen, "the desktop has no monitor %d", *wanted)
}

// onScreen refuses a place that is on no monitor: it is never moved onto one.
func (r *run) onScreen(ctx context.Context, p place) (place, error) {
	monitors, err := r.cfg.Driver.Monitors(ctx)
	if err != nil {
		return place{}, err
	}
	for _, m := range monitors {
		if p.at.In(m.Bounds) {
			return p, nil
		}
	}
	return place{}, faultf(work.TargetOffScreen, "the place %v is on no monitor", p.at)
}

// within returns the pixel at a fraction of a rectangle; (1,1) is its last one.
func within(b image.Rectangle, f work.Point) image.Point {
	at := func(from, size int, fraction float64) int {
		return from + min(int(fraction*float64(size)), max(size-1, 0))
	}
	return image.Pt(at(b.Min.X, b.Dx(), f.X), at(b.Min.Y, b.Dy(), f.Y))
}

func inMatch(b image.Rectangle, offset *work.Point) image.Point {
	if offset == nil {
		return within(b, work.Point{X: 0.5, Y: 0.5})
	}
	return within(b, *offset)
}
