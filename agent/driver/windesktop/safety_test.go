package windesktop

import (
	"context"
	"errors"
	"image"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// gestures are one of each kind that presses something.
func gestures() []driver.Input {
	return []driver.Input{
		driver.Click{At: image.Pt(200, 200), Count: 2, Modifiers: []string{"ctrl"}},
		driver.Drag{From: image.Pt(200, 200), To: image.Pt(300, 260), Button: driver.Right},
		driver.Combo{Keys: []string{"ctrl", "shift", "f11"}},
		driver.Type{Text: "ab é😀\n"},
		driver.Paste{Text: "pasted"},
		driver.Scroll{At: image.Pt(200, 200), Vertical: 3},
	}
}

// countdown is a context that is cancelled at its nth look.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func cancelAtLook(ctx context.Context, n int64) *countdown {
	c := &countdown{}
	c.Context, c.cancel = context.WithCancel(ctx)
	c.left.Store(n)
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) <= 0 {
		c.cancel()
	}
	return c.Context.Err()
}

func (c *countdown) Done() <-chan struct{} {
	if c.left.Add(-1) <= 0 {
		c.cancel()
	}
	return c.Context.Done()
}

func TestB19_ACancelledGestureLetsGo(t *testing.T) {
	for _, in := range gestures() {
		for _, mode := range []TypeMode{Unicode, ScanCodes} {
			if typed, is := in.(driver.Type); is && mode == ScanCodes {
				in = driver.Type{Text: strings.NewReplacer("é", "E", "😀", "!").Replace(typed.Text)}
			}
			synctest.Test(t, func(t *testing.T) { cancelEverywhere(t, in, mode) })
		}
	}
}

func cancelEverywhere(t *testing.T, in driver.Input, mode TypeMode) {
	w := newFake()
	w.caps = true
	d, _ := open(t, w, Config{TypeMode: mode, RestoreClipboard: Never})
	whole := -1
	midway := 0
	for n := int64(1); whole < 0; n++ {
		before := len(w.taken())
		ctx := cancelAtLook(t.Context(), n)
		err := d.Do(ctx, in)
		ctx.cancel()
		if down := w.downNames(); len(down) != 0 || !w.caps {
			t.Fatalf("%T: cancelled at look %d: still down: %v, caps lock: %v", in, n, down, w.caps)
		}
		var partly *driver.InputError
		switch {
		case err == nil:
			whole = len(w.taken()) - before
		case !errors.As(err, &partly) || !errors.Is(err, context.Canceled):
			t.Fatalf("%T: %v; want an InputError for the cancellation", in, err)
		case partly.Sent > len(w.taken())-before:
			t.Fatalf("%T: %v, but %d events were taken", in, err, len(w.taken())-before)
		case partly.Sent > 0:
			midway++
		}
		if n > 2000 {
			t.Fatalf("%T does not come to its end", in)
		}
	}
	_, combo := in.(driver.Combo)
	_, paste := in.(driver.Paste)
	if atomic := combo || paste; atomic != (midway == 0) {
		t.Errorf("%T stopped %d times between two of its calls", in, midway)
	}
}

func TestB17_AShortCountSaysHowManyWereSentAndLetsGo(t *testing.T) {
	for _, in := range gestures() {
		for most := 0; ; most++ {
			ended := false
			synctest.Test(t, func(t *testing.T) { ended = refusedAfter(t, in, most) })
			if ended || t.Failed() {
				break
			}
			if most > 400 {
				t.Fatalf("%T does not come to its end", in)
			}
		}
	}
}

// refusedAfter plays a gesture on a Windows that refuses all but the first events
// and key-ups. It says whether the gesture needed no more.
func refusedAfter(t *testing.T, in driver.Input, most int) bool {
	w := newFake()
	left, blocked := most, false
	w.takes = func(events []winapi.Event) int {
		if blocked { // only what lets go is taken now
			return len(events)
		}
		n := min(left, len(events))
		left -= n
		blocked = n < len(events)
		return n
	}
	d, _ := open(t, w, Config{RestoreClipboard: Never})
	err := d.Do(t.Context(), in)
	if down := w.downNames(); len(down) != 0 {
		t.Errorf("%T: refused after %d: still down: %v", in, most, down)
	}
	if err == nil {
		return true
	}
	var partly *driver.InputError
	if !errors.As(err, &partly) || partly.Sent != most || !errors.Is(err, driver.ErrBlocked) || !errors.Is(err, errAccess) {
		t.Errorf("%T: %v; want %v after %d events, for %v", in, err, driver.ErrBlocked, most, errAccess)
	}
	return false
}

