package windesktop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

func TestB05_AWindowThatDoesNotComeIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		w.obeys = false // as Windows does to programs that nobody has just used: it says yes and flashes the taskbar
		d, first := open(t, w, Config{FocusTime: 3 * time.Second})
		w.open("Untitled - Notepad", first.area)
		began := time.Now()
		err := d.Do(t.Context(), driver.Focus{WindowID: windowID(first.hwnd, fakePID)})
		if !errors.Is(err, driver.ErrNotInFront) || !driver.NothingSent(err) || !strings.Contains(err.Error(), `"Untitled - Notepad"`) {
			t.Errorf("%v; want %v with the title in front", err, driver.ErrNotInFront)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("after %v, want 3 s", took)
		}
		if got := w.taken(); len(got) != 0 {
			t.Errorf("sent as a trick: %v", got)
		}
	})
}

// Windows lets no program choose the window in front that a service has started.
func TestB05_TheFrontIsClaimedOnceForAWindowThatIsRefused(t *testing.T) {
	errTaken := errors.New("no hot key is free")
	for name, c := range map[string]struct {
		claim func(w *fakeWindows, hwnd winapi.HWND) error
		want  error
		took  time.Duration
	}{
		"and it comes":    {func(w *fakeWindows, hwnd winapi.HWND) error { w.bring(hwnd); return nil }, nil, askTime},
		"and it does not": {func(*fakeWindows, winapi.HWND) error { return errTaken }, errTaken, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, claimed := newFake(), 0
				w.obeys = false
				d, first := open(t, w, Config{})
				w.open("another", first.area)
				w.claims = func(hwnd winapi.HWND) error { claimed++; return c.claim(w, hwnd) }
				began := time.Now()
				err := d.Do(t.Context(), driver.Focus{WindowID: windowID(first.hwnd, fakePID)})
				if !errors.Is(err, c.want) || errors.Is(err, driver.ErrNotInFront) != (c.want != nil) {
					t.Error(err)
				}
				if took := time.Since(began); claimed != 1 || took != c.took {
					t.Errorf("claimed %d times, after %v", claimed, took)
				}
			})
		})
	}
}

func TestB05_AWindowThatComesLateIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		w.obeys = false
		d, first := open(t, w, Config{})
		w.open("another", first.area)
		time.AfterFunc(300*time.Millisecond, func() { w.bring(first.hwnd) })
		if err := d.Do(t.Context(), driver.Focus{WindowID: windowID(first.hwnd, fakePID)}); err != nil {
			t.Error(err)
		}
	})
}

func TestB05_AWaitForTheFrontEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		w.obeys = false
		d, first := open(t, w, Config{})
		w.open("another", first.area)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errStopped)
		defer cancel()
		began := time.Now()
		err := d.Do(ctx, driver.Focus{WindowID: windowID(first.hwnd, fakePID)})
		if !errors.Is(err, errStopped) || time.Since(began) > 150*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// late lists the window in front first only after some looks.
type late struct {
	*fakeWindows
	looks int
}

func (l *late) Windows() ([]winapi.Window, error) {
	windows, err := l.fakeWindows.Windows()
	if l.looks--; l.looks > 0 {
		slices.Reverse(windows)
	}
	return windows, err
}

func TestB05_AFocusedWindowLiesOverTheOthersOrIsBelowOneThatStaysOnTop(t *testing.T) {
	for looksNeeded, want := range map[int]time.Duration{1: 0, 4: 2 * lookPause, 1000: (looks - 1) * lookPause} {
		synctest.Test(t, func(t *testing.T) {
			l := &late{newFake(), looksNeeded}
			first := l.open("first", l.screens[0])
			l.open("second", l.screens[0])
			d, err := newDriver(Config{}, l)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := d.Do(t.Context(), driver.Focus{WindowID: windowID(first.hwnd, fakePID)}); err != nil || time.Since(began) != want {
				t.Errorf("on top at look %d: after %v: %v; want %v", looksNeeded, time.Since(began), err, want)
			}
		})
	}
}

var errStopped = errors.New("stopped by the test")
