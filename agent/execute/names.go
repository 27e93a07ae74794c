package execute

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/agent/dialog"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/mask"
	"github.com/reprise-rpa/reprise/agent/work"
)

// compileNames makes ready which windows the action itself names. A title counts in part
// and in any case here, however strictly it is compared.
func (r *run) compileNames() error {
	a := &r.job.Action
	titled := func(want string) {
		if want = strings.TrimSpace(want); want != "" {
			r.seeks = append(r.seeks, func(w driver.Window) bool { return containsFold(w.Title, want) })
		}
	}
	titled(a.WindowBefore)
	if a.Target != nil {
		titled(a.Target.Window)
	}
	if want := strings.TrimSpace(a.WindowAfter); want != "" {
		r.after = func(w driver.Window) bool { return containsFold(w.Title, want) }
	}
	var selector *work.WindowSelector
	switch g := a.Do.(type) {
	case work.Drag:
		titled(g.To.Window)
	case work.FocusWindow:
		selector = &g.Window
	case work.WaitForWindow:
		selector = &g.Window
	case work.Screenshot:
		selector = g.Window
	}
	if selector == nil {
		return nil
	}
	match, err := matcher(*selector)
	if err == nil {
		r.seeks = append(r.seeks, match)
	}
	return err
}

// sought says whether a window is one that the action looks for.
func (r *run) sought(w driver.Window) bool {
	return slices.ContainsFunc(r.seeks, func(match func(driver.Window) bool) bool { return match(w) })
}

// names says whether the action names a window, as one that is there or that it brings.
func (r *run) names(w driver.Window) bool { return r.sought(w) || r.after != nil && r.after(w) }

// missed says whether an action did not find what it expected.
func missed(err error) bool {
	var f *fault
	return errors.As(err, &f) && (f.code == work.TargetNotFound || f.code == work.WrongWindow)
}

// because tells an action that did not find the window that it names apart from one that
// has a dialog in front which it does not know of.
func (r *run) because(ctx context.Context, err error) error {
	windows, failed := r.cfg.Driver.Windows(ctx)
	if len(r.seeks) == 0 || failed != nil {
		return err
	}
	if d, ok := dialog.InFront(slices.DeleteFunc(slices.Clone(windows), r.sought)); ok {
		return r.blockedBy(ctx, d, windows)
	}
	return err
}

func (r *run) blockedBy(ctx context.Context, d work.Dialog, windows []driver.Window) error {
	d.Context, d.Reason = r.untold(ctx, d.Context, windows), r.untold(ctx, d.Reason, windows)
	r.outcome.Dialog = &d
	return faultf(work.SystemDialog, "%s", d.Reason)
}

// titleBar is how high, in pixels, the part of a window is that shows its title: at 200 %.
const titleBar = 64

// untold returns a text for people without the titles that a mask lies over: what no
// picture shows, no message names.
func (r *run) untold(ctx context.Context, text string, windows []driver.Window) string {
	if len(r.masks) == 0 {
		return text
	}
	hides, err := r.hiding(ctx)
	for _, w := range windows {
		bar := w.Bounds
		bar.Max.Y = min(bar.Max.Y, bar.Min.Y+titleBar)
		if err != nil || hides(bar) {
			text = strings.ReplaceAll(text, fmt.Sprintf("%q", w.Title), "a title under a mask")
		}
	}
	return text
}

// hiding returns what says whether a mask lies over a place. A mask whose monitor is not
// there may be anywhere.
func (r *run) hiding(ctx context.Context) (func(image.Rectangle) bool, error) {
	monitors, err := r.cfg.Driver.Monitors(ctx)
	if err != nil {
		return nil, err
	}
	return func(place image.Rectangle) bool {
		return slices.ContainsFunc(r.masks, func(m work.Mask) bool {
			i := slices.IndexFunc(monitors, func(at driver.Monitor) bool { return at.Index == m.Monitor })
			return i < 0 || mask.Area(m, monitors[i].Bounds).Overlaps(place)
		})
	}, nil
}

// describe says for people what was looked for.
func describe(t *work.Target) string {
	var parts []string
	add := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(t.ByText != "", "the text %q", t.ByText)
	add(t.Description != "", "%s", t.Description)
	if t.Anchor != nil {
		add(true, "the picture %.12s", t.Anchor.SHA256)
	}
	if t.UIA != nil {
		add(true, "the element %s", named(driver.Element(*t.UIA)))
	}
	if t.Point != nil {
		add(true, "the point %.4f, %.4f", t.Point.X, t.Point.Y)
	}
	if t.OnPicture != nil {
		add(true, "the pixel %d, %d of a picture", t.OnPicture.X, t.OnPicture.Y)
	}
	add(t.Window != "", "in the window %q", t.Window)
	return strings.Join(parts, ", ")
}
