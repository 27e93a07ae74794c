package windesktop

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/controltype"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// elementsSystem is what finding elements needs of Windows; winapi.System has it. A
// Windows that has it not has no elements.
type elementsSystem interface {
	// Elements are the elements below a window that match, in the order of the tree.
	// What a window owns, such as a dialog, may come below both. It waits for the
	// window's program for a bounded time. Its errors are winapi.ErrGone, ErrHung,
	// ErrDenied and ErrNotHere.
	Elements(ctx context.Context, w winapi.HWND, q winapi.ElementQuery) ([]winapi.Element, error)
	// WindowAt is the top-level window at a place; 0: none.
	WindowAt(p image.Point) winapi.HWND
}

var _ driver.Elements = (*Driver)(nil)

// noTree is done once the process has said that it finds no elements: that this Windows has no UI Automation is a fact of
// the machine, and one line tells it.
var noTree sync.Once

// Elements implements driver.Elements by UI Automation. An element is on screen if it
// says so and the window at its place is its own: the one below which it was found, or
// another one of the same process below which it lies as well, such as the list that a
// combo box drops down, a menu, or a dialog. The calls to UI Automation have not been run
// on a real Windows.
func (d *Driver) Elements(ctx context.Context, windowID string, e driver.Element) ([]driver.Found, error) {
	return d.elements(ctx, windowID, e, &noTree)
}

func (d *Driver) elements(ctx context.Context, windowID string, e driver.Element, noTree *sync.Once) ([]driver.Found, error) {
	system, ok := d.system.(elementsSystem)
	if !ok {
		return nil, fmt.Errorf("elements: %w", driver.ErrUnsupported)
	}
	found, err := d.gather(ctx, system, windowID, e)
	if errors.Is(err, winapi.ErrNotHere) {
		noTree.Do(func() { d.config.Log.Info("this Windows finds no elements", logkeys.Error, err) })
		return nil, fmt.Errorf("elements: %w: %w", driver.ErrUnsupported, err)
	}
	return found, err
}

func (d *Driver) gather(ctx context.Context, system elementsSystem, windowID string, e driver.Element) ([]driver.Found, error) {
	if err := stopped(ctx); err != nil {
		return nil, err
	}
	q := winapi.ElementQuery{Name: e.Name, AutomationID: e.AutomationID}
	if e.ControlType != "" {
		kind, ok := controltype.ID(e.ControlType)
		if !ok {
			return nil, fmt.Errorf("elements: there is no control type %q: %w", e.ControlType, driver.ErrUnsupported)
		}
		q.ControlType = kind
	}
	windows, err := d.eyes.system.Windows()
	if err != nil {
		return nil, fmt.Errorf("windows: %w", err)
	}
	g := &gathering{
		system: system, query: q, processes: map[winapi.HWND]uint32{}, seen: map[string]bool{}, above: map[winapi.HWND][]winapi.Element{},
	}
	for _, w := range windows {
		g.processes[w.HWND] = w.PID
	}
	if windowID == "" {
		return g.all(ctx, d.eyes, windows)
	}
	w, err := d.find(windowID)
	if err != nil {
		return nil, err
	}
	if err := d.askable(w); err != nil {
		return nil, err
	}
	return g.below(ctx, w)
}

// askable says why a window's program can't be asked; nil: it can.
func (e *eyes) askable(w winapi.Window) error {
	switch {
	case e.system.Hung(w.HWND):
		return fmt.Errorf("window %q: %w", w.Title, driver.ErrHung)
	case e.system.Elevated(w.HWND):
		return fmt.Errorf("window %q runs with more rights than the agent: %w", w.Title, driver.ErrBlocked)
	}
	return nil
}

// gathering puts elements together, each once.
type gathering struct {
	system    elementsSystem
	query     winapi.ElementQuery
	processes map[winapi.HWND]uint32
	seen      map[string]bool
	above     map[winapi.HWND][]winapi.Element // below windows that lie over an element
}

// all asks every window that shows something and can be asked. A program that answers
// wrong is no reason not to find what another one has; its error is told when nobody has
// anything.
func (g *gathering) all(ctx context.Context, e *eyes, windows []winapi.Window) ([]driver.Found, error) {
	var found []driver.Found
	var wrong error
	for _, w := range windows {
		if w.Bounds.Empty() || e.askable(w) != nil {
			continue
		}
		more, err := g.below(ctx, w)
		found = append(found, more...)
		switch {
		case err == nil || outOfReach(err):
		case stopped(ctx) != nil || errors.Is(err, winapi.ErrNotHere):
			return nil, err
		case wrong == nil:
			wrong = err
		}
	}
	if len(found) == 0 {
		return nil, wrong
	}
	return found, nil
}

// outOfReach says whether one window's error is none of a search in all of them.
func outOfReach(err error) bool {
	return errors.Is(err, driver.ErrGone) || errors.Is(err, driver.ErrHung) || errors.Is(err, driver.ErrBlocked)
}

// below asks one window.
func (g *gathering) below(ctx context.Context, w winapi.Window) ([]driver.Found, error) {
	list, err := g.system.Elements(ctx, w.HWND, g.query)
	if err != nil {
		for _, known := range []struct{ of, is error }{
			{winapi.ErrGone, driver.ErrGone}, {winapi.ErrHung, driver.ErrHung}, {winapi.ErrDenied, driver.ErrBlocked},
		} {
			if errors.Is(err, known.of) {
				return nil, fmt.Errorf("window %q: %w: %w", w.Title, known.is, err)
			}
		}
		return nil, fmt.Errorf("window %q: %w", w.Title, err)
	}
	var found []driver.Found
	for _, e := range list {
		if e.ID != "" && g.seen[e.ID] {
			continue
		}
		g.seen[e.ID] = true
		found = append(found, g.found(ctx, w, e))
	}
	return found, nil
}

func (g *gathering) found(ctx context.Context, w winapi.Window, e winapi.Element) driver.Found {
	f := driver.Found{
		Element: driver.Element{Name: e.Name, AutomationID: e.AutomationID, ControlType: controltype.Name(e.ControlType)},
		Bounds:  e.Bounds, Clickable: e.Clickable, Enabled: e.Enabled, OnScreen: !e.OffScreen && !e.Bounds.Empty(),
	}
	if !f.OnScreen {
		return f
	}
	if at := g.system.WindowAt(f.Place()); at != 0 && at != w.HWND {
		process, known := g.processes[at]
		f.OnScreen = known && process == w.PID && g.liesIn(ctx, at, e)
	}
	return f
}

// liesIn says whether an element that was found below another window of its process lies
// in the one at its place too: what is behind a dialog does not, what the dialog is made
// of does. Where that can't be known, it does not.
func (g *gathering) liesIn(ctx context.Context, at winapi.HWND, e winapi.Element) bool {
	list, asked := g.above[at]
	if !asked {
		list, _ = g.system.Elements(ctx, at, g.query) // one that does not answer has none
		g.above[at] = list
	}
	return slices.ContainsFunc(list, func(in winapi.Element) bool {
		if e.ID != "" {
			return in.ID == e.ID
		}
		return in.ID == "" && in.Name == e.Name && in.AutomationID == e.AutomationID && in.ControlType == e.ControlType && in.Bounds == e.Bounds
	})
}
