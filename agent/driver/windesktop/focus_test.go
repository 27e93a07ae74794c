package windesktop

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
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

var errStopped = errors.New("stopped by the test")
