package x11desktop

import (
	"context"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
)

var _ driver.WindowEyes = (*Driver)(nil)

// State implements driver.Eyes. A display that cannot be reached is a
// disconnected desktop. X has no lock of its own, so a locked one shows only as
// the window of the program that locks it.
func (d *Driver) State(ctx context.Context) (desktop.State, error) {
	if err := ctx.Err(); err != nil {
		return desktop.State{}, err
	}
	l, err := d.connect(ctx)
	if ctx.Err() != nil {
		return desktop.State{}, context.Cause(ctx)
	}
	if err != nil {
		return desktop.State{Kind: desktop.Disconnected, Detail: err.Error()}, nil //nolint:nilerr // that is the state
	}
	bounds, err := l.bounds()
	if err != nil {
		return desktop.State{Kind: desktop.Disconnected, Detail: fmt.Sprintf("display %s: %v", d.config.Display, err)}, nil
	}
	return usable(bounds.Size(), d.config.MinSize), nil
}

func usable(size, least image.Point) desktop.State {
	if size.X < least.X || size.Y < least.Y {
		return desktop.State{
			Kind:   desktop.DisplayTooSmall,
			Detail: fmt.Sprintf("%dx%d, at least %dx%d is needed", size.X, size.Y, least.X, least.Y),
		}
	}
	return desktop.State{Kind: desktop.Active}
}

// bounds are the root window's: the whole virtual desktop.
func (l *link) bounds() (image.Rectangle, error) {
	defer l.guard()()
	g, err := xproto.GetGeometry(l.conn, xproto.Drawable(l.root)).Reply()
	if err != nil {
		return image.Rectangle{}, err
	}
	return image.Rect(0, 0, int(g.Width), int(g.Height)), nil
}

// Monitors implements driver.Eyes. X knows no scale of a monitor; it is 1.
func (d *Driver) Monitors(ctx context.Context) ([]driver.Monitor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	return l.monitors()
}

func (l *link) monitors() ([]driver.Monitor, error) {
	bounds, err := l.bounds()
	if err != nil {
		return nil, err
	}
	defer l.guard()()
	var found []randr.MonitorInfo
	if l.randr {
		reply, err := randr.GetMonitors(l.conn, l.root, true).Reply()
		if err != nil {
			return nil, fmt.Errorf("monitors: %w", err)
		}
		found = reply.Monitors
	}
	return monitorsOf(found, bounds), nil
}

// monitorsOf puts the primary monitor first, or else the first one; the whole
// desktop is one where the display names none.
func monitorsOf(found []randr.MonitorInfo, bounds image.Rectangle) []driver.Monitor {
	if len(found) == 0 {
		return []driver.Monitor{{Bounds: bounds, Scale: 1, Primary: true}}
	}
	primary := 0
	for i, m := range found {
		if m.Primary {
			primary = i
			break
		}
	}
	monitors := make([]driver.Monitor, 0, len(found))
	for i, m := range found {
		at := image.Pt(int(m.X), int(m.Y))
		monitor := driver.Monitor{
			Index: i, Scale: 1, Primary: i == primary,
			Bounds: image.Rectangle{Min: at, Max: at.Add(image.Pt(int(m.Width), int(m.Height)))},
		}
		if monitor.Primary {
			monitors = append([]driver.Monitor{monitor}, monitors...)
		} else {
			monitors = append(monitors, monitor)
		}
	}
	return monitors
}

// Capture implements driver.Eyes.
func (d *Driver) Capture(ctx context.Context) (driver.Picture, error) {
	if err := ctx.Err(); err != nil {
		return driver.Picture{}, err
	}
	l, err := d.connect(ctx)
	if err != nil {
		return driver.Picture{}, err
	}
	bounds, err := l.bounds()
	if err != nil {
		return driver.Picture{}, err
	}
	return l.capture(bounds, driver.MethodScreen)
}

// CaptureWindow implements driver.WindowEyes: it cuts the window from the screen.
func (d *Driver) CaptureWindow(ctx context.Context, id string) (driver.Picture, error) {
	if err := ctx.Err(); err != nil {
		return driver.Picture{}, err
	}
	l, err := d.connect(ctx)
	if err != nil {
		return driver.Picture{}, err
	}
	windows, err := l.windows()
	if err != nil {
		return driver.Picture{}, fmt.Errorf("windows: %w", err)
	}
	i := slices.IndexFunc(windows, func(w driver.Window) bool { return w.ID == id })
	if i < 0 {
		return driver.Picture{}, fmt.Errorf("window %q: %w", id, driver.ErrGone)
	}
	screen, err := l.bounds()
	if err != nil {
		return driver.Picture{}, err
	}
	part := windows[i].Bounds.Intersect(screen)
	if part.Empty() {
		return driver.Picture{}, fmt.Errorf("window %q at %v: %w", id, windows[i].Bounds, driver.ErrOffScreen)
	}
	return l.capture(part, driver.MethodScreenCrop)
}

// capture takes a picture of a part of the screen, all windows on it.
func (l *link) capture(part image.Rectangle, method string) (driver.Picture, error) {
	format, err := rootFormat(l.setup, l.screen)
	if err != nil {
		return driver.Picture{}, fmt.Errorf("capture: %w", err)
	}
	defer l.guard()()
	taken := time.Now()
	reply, err := xproto.GetImage(l.conn, xproto.ImageFormatZPixmap, xproto.Drawable(l.root),
		int16(part.Min.X), int16(part.Min.Y), uint16(part.Dx()), uint16(part.Dy()), 0xffffffff).Reply()
	if err != nil {
		return driver.Picture{}, fmt.Errorf("capture: %w", err)
	}
	img, err := format.decode(reply.Data, part)
	if err != nil {
		return driver.Picture{}, fmt.Errorf("capture: %w", err)
	}
	return driver.Picture{Image: img, Taken: taken, Method: method}, nil
}
