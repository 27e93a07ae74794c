package drivertest

import (
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
)

func clickLands(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "clicks")
	want := []Event{}
	for _, at := range corners(w.Area()) {
		do(t, f, driver.Click{At: at, Count: 1})
		want = append(want,
			Event{Kind: Press, At: at, Button: driver.Left, Clicks: 1},
			Event{Kind: Release, At: at, Button: driver.Left})
	}
	compare(t, want, awaitEvents(t, w, len(want), Press, Release))
	nothingDown(t, f)
}

func clickButtons(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "buttons")
	want := []Event{}
	for i, button := range []driver.Button{driver.Left, driver.Middle, driver.Right} {
		at := inside(w.Area(), i)
		do(t, f, driver.Click{At: at, Button: button, Count: 1})
		want = append(want,
			Event{Kind: Press, At: at, Button: button, Clicks: 1},
			Event{Kind: Release, At: at, Button: button})
	}
	compare(t, want, awaitEvents(t, w, len(want), Press, Release))
	nothingDown(t, f)
}

func doubleClick(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "double clicks")
	want := []Event{}
	for _, count := range []int{2, 3} {
		at := inside(w.Area(), count)
		do(t, f, driver.Click{At: at, Count: count})
		for n := 1; n <= count; n++ {
			want = append(want,
				Event{Kind: Press, At: at, Button: driver.Left, Clicks: n},
				Event{Kind: Release, At: at, Button: driver.Left})
		}
	}
	compare(t, want, awaitEvents(t, w, len(want), Press, Release))
}

func clickModifiers(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "modifiers")
	at, then := inside(w.Area(), 0), inside(w.Area(), 1)
	do(t, f, driver.Click{At: at, Count: 1, Modifiers: []string{"shift", "ctrl"}})
	nothingDown(t, f)
	do(t, f, driver.Click{At: then, Count: 1})
	want := []Event{
		{Kind: Press, At: at, Button: driver.Left, Clicks: 1, Modifiers: []string{"ctrl", "shift"}},
		{Kind: Press, At: then, Button: driver.Left, Clicks: 1},
	}
	compare(t, want, awaitEvents(t, w, len(want), Press))
}

func moveArrives(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "moves")
	last := inside(w.Area(), 2)
	do(t, f, driver.Move{At: inside(w.Area(), 0)})
	do(t, f, driver.Move{At: last})
	seen := w.Await(t, func(s Seen) bool {
		moves := only(s.Events, Move)
		return len(moves) > 0 && moves[len(moves)-1].At == last
	})
	moves := only(seen.Events, Move)
	if len(moves) == 0 || moves[len(moves)-1].At != last {
		t.Errorf("moves = %v, want the last one at %v", moves, last)
	}
	compare(t, []Event{}, only(seen.Events, Press, Release))
}

func dragArrives(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "drags")
	from, to := inside(w.Area(), 0), inside(w.Area(), 4)
	do(t, f, driver.Drag{From: from, To: to})
	seen := w.Await(t, func(s Seen) bool { return len(only(s.Events, Release)) == 1 })
	compare(t, []Event{
		{Kind: Press, At: from, Button: driver.Left, Clicks: 1},
		{Kind: Release, At: to, Button: driver.Left},
	}, only(seen.Events, Press, Release))

	between, pressed := 0, false
	for _, e := range seen.Events {
		pressed = (pressed || e.Kind == Press) && e.Kind != Release
		if pressed && e.Kind == Move && e.At != from && e.At != to && e.At.In(image.Rectangle{from, to}.Canon()) {
			between++
		}
	}
	if between == 0 {
		t.Errorf("no move between press and release: %v", seen.Events)
	}
	nothingDown(t, f)
}

func scrollNotches(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "scrolls")
	at := inside(w.Area(), 1)
	turns := []driver.Scroll{
		{At: at, Vertical: 3}, {At: at, Vertical: -2},
		{At: at, Horizontal: 1}, {At: at, Horizontal: -4}, {At: at, Vertical: 1, Horizontal: 2},
	}
	want, notches := image.Point{}, 0
	for _, turn := range turns {
		do(t, f, turn)
		want = want.Add(image.Pt(turn.Horizontal, turn.Vertical))
		notches += abs(turn.Horizontal) + abs(turn.Vertical)
	}
	seen := w.Await(t, func(s Seen) bool { return turned(s.Events) == notches })
	if got := turned(seen.Events); got != notches {
		t.Errorf("%d notches in all, want %d", got, notches)
	}
	sum := image.Point{}
	for _, e := range only(seen.Events, Wheel) {
		sum = sum.Add(e.Notches)
		if e.At != at {
			t.Errorf("the wheel turned at %v, want %v", e.At, at)
		}
	}
	if sum != want {
		t.Errorf("the wheel stands at %v, want %v: %v", sum, want, only(seen.Events, Wheel))
	}
}

func offScreenRefused(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "off screen")
	on, off := inside(w.Area(), 0), f.OffScreen()
	for _, in := range []driver.Input{
		driver.Click{At: off, Count: 1, Modifiers: []string{"ctrl"}}, driver.Move{At: off}, driver.Scroll{At: off, Vertical: 1},
		driver.Drag{From: off, To: on}, driver.Drag{From: on, To: off},
	} {
		refused(t, f, in, driver.ErrOffScreen)
	}
	nothingDown(t, f)
	do(t, f, driver.Click{At: on, Count: 1})
	compare(t, []Event{
		{Kind: Press, At: on, Button: driver.Left, Clicks: 1},
		{Kind: Release, At: on, Button: driver.Left},
	}, awaitEvents(t, w, 2, Press, Release, Wheel, KeyDown))
}

func coveredRefused(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "meant")
	f.OpenWindow(t, "another")
	meant, another := find(t, f, "meant").ID, find(t, f, "another").ID
	at := inside(w.Area(), 0)
	for _, in := range []driver.Input{
		driver.Click{At: at, Count: 1, Modifiers: []string{"ctrl"}, On: another}, driver.Drag{From: at, To: inside(w.Area(), 30), On: another},
		driver.Scroll{At: at, Vertical: 1, On: another}, driver.Click{At: at, Count: 1, On: "gone"},
	} {
		refused(t, f, in, driver.ErrOffScreen)
	}
	nothingDown(t, f)
	do(t, f, driver.Click{At: at, Count: 1, On: meant})
	compare(t, []Event{
		{Kind: Press, At: at, Button: driver.Left, Clicks: 1},
		{Kind: Release, At: at, Button: driver.Left},
	}, awaitEvents(t, w, 2, Press, Release, Wheel, KeyDown))
}

func countRefused(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "counts")
	at := inside(w.Area(), 0)
	for _, count := range []int{-1, 0, 4} {
		refused(t, f, driver.Click{At: at, Count: count}, driver.ErrUnsupported)
	}
	do(t, f, driver.Click{At: at, Count: 1})
	compare(t, []Event{{Kind: Press, At: at, Button: driver.Left, Clicks: 1}}, awaitEvents(t, w, 1, Press))
}

func turned(events []Event) int {
	notches := 0
	for _, e := range only(events, Wheel) {
		notches += abs(e.Notches.X) + abs(e.Notches.Y)
	}
	return notches
}

func abs(n int) int { return max(n, -n) }

func compare(t *testing.T, want, got []Event) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the window saw (-want +got):\n%s", diff)
	}
}
