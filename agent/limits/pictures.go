package limits

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"slices"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// Capture implements driver.Eyes. Where a window lies that a rule means, and between
// where it was before and after, the picture is black.
func (g *guard) Capture(ctx context.Context) (driver.Picture, error) {
	p, _, err := g.picture(ctx, g.Driver.Capture)
	return p, err
}

// CaptureWindow implements driver.WindowEyes. A window that a rule means is
// driver.ErrBlocked; where others lie in front of one, its picture is black.
func (g *guard) CaptureWindow(ctx context.Context, id string) (driver.Picture, error) {
	take := func(ctx context.Context) (driver.Picture, error) { return g.Driver.CaptureWindow(ctx, id) }
	if len(g.rules.NeverPicture) == 0 {
		return take(ctx)
	}
	windows, err := g.Windows(ctx)
	if err != nil {
		return driver.Picture{}, err
	}
	if err := g.maybePictured(windows, id); err != nil {
		return driver.Picture{}, err // and nothing was drawn
	}
	p, after, err := g.picture(ctx, take)
	if err == nil {
		err = g.maybePictured(after, id) // its title may have changed
	}
	if err != nil {
		return driver.Picture{}, err
	}
	return p, nil
}

// maybePictured says whether a picture may be taken of a window.
func (g *guard) maybePictured(windows []driver.Window, id string) error {
	for _, w := range windows {
		if rule := first(g.rules.NeverPicture, w); w.ID == id && rule != nil {
			return forbidden(rule, "a picture of this window")
		}
	}
	return nil
}

// picture takes a picture and makes it black where it must be. It returns the windows as
// they were after it was taken.
func (g *guard) picture(ctx context.Context, take func(context.Context) (driver.Picture, error)) (driver.Picture, []driver.Window, error) {
	if len(g.rules.NeverPicture) == 0 {
		p, err := take(ctx)
		return p, nil, err
	}
	before, err := g.Windows(ctx)
	if err != nil {
		return driver.Picture{}, nil, err
	}
	p, err := take(ctx)
	if err != nil {
		return driver.Picture{}, nil, err
	}
	after, err := g.Windows(ctx)
	if err != nil {
		return driver.Picture{}, nil, err
	}
	if p.Method == driver.MethodWindow {
		return p, after, nil // it shows nothing but the window
	}
	return blackened(p, g.areas(before, after)), after, nil
}

// area is where a window lay while a picture was taken.
type area struct {
	image.Rectangle
	rule *Rule
}

// areas are where the windows that no picture shows lay, by their ids. A window that
// moved was somewhere between.
func (g *guard) areas(lists ...[]driver.Window) map[string]area {
	found := map[string]area{}
	for _, windows := range lists {
		for _, w := range windows {
			if rule := first(g.rules.NeverPicture, w); rule != nil {
				found[w.ID] = area{rule: rule}
			}
		}
	}
	for _, windows := range lists {
		for _, w := range windows {
			if a, ok := found[w.ID]; ok {
				found[w.ID] = area{a.Union(w.Bounds), a.rule}
			}
		}
	}
	return found
}

// blackened makes a picture black where areas are, and notes how many.
func blackened(p driver.Picture, areas map[string]area) driver.Picture {
	var rules []string
	count := 0
	for _, a := range areas {
		if a.Intersect(p.Image.Rect).Empty() {
			continue
		}
		draw.Draw(p.Image, a.Rectangle, image.NewUniform(color.Black), image.Point{}, draw.Src)
		count++
		rules = append(rules, a.rule.String())
	}
	if count == 0 {
		return p
	}
	slices.Sort(rules)
	note := fmt.Sprintf("%d windows are black by the limits of this machine (%v)", count, slices.Compact(rules))
	if p.Note != "" {
		note = p.Note + "; " + note
	}
	p.Note = note
	return p
}
