//go:build faultpoint

package windesktop

import (
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
)

// visits plays a gesture and calls at for every arrival at the points.
func visits(t *testing.T, d *Driver, in driver.Input, points string, at func(faultpoint.Arrival)) {
	t.Helper()
	listener, err := faultpoint.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	t.Setenv(faultpoint.Address, listener.Address())
	t.Setenv(faultpoint.Names, points)
	done := make(chan error, 1)
	go func() { done <- d.Do(t.Context(), in) }()
	for {
		select {
		case arrival := <-listener.Arrivals():
			at(arrival)
			arrival.GoOn()
		case err := <-done:
			if err != nil {
				t.Errorf("%T: %v", in, err)
			}
			return
		}
	}
}

func TestAProcessCanBeKilledBetweenAnyTwoEvents(t *testing.T) {
	for _, in := range gestures() {
		w := newFake()
		d, _ := open(t, w, Config{RestoreClipboard: Never})
		n := 0
		visits(t, d, in, faultpoint.AgentInputEvent, func(a faultpoint.Arrival) {
			n++
			if got := len(w.taken()); got != n || !strings.Contains(a.Subject, fmt.Sprintf("%s %d/", driver.NameOf(in), n)) {
				t.Errorf("%T: at %q with %d events taken, want %d", in, a.Subject, got, n)
			}
		})
		if got := len(w.taken()); n != got || n < 2 {
			t.Errorf("%T: %d arrivals, %d events", in, n, got)
		}
	}
}

func TestTheFaultPointFindsTheGestureHalfDone(t *testing.T) {
	for _, c := range []struct {
		in   driver.Input
		text string
		down string
	}{
		{driver.Click{At: image.Pt(200, 200), Count: 2, Modifiers: []string{"ctrl"}}, "", "ctrl left_button"},
		{driver.Drag{From: image.Pt(200, 200), To: image.Pt(300, 260)}, "", "left_button"},
		{driver.Combo{Keys: []string{"ctrl", "k"}}, "", "ctrl k"},
		{driver.Type{Text: "abcd"}, "ab", ""},
		{driver.Paste{Text: "pasted"}, "pasted", "ctrl"},
	} {
		w := newFake()
		d, win := open(t, w, Config{RestoreClipboard: Never})
		n := 0
		visits(t, d, c.in, faultpoint.AgentMidInput, func(a faultpoint.Arrival) {
			n++
			if down := strings.Join(w.downNames(), " "); down != c.down || win.told().Text != c.text || a.Subject != driver.NameOf(c.in) {
				t.Errorf("%T: at %q with %q down, %q typed", c.in, a.Subject, down, win.told().Text)
			}
		})
		if n != 1 || len(w.downNames()) != 0 {
			t.Errorf("%T: %d visits, still down: %v", c.in, n, w.downNames())
		}
	}
}
