package windesktop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// usersDesktop is the desktop that a user's programs run on. Input goes to one
// desktop at a time, and the agent's own input never reaches another.
const usersDesktop = "Default"

// State implements driver.Eyes. What keeps input away is named by its farthest
// cause: no user, then the session's screen, its lock, another desktop in front, a
// window that is out of reach, the size of the display. Details say what to do.
func (e *eyes) State(ctx context.Context) (desktop.State, error) {
	for _, look := range []func() (desktop.State, error){e.session, e.inputDesktop, e.inFront, e.display} {
		if err := stopped(ctx); err != nil {
			return desktop.State{}, err
		}
		if state, err := look(); err != nil || !state.Usable() {
			return state, err
		}
	}
	return desktop.State{Kind: desktop.Active}, nil
}

// active is what a look says that has nothing against it.
func active() (desktop.State, error) { return desktop.State{Kind: desktop.Active}, nil }

func unusable(kind desktop.Kind, format string, args ...any) (desktop.State, error) {
	return desktop.State{Kind: kind, Detail: fmt.Sprintf(format, args...)}, nil
}

// session judges by the user's session. What Windows can't tell about it speaks
// neither for nor against: then the input desktop decides.
func (e *eyes) session() (desktop.State, error) {
	s, err := e.system.Session()
	partly := errors.Is(err, winapi.ErrNotHere)
	switch {
	case err != nil && !partly:
		return desktop.State{}, fmt.Errorf("session: %w", err)
	case s.User == "" && !partly:
		return unusable(desktop.NoUser, "nobody is logged on; log the user on whose desktop is driven")
	case s.Disconnected:
		return unusable(desktop.Disconnected, "no screen shows the user's session; connect to it again, or bring it to the machine's own screen (tscon)")
	case s.Locked:
		return unusable(desktop.Locked, "the user's session is locked; unlock it")
	}
	return active()
}

// inputDesktop judges by the desktop that gets input.
func (e *eyes) inputDesktop() (desktop.State, error) {
	name, err := e.system.InputDesktop()
	switch {
	case err != nil:
		return unusable(desktop.SecureDesktop,
			"the desktop in front is closed to programs, as a consent prompt and the lock screen are; answer it at the machine (%v)", err)
	case strings.EqualFold(name, usersDesktop):
		return active()
	case strings.EqualFold(name, "Winlogon"):
		return unusable(desktop.SecureDesktop, "a consent prompt, a logon or the lock screen is in front; answer it at the machine")
	case strings.EqualFold(name, "Screen-saver"):
		return unusable(desktop.SecureDesktop, "the screen saver is in front; end it at the machine and switch it off")
	}
	return unusable(desktop.SecureDesktop, "the desktop %q is in front, not the user's; switch back to it at the machine", name)
}

// inFront judges by the window that has the keyboard: Windows drops input to a
// program with more rights and reports it as sent.
func (e *eyes) inFront() (desktop.State, error) {
	front := e.system.Foreground()
	if front == 0 || !e.system.Elevated(front) {
		return active()
	}
	return unusable(desktop.ElevatedWindow,
		"%s runs with more rights than the agent; close it, or start it without them", e.named(front))
}

// named says for people which window one is.
func (e *eyes) named(w winapi.HWND) string {
	windows, err := e.system.Windows()
	if err != nil {
		return "the window in front"
	}
	for _, at := range windows {
		if at.HWND == w && at.Process != "" {
			return fmt.Sprintf("the window %q in front, of %s,", at.Title, at.Process)
		}
		if at.HWND == w {
			return fmt.Sprintf("the window %q in front", at.Title)
		}
	}
	return "the window in front"
}

// display judges by the primary monitor.
func (e *eyes) display() (desktop.State, error) {
	monitors, err := e.monitors()
	if err != nil {
		return desktop.State{}, err
	}
	if len(monitors) == 0 {
		return unusable(desktop.Disconnected, "the desktop has no monitor; connect one, or connect to the session")
	}
	if size := monitors[0].Bounds.Size(); size.X < e.least.X || size.Y < e.least.Y {
		return unusable(desktop.DisplayTooSmall, "the primary monitor is %d×%d, at least %d×%d is needed; give it a higher resolution",
			size.X, size.Y, e.least.X, e.least.Y)
	}
	return active()
}
