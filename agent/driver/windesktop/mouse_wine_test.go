//go:build windows && wine

package windesktop

import (
	"image"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// Messages of winuser.h for the left button.
const wmLeftDown, wmLeftUp, wmLeftDouble = 0x0201, 0x0202, 0x0203

// awaitMessages returns the messages of some kinds as soon as there are n of them.
func awaitMessages(t *testing.T, w *winapitest.Window, n int, ids ...uint32) []winapitest.Message {
	t.Helper()
	var got []winapitest.Message
	winapitest.Await(t, "the messages have come", func() bool {
		got = slices.DeleteFunc(w.Messages(), func(m winapitest.Message) bool { return !slices.Contains(ids, m.ID) })
		return len(got) >= n
	})
	return got
}

func idsOf(messages []winapitest.Message) []uint32 {
	ids := make([]uint32, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}

func TestB20_OneDoubleClickIsOneAndTwoClicksAreNone(t *testing.T) {
	d := openReal(t, Config{})
	w := winapitest.Open(t, "is clicked", leftmost(t, d).Inset(80))
	at := w.Area().Min.Add(image.Pt(50, 40))
	for _, c := range []struct {
		name   string
		clicks []driver.Input
		want   []uint32
	}{
		{"a double click", []driver.Input{driver.Click{At: at, Count: 2}}, []uint32{wmLeftDown, wmLeftUp, wmLeftDouble, wmLeftUp}},
		{"two clicks at one place", []driver.Input{driver.Click{At: at, Count: 1}, driver.Click{At: at, Count: 1}},
			[]uint32{wmLeftDown, wmLeftUp, wmLeftDown, wmLeftUp}},
	} {
		before := len(awaitMessages(t, w, 0, wmLeftDown, wmLeftUp, wmLeftDouble))
		for _, in := range c.clicks {
			if err := d.Do(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		got := awaitMessages(t, w, before+len(c.want), wmLeftDown, wmLeftUp, wmLeftDouble)[before:]
		if diff := cmp.Diff(c.want, idsOf(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestB20_ADragIsSeenStepByStep(t *testing.T) {
	d := openReal(t, Config{})
	w := winapitest.Open(t, "is dragged in", leftmost(t, d).Inset(80))
	from := w.Area().Min.Add(image.Pt(100, 100))
	for _, way := range []image.Point{{200, 120}, {2, 1}} { // the second is within the threshold
		to := from.Add(way)
		before := len(w.Messages())
		if err := d.Do(t.Context(), driver.Drag{From: from, To: to}); err != nil {
			t.Fatal(err)
		}
		released := func(m winapitest.Message) bool { return m.ID == wmLeftUp }
		var seen []winapitest.Message
		winapitest.Await(t, "the button is up again", func() bool {
			seen = w.Messages()[before:]
			return slices.ContainsFunc(seen, released)
		})
		checkSteps(t, w.Area().Min, seen, from, to, d.system.DragThreshold())
	}
}

func checkSteps(t *testing.T, corner image.Point, seen []winapitest.Message, from, to, threshold image.Point) {
	t.Helper()
	at := func(m winapitest.Message) image.Point {
		return corner.Add(image.Pt(int(int16(m.LParam)), int(int16(m.LParam>>16))))
	}
	down := slices.IndexFunc(seen, func(m winapitest.Message) bool { return m.ID == wmLeftDown || m.ID == wmLeftDouble })
	up := slices.IndexFunc(seen, func(m winapitest.Message) bool { return m.ID == wmLeftUp })
	if down < 0 || up < down || at(seen[down]) != from || at(seen[up]) != to {
		t.Fatalf("from %v to %v: the window saw %v", from, to, idsOf(seen))
	}
	moves, beyond := 0, false
	for _, m := range seen[down+1 : up] {
		apart := at(m).Sub(from)
		beyond = beyond || distance(apart.X) > threshold.X || distance(apart.Y) > threshold.Y
		moves++
	}
	if !beyond || to.Sub(from).X > 100 && moves < 5 {
		t.Errorf("from %v to %v: %d moves, beyond the threshold %v: %v", from, to, moves, threshold, beyond)
	}
}

func TestB20_TheWheelTurnsBothWaysByWholeNotches(t *testing.T) {
	d := openReal(t, Config{})
	w := winapitest.Open(t, "is scrolled", leftmost(t, d).Inset(80))
	at := w.Area().Min.Add(image.Pt(50, 40))
	for _, c := range []struct {
		in   driver.Scroll
		id   uint32
		want int
	}{
		{driver.Scroll{At: at, Vertical: -3}, wmMouseWheel, -360}, {driver.Scroll{At: at, Vertical: 2}, wmMouseWheel, 240},
		{driver.Scroll{At: at, Horizontal: -2}, wmMouseHWheel, -240}, {driver.Scroll{At: at, Horizontal: 1}, wmMouseHWheel, 120},
	} {
		before := len(awaitMessages(t, w, 0, c.id))
		if err := d.Do(t.Context(), c.in); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, m := range awaitMessages(t, w, before+max(distance(c.in.Vertical), distance(c.in.Horizontal)), c.id)[before:] {
			sum += int(int16(m.WParam >> 16))
			if m.At != at {
				t.Errorf("the wheel turned at %v, want %v", m.At, at)
			}
		}
		if sum != c.want {
			t.Errorf("%+v turned it by %d, want %d", c.in, sum, c.want)
		}
	}
}

func TestB24_KeysCarryTheirScanCodes(t *testing.T) {
	d := openReal(t, Config{})
	w := winapitest.Open(t, "sees keys", image.Rect(40, 60, 440, 360))
	if err := d.Do(t.Context(), driver.Combo{Keys: []string{"ctrl", "shift", "left"}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Do(t.Context(), driver.Type{Text: "Az1!", Mode: driver.ScanCodes}); err != nil {
		t.Fatal(err)
	}
	w.AwaitText(t, "Az1!")
	var scans []uintptr
	for _, m := range awaitMessages(t, w, 9, wmKeyDown) {
		scans = append(scans, m.LParam>>16&0x1ff) // with the extended bit
	}
	want := []uintptr{0x1d, 0x2a, 0x14b, 0x2a, 0x1e, 0x2c, 0x02, 0x2a, 0x02} // of set 1
	if diff := cmp.Diff(want, scans); diff != "" {
		t.Errorf("scan codes (-want +got):\n%s", diff)
	}
	if layout := d.system.Layout(w.HWND()); layout == winapi.HKL(0) {
		t.Error("the window has no layout")
	}
}
