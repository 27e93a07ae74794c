package drivertest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
)

// looks is more often than any gesture of these tests looks at its context.
const looks = 400

func cancelLetsGo(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "cancelled")
	for _, in := range []driver.Input{
		driver.Click{At: inside(w.Area(), 0), Count: 2, Modifiers: []string{"ctrl"}},
		driver.Drag{From: inside(w.Area(), 1), To: inside(w.Area(), 4)},
		driver.Combo{Keys: []string{"ctrl", "shift", "f11"}},
		driver.Type{Text: "ab é"},
		driver.Scroll{At: inside(w.Area(), 1), Vertical: 3},
	} {
		midway := 0
		for n := 1; ; n++ {
			err := f.Driver().Do(cancelAtLook(t.Context(), n), in)
			nothingDown(t, f)
			if err == nil {
				break
			}
			stopped(t, in, err)
			if !driver.NothingSent(err) {
				midway++
			}
			if n == looks || t.Failed() {
				t.Fatalf("%T: cancelled at look %d: %v", in, n, err)
			}
		}
		if whole := inOneCall(f, in); whole != (midway == 0) {
			t.Errorf("%T stopped %d times between two of its events; goes in one call: %v", in, midway, whole)
		}
	}
}

func inOneCall(f Fixture, in driver.Input) bool {
	one, ok := f.(OneCaller)
	return ok && one.OneCall(in)
}

func stopped(t *testing.T, in driver.Input, err error) {
	t.Helper()
	var partly *driver.InputError
	if !errors.As(err, &partly) || !errors.Is(err, context.Canceled) {
		t.Errorf("%T: %v; want an InputError for the cancellation", in, err)
	}
}

func cancelledBefore(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "cancelled before")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, in := range []driver.Input{
		driver.Click{At: inside(w.Area(), 0), Count: 1}, driver.Type{Text: "no"}, driver.Paste{Text: "no"},
		driver.Combo{Keys: []string{"ctrl", "f2"}}, driver.Move{At: inside(w.Area(), 0)},
	} {
		err := f.Driver().Do(ctx, in)
		if !errors.Is(err, context.Canceled) || !driver.NothingSent(err) {
			t.Errorf("%T: %v; want the cancellation and proof that nothing was sent", in, err)
		}
	}
	do(t, f, driver.Type{Text: "yes"})
	awaitText(t, w, "yes")
}

func releaseLetsGo(t *testing.T, f Fixture) {
	f.OpenWindow(t, "left down")
	f.LeaveDown(t, "ctrl", "shift")
	if down := strings.Join(f.Down(t), " "); down != "ctrl left_button shift" {
		t.Fatalf("down = %q, want what the dead process pressed", down)
	}
	for range 2 { // releasing again is no fault
		if err := f.Driver().Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		nothingDown(t, f)
	}
}

func lockedDesktop(t *testing.T, f Fixture) {
	locker, ok := f.(Locker)
	if !ok {
		t.Fatal("the fixture cannot lock and does not say why")
	}
	w := f.OpenWindow(t, "locked")
	expectState(t, f, desktop.Active)
	locker.Lock(t, true)
	expectState(t, f, desktop.Locked)
	for _, in := range []driver.Input{
		driver.Click{At: inside(w.Area(), 0), Count: 1}, driver.Type{Text: "no"}, driver.Paste{Text: "no"}, driver.Combo{Keys: []string{"f2"}},
	} {
		refused(t, f, in, driver.ErrUnavailable)
	}
	locker.Lock(t, false)
	expectState(t, f, desktop.Active)
	do(t, f, driver.Type{Text: "back"})
	awaitText(t, w, "back")
}

func expectState(t *testing.T, f Fixture, want desktop.Kind) {
	t.Helper()
	got, err := f.Driver().State(t.Context())
	if err != nil || got.Kind != want {
		t.Fatalf("state = %v (%s), %v; want %v", got.Kind, got.Detail, err, want)
	}
}
