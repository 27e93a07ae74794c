package windesktop

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/wait"
)

const (
	// focusPause is how often a window that was asked for is looked for in front.
	focusPause = 10 * time.Millisecond
	// askTime is how long a window has to come that was asked for, before the front is
	// claimed for it.
	askTime = 200 * time.Millisecond
)

// focus asks for a window to come to the front, and believes it when it has: Windows
// refuses programs that no person has just used, and says nothing. Then the front is
// claimed, once. Pressing alt first, which is known to make Windows obey too, would leave
// alt down in the window that was in front.
func (d *Driver) focus(ctx context.Context, id string) error {
	w, err := d.find(id)
	if err != nil {
		return fmt.Errorf("%w: %w", driver.ErrNotInFront, err)
	}
	if err := d.system.BringToFront(w.HWND); err != nil {
		return fmt.Errorf("window %q: %w: %w", w.Title, driver.ErrNotInFront, err)
	}
	began, claimed := time.Now(), false
	var refused error // why the front could not be claimed
	for {
		front := d.system.Foreground()
		if front == w.HWND {
			return d.awaitTop(ctx, w.HWND)
		}
		switch waited := time.Since(began); {
		case waited >= d.config.FocusTime:
			return d.notInFront(w, front, refused)
		case waited >= askTime && !claimed:
			claimed, refused = true, d.system.ClaimFront(w.HWND)
			continue
		}
		if err := wait.For(ctx, focusPause); err != nil {
			return err
		}
	}
}

// notInFront is the error for a window that did not come.
func (d *Driver) notInFront(w winapi.Window, front winapi.HWND, refused error) error {
	err := fmt.Errorf("window %q, after %v %s has the keyboard: %w", w.Title, d.config.FocusTime, d.titled(front), driver.ErrNotInFront)
	if refused != nil {
		return fmt.Errorf("%w: %w", err, refused)
	}
	return err
}

// awaitTop waits a moment until a window that has the keyboard also lies over the
// others, so that the next click finds it: the two may not change at once. That some
// windows stay on top of all is no fault.
func (d *Driver) awaitTop(ctx context.Context, w winapi.HWND) error {
	_, err := until(ctx, func() bool {
		windows, err := d.system.Windows()
		return err != nil || len(windows) == 0 || windows[0].HWND == w
	})
	return err
}

// titled says for people which window one is.
func (d *Driver) titled(w winapi.HWND) string {
	if w == 0 {
		return "no window"
	}
	windows, err := d.system.Windows()
	if err == nil {
		for _, at := range windows {
			if at.HWND == w && at.Title != "" {
				return fmt.Sprintf("%q", at.Title)
			}
		}
	}
	return "a window without a title"
}
