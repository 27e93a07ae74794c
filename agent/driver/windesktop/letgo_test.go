package windesktop

import (
	"errors"
	"image"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// consent takes the desktop of w at the first press, until it is answered. Behind it
// nothing looks pressed and no input is taken, as on Windows.
func consent(w *fakeWindows, answered time.Duration) {
	asked := false
	w.after = func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.down) == 0 || asked {
			return
		}
		asked, w.secure = true, true
		time.AfterFunc(answered, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.secure = false
		})
	}
}

func TestB19_WhatCouldNotBeLetGoOfIsLetGoOfAsSoonAsTheDesktopIsBack(t *testing.T) {
	for _, in := range []driver.Input{
		driver.Drag{From: image.Pt(200, 200), To: image.Pt(300, 300)},
		driver.Drag{From: image.Pt(200, 200), To: image.Pt(300, 300), Button: driver.Right},
		driver.Type{Text: "ab", Mode: driver.ScanCodes},
	} {
		for _, away := range []time.Duration{100 * time.Millisecond, 2 * time.Second, time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				wholeCalls(t)
				w := newFake()
				w.caps = true
				first := true
				w.takes = func(events []winapi.Event) int { // the first key of a text goes down and not up
					if _, typing := in.(driver.Type); typing && first {
						first = false
						return 1
					}
					return len(events)
				}
				d, _ := open(t, w, Config{})
				consent(w, away)
				if err := d.Do(t.Context(), in); !errors.Is(err, driver.ErrBlocked) {
					t.Fatalf("%T: %v", in, err)
				}
				time.Sleep(away + mostLetGo + time.Second)
				synctest.Wait()
				if down := w.downNames(); len(down) != 0 || !w.caps {
					t.Errorf("%T: %v later %q is still down, caps lock %v", in, away, down, w.caps)
				}
			})
		}
	}
}

// What a person has let go of by hand is not touched again.
func TestB19_WhatAPersonLetGoOfIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		d, _ := open(t, w, Config{})
		consent(w, time.Second)
		if err := d.Do(t.Context(), driver.Drag{From: image.Pt(200, 200), To: image.Pt(300, 300)}); !errors.Is(err, driver.ErrBlocked) {
			t.Fatal(err)
		}
		w.mu.Lock()
		delete(w.down, vkLeftButton)
		w.down['S'] = true // and works
		w.mu.Unlock()
		calls := len(w.taken())
		time.Sleep(time.Minute)
		synctest.Wait()
		if more := w.taken()[calls:]; len(more) != 0 || !w.Pressed('S') {
			t.Errorf("sent: %v", more)
		}
	})
}

func TestB19_AReleaseBehindALockIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		w.down[vkLControl] = true // of a dead process
		d, _ := open(t, w, Config{})
		lock := func(locked bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.secure, w.locked = locked, locked
		}
		lock(true)
		if err := d.Release(t.Context()); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("%v; want %v", err, driver.ErrUnavailable)
		}
		lock(false)
		if err := d.Release(t.Context()); err != nil || len(w.downNames()) != 0 {
			t.Errorf("%v; down: %v", err, w.downNames())
		}
		lock(true)
		if err := d.Release(t.Context()); err != nil {
			t.Errorf("nothing was pressed since: %v", err)
		}
		lock(false)
		consent(w, time.Hour)
		if err := d.Do(t.Context(), driver.Drag{From: image.Pt(200, 200), To: image.Pt(300, 300)}); !errors.Is(err, driver.ErrBlocked) {
			t.Fatal(err)
		}
		if err := d.Release(t.Context()); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("with a button down: %v; want %v", err, driver.ErrUnavailable)
		}
	})
}

func TestClosingEndsTheTriesToLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		d, _ := open(t, w, Config{})
		consent(w, 24*time.Hour)
		if err := d.Do(t.Context(), driver.Drag{From: image.Pt(200, 200), To: image.Pt(300, 300)}); !errors.Is(err, driver.ErrBlocked) {
			t.Fatal(err)
		}
		began := time.Now()
		if err := d.Close(); err != nil || time.Since(began) != 0 {
			t.Errorf("closed after %v: %v", time.Since(began), err)
		}
	})
}
