package x11desktop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// How long a window gets to come to the front, and how often it is looked at.
const (
	focusBound = time.Second
	focusPause = 10 * time.Millisecond
)

// fromPager tells a window manager that a person asked, so that it obeys.
const fromPager = 2

// focus asks for a window to come to the front and believes it when it has. It
// sends no input event.
func (l *link) focus(ctx context.Context, id string) error {
	window, ok := parseWindowID(id)
	if !ok {
		return fmt.Errorf("no window %q: %w", id, driver.ErrNotInFront)
	}
	if err := l.raise(window); err != nil {
		return fmt.Errorf("window %s: %w: %w", id, driver.ErrNotInFront, err)
	}
	return lookAgain(ctx, focusBound, focusPause, func() error { return l.inFront(windowID(window)) })
}

// lookAgain looks until a window is in front, and returns why it is not when a bound has
// passed before the last look: however long a look took, there is one behind it.
func lookAgain(ctx context.Context, bound, between time.Duration, look func() error) error {
	for deadline := time.Now().Add(bound); ; {
		late := !time.Now().Before(deadline)
		err := look()
		if late || !errors.Is(err, driver.ErrNotInFront) {
			return err
		}
		if err := pause(ctx, between); err != nil {
			return err
		}
	}
}

// inFront fails unless a window has the keyboard.
func (l *link) inFront(id string) error {
	windows, err := l.windows()
	if err != nil {
		return err
	}
	front := "no window"
	if i := slices.IndexFunc(windows, func(w driver.Window) bool { return w.Active }); i >= 0 {
		if windows[i].ID == id {
			return nil
		}
		front = fmt.Sprintf("%q", windows[i].Title)
	}
	return fmt.Errorf("window %s, %s has the keyboard: %w", id, front, driver.ErrNotInFront)
}

// raise asks the window manager, or does what one would do.
func (l *link) raise(window xproto.Window) error {
	defer l.guard()()
	if l.managed() {
		if _, err := xproto.GetGeometry(l.conn, xproto.Drawable(window)).Reply(); err != nil {
			return err
		}
		request := xproto.ClientMessageEvent{
			Format: 32, Window: window, Type: l.atoms["_NET_ACTIVE_WINDOW"],
			Data: xproto.ClientMessageDataUnionData32New([]uint32{fromPager, 0, 0, 0, 0}),
		}
		const mask = xproto.EventMaskSubstructureNotify | xproto.EventMaskSubstructureRedirect
		return xproto.SendEventChecked(l.conn, false, l.root, mask, string(request.Bytes())).Check()
	}
	err := xproto.ConfigureWindowChecked(l.conn, l.frame(window), xproto.ConfigWindowStackMode, []uint32{xproto.StackModeAbove}).Check()
	if err != nil {
		return err
	}
	return xproto.SetInputFocusChecked(l.conn, xproto.InputFocusParent, window, xproto.TimeCurrentTime).Check()
}
