// Package virtualdesktop drives the virtual desktop, a process of its own. It
// decides into which events a gesture is taken apart; what they do, the desktop
// decides.
//
// Fault points lie after each event (faultpoint.AgentInputEvent, whose subject is
// the gesture and which of its events it was), and once within every gesture of
// several events, where some of its effect is there and something is still to be
// let go (faultpoint.AgentMidInput, the gesture's name as its subject): see lower.
package virtualdesktop

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"slices"
	"sync"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// patience is how long the desktop may take for one request.
const patience = 5 * time.Second

// Driver drives one virtual desktop. It is safe for concurrent use; gestures go
// one after the other, and no call cut short disturbs another: each has a
// connection of its own.
type Driver struct {
	gesture sync.Mutex // held during one
	lines   lines
}

var (
	_ driver.Driver     = (*Driver)(nil)
	_ driver.WindowEyes = (*Driver)(nil)
)

// New is the driver of the desktop whose input door is at a loopback address. It
// connects when it is first used, and again when the desktop has come back.
func New(address string) *Driver { return &Driver{lines: lines{address: address}} }

// Close ends the connections. What is down stays down; see Release.
func (d *Driver) Close() error { return d.lines.drop() }

// State says whether the desktop takes input. A desktop that is not there is
// disconnected.
func (d *Driver) State(ctx context.Context) (desktop.State, error) {
	condition, err := asked(ctx, d, wire.InputClient.Condition)
	switch {
	case errors.Is(err, driver.ErrUnavailable):
		return desktop.State{Kind: desktop.Disconnected, Detail: err.Error()}, nil
	case err != nil:
		return desktop.State{}, err
	case condition == wire.Active:
		return desktop.State{Kind: desktop.Active}, nil
	case condition == wire.Locked:
		return desktop.State{Kind: desktop.Locked, Detail: "the virtual desktop is locked"}, nil
	}
	return desktop.State{Kind: desktop.Disconnected, Detail: "the display is disconnected"}, nil
}

// Monitors returns the monitors, the primary one first.
func (d *Driver) Monitors(ctx context.Context) ([]driver.Monitor, error) {
	all, err := asked(ctx, d, wire.InputClient.Monitors)
	if err != nil {
		return nil, err
	}
	monitors := make([]driver.Monitor, len(all))
	for i, m := range all {
		monitors[i] = driver.Monitor{Index: i, Bounds: m.Bounds, Scale: m.Scale, Primary: i == 0}
	}
	return monitors, nil
}

// Windows returns the windows, the topmost first.
func (d *Driver) Windows(ctx context.Context) ([]driver.Window, error) {
	all, err := asked(ctx, d, wire.InputClient.Windows)
	if err != nil {
		return nil, err
	}
	windows := make([]driver.Window, len(all))
	for i, w := range all {
		windows[i] = driver.Window(w)
	}
	return windows, nil
}

// Capture takes a picture of all monitors.
func (d *Driver) Capture(ctx context.Context) (driver.Picture, error) {
	picture, err := asked(ctx, d, wire.InputClient.Capture)
	if err != nil {
		return driver.Picture{}, err
	}
	return driver.Picture{Image: picture, Taken: time.Now(), Method: driver.MethodScreen}, nil
}

// CaptureWindow cuts a window from the picture of all monitors.
func (d *Driver) CaptureWindow(ctx context.Context, id string) (driver.Picture, error) {
	windows, err := d.Windows(ctx)
	if err != nil {
		return driver.Picture{}, err
	}
	i := slices.IndexFunc(windows, func(w driver.Window) bool { return w.ID == id })
	if i < 0 {
		return driver.Picture{}, fmt.Errorf("window %q: %w", id, driver.ErrGone)
	}
	p, err := d.Capture(ctx)
	if err != nil {
		return driver.Picture{}, err
	}
	part := windows[i].Bounds.Intersect(p.Image.Bounds())
	if part.Empty() {
		return driver.Picture{}, fmt.Errorf("window %q at %v: %w", id, windows[i].Bounds, driver.ErrOffScreen)
	}
	cut := image.NewRGBA(part)
	draw.Draw(cut, part, p.Image, part.Min, draw.Src)
	p.Image, p.Method = cut, driver.MethodScreenCrop
	return p, nil
}

// Release lets go of every key and button that is down, whoever pressed it.
func (d *Driver) Release(ctx context.Context) error {
	d.gesture.Lock()
	defer d.gesture.Unlock()
	down, err := asked(ctx, d, wire.InputClient.Down)
	if err != nil {
		return err
	}
	for _, name := range down {
		e := wire.Event{Kind: wire.KeyUp, Key: name}
		if slices.Contains(buttons[:], name) {
			e = wire.Event{Kind: wire.ButtonUp, Button: name}
		}
		if err := d.send(ctx, e); err != nil {
			return fmt.Errorf("release: %w", err)
		}
	}
	return nil
}
