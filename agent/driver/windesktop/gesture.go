package windesktop

import (
	"context"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/keyname"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// Do implements driver.Hands. Which events cannot stop in between, the package
// comment says. A Click or Drag that follows another press at the same place waits
// until the two are no double click; see awaitTurn.
func (d *Driver) Do(ctx context.Context, in driver.Input) error {
	give, err := d.take(ctx)
	if err != nil {
		return &driver.InputError{Err: err}
	}
	defer give()
	sent, err := d.perform(ctx, in)
	if err != nil {
		return &driver.InputError{Sent: sent, Err: fmt.Errorf("%s: %w", driver.NameOf(in), err)}
	}
	return nil
}

// perform returns how many input events were sent.
func (d *Driver) perform(ctx context.Context, in driver.Input) (int, error) {
	if err := d.awaitTurn(ctx, in); err != nil {
		return 0, err
	}
	state, err := d.State(ctx)
	if err != nil {
		return 0, err
	}
	if !state.Usable() {
		return 0, driver.Tellable(fmt.Errorf("%w: %v: %s", driver.ErrUnavailable, state.Kind, state.Detail))
	}
	switch in := in.(type) {
	case driver.Focus:
		return 0, d.focus(ctx, in.WindowID)
	case driver.Type:
		if err = keyname.CheckText(in.Text); err != nil {
			return 0, driver.Tellable(unsupported(err))
		}
		return d.write(ctx, driver.NameOf(in), in.Text, d.mode(in))
	case driver.Paste:
		return d.write(ctx, driver.NameOf(in), in.Text, Clipboard)
	}
	p, err := d.plan(ctx, in)
	if err != nil {
		return 0, err
	}
	if err = d.clear(ctx); err != nil {
		return 0, err
	}
	return d.play(ctx, in, p)
}

// plan says which steps a gesture is. An error means that it is impossible here.
func (d *Driver) plan(ctx context.Context, in driver.Input) (plan, error) {
	monitors, err := d.Monitors(ctx)
	if err != nil {
		return plan{}, err
	}
	onMonitor := func(at image.Point) bool {
		return slices.ContainsFunc(monitors, func(m driver.Monitor) bool { return at.In(m.Bounds) })
	}
	for _, at := range driver.Places(in) {
		if !onMonitor(at) {
			return plan{}, fmt.Errorf("%v: %w", at, driver.ErrOffScreen)
		}
		// Input for it would be taken and dropped. One in front is a state of the desktop.
		if w := d.system.WindowAt(at); w != 0 && d.system.Elevated(w) {
			return plan{}, fmt.Errorf("%s at %v has more rights than the agent: %w", d.titled(w), at, driver.ErrBlocked)
		}
	}
	if err := d.uncovered(in); err != nil {
		return plan{}, err
	}
	b := newBoard(d.system)
	switch in := in.(type) {
	case driver.Click:
		return b.planClick(in)
	case driver.Move:
		return planMove(in.At), nil
	case driver.Drag:
		return b.planDrag(in, onMonitor)
	case driver.Combo:
		return d.planCombo(b, in)
	case driver.Scroll:
		return planScroll(in), nil
	}
	return plan{}, fmt.Errorf("%T: %w", in, driver.ErrUnsupported)
}

// uncovered says whether the window that a gesture asks for is the topmost where it begins.
// Windows is asked for the one that would get the input: a veil that lets clicks through,
// as some programs lay one over the whole screen, covers nothing. Nor does a window of the
// same program without a title, such as a menu, a list or a tooltip: it is part of it.
func (d *Driver) uncovered(in driver.Input) error {
	on := driver.On(in)
	if on == "" {
		return nil
	}
	wanted, err := d.find(on)
	if err != nil {
		return fmt.Errorf("%w: %w", driver.ErrOffScreen, err)
	}
	at := driver.Places(in)[0]
	top := d.system.WindowAt(at)
	if top == wanted.HWND {
		return nil
	}
	windows, err := d.system.Windows()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(windows, func(w winapi.Window) bool { return w.HWND == top })
	if i >= 0 && windows[i].PID == wanted.PID && windows[i].Title == "" {
		return nil
	}
	return fmt.Errorf("%s lies over the place %v of window %q: %w", d.titled(top), at, wanted.Title, driver.ErrOffScreen)
}

func (d *Driver) play(ctx context.Context, in driver.Input, p plan) (int, error) {
	player := &player{system: d.system, title: d.titled, gesture: driver.NameOf(in), plan: p}
	defer func() {
		d.played(ctx, player)
		if player.sent > 2 { // more than the moves
			d.pressed(in)
		}
	}()
	err := player.play(ctx)
	return player.sent, err
}

// press is the press of a button that a gesture began with.
type press struct {
	at     image.Point
	button driver.Button
	when   time.Time // zero: there was none
}

func pressOf(in driver.Input) (press, bool) {
	switch in := in.(type) {
	case driver.Click:
		return press{at: in.At, button: in.Button}, true
	case driver.Drag:
		return press{at: in.From, button: in.Button}, true
	}
	return press{}, false
}

func (d *Driver) pressed(in driver.Input) {
	if p, ok := pressOf(in); ok {
		p.when = time.Now()
		d.press = p
	}
}

const (
	// samePlace is how near, in pixels, two presses are at one place. Windows takes
	// 4 (SM_CXDOUBLECLK), programs of their own more.
	samePlace = 16
	// clockStep is by how much the clock of input events is behind at most.
	clockStep = 16 * time.Millisecond
	// pasteGap is how long a program gets to take what was pasted before the next
	// text takes its place on the clipboard.
	pasteGap = 250 * time.Millisecond
)

// awaitTurn waits as long as a gesture would run into the one before it: a press
// that would make a double click of two, a paste that would take away the text of
// the one before. Nothing else waits.
func (d *Driver) awaitTurn(ctx context.Context, in driver.Input) error {
	var free time.Time
	if p, ok := pressOf(in); ok && !d.press.when.IsZero() && p.button == d.press.button {
		apart := p.at.Sub(d.press.at)
		if distance(apart.X) <= samePlace && distance(apart.Y) <= samePlace {
			free = d.press.when.Add(d.system.DoubleClickTime() + clockStep)
		}
	}
	if d.pastes(in) && !d.pasted.IsZero() {
		free = d.pasted.Add(pasteGap)
	}
	if left := time.Until(free); left > 0 {
		return wait.For(ctx, left)
	}
	return nil
}

func (d *Driver) pastes(in driver.Input) bool {
	switch in := in.(type) {
	case driver.Paste:
		return true
	case driver.Type:
		return d.mode(in) == Clipboard
	}
	return false
}

// mode is how a text is typed: as it is asked for, or as it is set up.
func (d *Driver) mode(in driver.Type) TypeMode {
	switch in.Mode {
	case driver.Characters:
		return Unicode
	case driver.ScanCodes:
		return ScanCodes
	}
	return d.config.TypeMode
}
