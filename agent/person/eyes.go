package person

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
)

// State implements driver.Eyes.
func (g *Guard) State(ctx context.Context) (desktop.State, error) { return g.driver.State(ctx) }

// Monitors implements driver.Eyes.
func (g *Guard) Monitors(ctx context.Context) ([]driver.Monitor, error) {
	return g.driver.Monitors(ctx)
}

// Elements implements driver.Elements. A driver that has none is driver.ErrUnsupported.
func (g *Guard) Elements(ctx context.Context, windowID string, e driver.Element) ([]driver.Found, error) {
	tree, ok := g.driver.(driver.Elements)
	if !ok {
		return nil, fmt.Errorf("elements: %w", driver.ErrUnsupported)
	}
	return tree.Elements(ctx, windowID, e)
}

// Capture implements driver.Eyes.
func (g *Guard) Capture(ctx context.Context) (driver.Picture, error) {
	return g.picture(ctx, g.driver.Capture)
}

// CaptureWindow implements driver.WindowEyes.
func (g *Guard) CaptureWindow(ctx context.Context, id string) (driver.Picture, error) {
	return g.picture(ctx, func(ctx context.Context) (driver.Picture, error) { return g.driver.CaptureWindow(ctx, id) })
}

func (g *Guard) picture(ctx context.Context, take func(context.Context) (driver.Picture, error)) (driver.Picture, error) {
	if g.machine == nil {
		return take(ctx)
	}
	unveil, veiled, err := g.stage.veil(ctx)
	if err != nil {
		return driver.Picture{}, fmt.Errorf("capture: %w", err)
	}
	defer unveil()
	p, err := take(ctx)
	if err == nil && !veiled {
		p.Note = joined(p.Note, maybeSeen)
	}
	return p, err
}

func joined(note, more string) string {
	if note == "" {
		return more
	}
	return note + "; " + more
}

// Windows implements driver.Eyes: without those of the signs.
func (g *Guard) Windows(ctx context.Context) ([]driver.Window, error) {
	windows, err := g.driver.Windows(ctx)
	if g.machine == nil {
		return windows, err
	}
	class := g.machine.Class()
	return slices.DeleteFunc(windows, func(w driver.Window) bool { return w.Class == class }), err
}
