package execute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/vision"
	"github.com/reprise-rpa/reprise/agent/work"
)

// anchorRetry is the pause before a picture that could not be had is asked for
// again.
const anchorRetry = time.Second

// errNoAnchor says that the anchor picture can't be had now.
var errNoAnchor = errors.New("the anchor picture can't be had")

// lookout looks for one anchor picture.
type lookout struct {
	*run
	target  *work.Target
	options vision.Options
	anchor  image.Image
	last    *image.RGBA // the screen that was searched last
	region  image.Rectangle
	result  error
}

// look looks once, within the target's window if it names one. A screen that
// has not changed since the last look is not searched again.
func (l *lookout) look(ctx context.Context) (vision.Match, error) {
	if err := l.fetch(ctx); err != nil {
		return vision.Match{}, err
	}
	o := l.options
	if title := l.target.Window; title != "" {
		w, err := l.windowByTitle(ctx, title)
		if err != nil {
			return vision.Match{}, err
		}
		if w.Bounds.Empty() {
			return vision.Match{}, errIcon
		}
		o.Region = w.Bounds
	}
	frame, err := l.cfg.Driver.Capture(ctx)
	if err != nil {
		return vision.Match{}, err
	}
	if o.Scales, err = l.scales(ctx); err != nil {
		return vision.Match{}, err
	}
	if l.target.Window != "" && o.Region.Intersect(frame.Image.Bounds()).Empty() {
		return vision.Match{}, faultf(work.TargetOffScreen, "the window %q is off the screen", l.target.Window)
	}
	if l.last != nil && l.region == o.Region && l.last.Rect == frame.Image.Rect && bytes.Equal(l.last.Pix, frame.Image.Pix) {
		return vision.Match{}, l.result
	}
	o.Done = ctx.Done()
	match, err := vision.Find(frame.Image, l.anchor, o)
	if errors.Is(err, vision.ErrUniform) || errors.Is(err, vision.ErrInvalid) {
		err = faultf(work.InvalidAction, "%v", err)
	}
	l.last, l.region, l.result = frame.Image, o.Region, err
	return match, err
}

// scales are the sizes that the anchor may have on the monitors that there are.
func (l *lookout) scales(ctx context.Context) ([]float64, error) {
	recorded := l.target.Anchor.RecordedScale
	if recorded == 0 {
		return nil, nil
	}
	monitors, err := l.cfg.Driver.Monitors(ctx)
	scales := []float64{1}
	for _, m := range monitors {
		if ratio := m.Scale / recorded; m.Scale > 0 && !slices.Contains(scales, ratio) {
			scales = append(scales, ratio)
		}
	}
	return scales, err
}

func (l *lookout) fetch(ctx context.Context) error {
	if l.anchor != nil {
		return nil
	}
	if l.cfg.Anchors == nil {
		return fmt.Errorf("%w: this agent has no source of them", errNoAnchor)
	}
	anchor, err := l.cfg.Anchors.Anchor(ctx, l.target.Anchor.SHA256)
	if err != nil {
		return fmt.Errorf("%w: %.12s: %w", errNoAnchor, l.target.Anchor.SHA256, err)
	}
	l.anchor = anchor
	return nil
}