func TestBlockedInputSendsNothing(t *testing.T) {
	for _, in := range gestures() {
		w := newFake()
		w.takes = func([]winapi.Event) int { return 0 }
		d, win := open(t, w, Config{RestoreClipboard: Never})
		if err := d.Do(t.Context(), in); !errors.Is(err, driver.ErrBlocked) || !driver.NothingSent(err) {
			t.Errorf("%T: %v; want %v with nothing sent", in, err, driver.ErrBlocked)
		}
		if seen := win.told(); len(seen.Events) > 0 || seen.Text != "" {
			t.Errorf("%T: the window saw %v", in, seen)
		}
	}
}

func TestB19_WhatCannotBeLetGoOfIsSaid(t *testing.T) {
	wholeCalls(t)
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		calls := 0
		w.takes = func([]winapi.Event) int { calls++; return map[int]int{1: 2}[calls] }
		d, _ := open(t, w, Config{})
		err := d.Do(t.Context(), driver.Combo{Keys: []string{"ctrl", "shift", "f11"}})
		var partly *driver.InputError
		if !errors.As(err, &partly) || partly.Sent != 2 || !strings.Contains(err.Error(), "letting go") {
			t.Errorf("%v", err)
		}
		if calls != 1+letGoTries {
			t.Errorf("letting go was tried %d times", calls-1)
		}
	})
}

func TestB19_AReleaseThatIsRefusedOnceIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		answers := []int{2, 1, 0} // two keys down, one let go of, none; then all
		w.takes = func(events []winapi.Event) int {
			if len(answers) == 0 {
				return len(events)
			}
			n := answers[0]
			answers = answers[1:]
			return n
		}
		d, _ := open(t, w, Config{})
		err := d.Do(t.Context(), driver.Combo{Keys: []string{"ctrl", "shift", "f11"}})
		if down := w.downNames(); len(down) != 0 || strings.Contains(err.Error(), "letting go") {
			t.Errorf("still down: %v, %v", down, err)
		}
	})
}

func TestB19_APanicLetsGo(t *testing.T) {
	for _, in := range gestures() {
		for at := 1; at < 5; at++ {
			synctest.Test(t, func(t *testing.T) {
				w := newFake()
				calls := 0
				w.after = func() {
					if calls++; calls == at {
						panic("a fault of the program")
					}
				}
				d, _ := open(t, w, Config{RestoreClipboard: Never})
				func() {
					defer func() { _ = recover() }()
					_ = d.Do(t.Context(), in)
				}()
				w.after = nil
				if down := w.downNames(); len(down) != 0 {
					t.Errorf("%T: a panic in call %d: still down: %v", in, at, down)
				}
				if err := d.Do(t.Context(), driver.Combo{Keys: []string{"f2"}}); err != nil {
					t.Errorf("%T: the next gesture: %v", in, err)
				}
			})
		}
	}
}

func TestB01_NothingIsSentToADesktopThatCannotTakeIt(t *testing.T) {
	w := newFake()
	w.copied("the user's", true)
	d, win := open(t, w, Config{})
	w.locked = true
	for _, in := range append(gestures(), driver.Move{At: image.Pt(5, 5)}, driver.Focus{WindowID: windowID(win.hwnd, fakePID)}) {
		if err := d.Do(t.Context(), in); !errors.Is(err, driver.ErrUnavailable) || !driver.NothingSent(err) {
			t.Errorf("%T: %v; want %v with nothing sent", in, err, driver.ErrUnavailable)
		}
	}
	if got := w.taken(); len(got) != 0 || w.text != "the user's" {
		t.Errorf("sent: %v", got)
	}
}

func TestALockKeyThatWasNotSwitchedIsNotSwitchedBack(t *testing.T) {
	wholeCalls(t)
	for taken := range 2 { // nothing of the press, or its first half
		synctest.Test(t, func(t *testing.T) {
			w := newFake()
			w.caps = true
			first := true
			w.takes = func(events []winapi.Event) int {
				if first {
					first = false
					return taken
				}
				return len(events)
			}
			d, _ := open(t, w, Config{TypeMode: ScanCodes})
			if err := d.Do(t.Context(), driver.Type{Text: "a"}); !errors.Is(err, driver.ErrBlocked) {
				t.Errorf("%v; want %v", err, driver.ErrBlocked)
			}
			if !w.caps || len(w.downNames()) != 0 {
				t.Errorf("%d events taken: caps lock is on: %v, still down: %v", taken, w.caps, w.downNames())
			}
		})
	}
}
