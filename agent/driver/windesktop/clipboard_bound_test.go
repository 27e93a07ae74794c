package windesktop

import (
	"bytes"
	"context"
	"errors"
	"image"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// slow makes one call of the clipboard take an hour: the program that has to render what
// lies there, or let go of it, does not answer.
func (w *fakeWindows) slow(slow string) {
	w.onClipboard(func(call string) error {
		if call == slow {
			return errHourly
		}
		return nil
	})
}

// errHourly makes answer wait for an hour, outside the lock.
var errHourly = errors.New("an hour later")

func TestB08_AClipboardThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	for _, call := range []string{"read", "set", "mark", "replace"} {
		synctest.Test(t, func(t *testing.T) {
			d, win := pasting(t, Config{})
			if call == "mark" {
				paste(t, d, "one") // whose mark is looked at
			}
			win.of.slow(call)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			began := time.Now()
			err := d.Do(ctx, driver.Paste{Text: "ours"})
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s: a paste took %v", call, took)
			}
			if call != "replace" && !errors.Is(err, driver.ErrBlocked) || call == "replace" && err != nil {
				t.Errorf("%s: %v", call, err)
			}
			began = time.Now()
			if err := d.Release(t.Context()); err != nil || time.Since(began) > 10*time.Second {
				t.Errorf("%s: a release took %v: %v", call, time.Since(began), err)
			}
			if err := d.Close(); err != nil || time.Since(began) > 10*time.Second {
				t.Errorf("%s: closing took %v: %v", call, time.Since(began), err)
			}
			time.Sleep(2 * time.Hour)
		})
	}
}

// What was given up and comes after all must not lie there for ever.
func TestB08_ATextThatComesToTheClipboardTooLateIsTakenOffAgain(t *testing.T) {
	for _, restore := range []time.Duration{time.Second, Never} {
		synctest.Test(t, func(t *testing.T) {
			d, win := pasting(t, Config{RestoreClipboard: restore})
			win.of.slow("set")
			if err := d.Do(t.Context(), driver.Paste{Text: needle}); !errors.Is(err, driver.ErrBlocked) || !driver.NothingSent(err) {
				t.Errorf("%v; want %v with nothing sent", err, driver.ErrBlocked)
			}
			var set atomic.Bool
			win.of.mu.Lock()
			win.of.behindUs = func() { set.Store(true) }
			win.of.mu.Unlock()
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			if got := win.of.on(); !set.Load() || got == needle {
				t.Errorf("restored after %v: set %v, then there is %q", restore, set.Load(), got)
			}
		})
	}
}

func TestB08_AFormerTextThatCannotBeReadKeepsNoPasteAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d, win := pasting(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		win.of.onClipboard(func(call string) error {
			if call == "read" {
				return errors.New("GetClipboardData: windows gives no reason")
			}
			return nil
		})
		if err := d.Do(t.Context(), driver.Paste{Text: "ours"}); err != nil || win.told().Text != "ours" {
			t.Errorf("%v; arrived: %q", err, win.told().Text)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := win.of.on(); got != "-" || !strings.Contains(log.String(), "cannot be read") {
			t.Errorf("there is %q; log: %s", got, log.String())
		}
	})
}

// A person copies something right behind us.
func TestB08_ATextCopiedRightBehindOursIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{})
		win.of.behindUs = func() { win.of.copied("copied since", true) }
		if err := d.Do(t.Context(), driver.Paste{Text: "ours"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := win.of.on(); got != "copied since" {
			t.Errorf("there is %q", got)
		}
	})
}

func TestB08_WhatADeadProcessPastedIsTakenOffTheClipboard(t *testing.T) {
	for _, c := range []struct {
		restore time.Duration
		mark    uint64
		want    string
	}{{time.Second, 99, "-"}, {time.Second, 0, needle}, {Never, 99, needle}} {
		synctest.Test(t, func(t *testing.T) {
			w := newFake()
			if err := w.SetClipboardText(needle, c.mark); err != nil {
				t.Fatal(err)
			}
			d, _ := open(t, w, Config{RestoreClipboard: c.restore})
			if err := d.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := w.on(); got != c.want {
				t.Errorf("restored after %v, under the mark %d: there is %q, want %q", c.restore, c.mark, got, c.want)
			}
		})
	}
}

func TestClosingCutsTheTimeForAPasteShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{RestoreClipboard: time.Minute})
		paste(t, d, "ours")
		time.Sleep(300 * time.Millisecond)
		began := time.Now()
		if err := d.Close(); err != nil || time.Since(began) != closeRestore-300*time.Millisecond || win.of.on() != "the user's" {
			t.Errorf("closed after %v: %v; there is %q", time.Since(began), err, win.of.on())
		}
	})
}

func TestClosingDoesNotWaitForAGestureThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		w.before = func(events []winapi.Event) { time.Sleep(time.Hour) }
		w.open("in front", w.screens[0])
		d, err := newDriver(Config{}, w)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = d.Do(t.Context(), driver.Move{At: image.Pt(5, 5)}) }()
		synctest.Wait()
		began := time.Now()
		if err := d.Close(); err == nil || time.Since(began) != closeBound {
			t.Errorf("closed after %v: %v", time.Since(began), err)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestAPanicInACallOfTheClipboardIsAnErrorOfTheGesture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, win := pasting(t, Config{})
		win.of.onClipboard(func(call string) error {
			if call == "set" {
				panic("a fault of the program")
			}
			return nil
		})
		if err := d.Do(t.Context(), driver.Paste{Text: "ours"}); !errors.Is(err, driver.ErrBlocked) || !driver.NothingSent(err) {
			t.Errorf("%v", err)
		}
	})
}
