//go:build x11 && faultpoint

package x11desktop

import (
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
)

func TestFaultPointFindsTheGestureHalfDone(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	f := &fixture{driver: open(t, Config{Display: display}), client: newClient(t, display)}
	f.client.settles(f.driver)
	w := f.OpenWindow(t, "half done")
	points, err := faultpoint.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = points.Close() }()
	t.Setenv(faultpoint.Address, points.Address())
	t.Setenv(faultpoint.Names, faultpoint.AgentMidInput)
	for _, in := range []driver.Input{
		driver.Click{At: w.Area().Min, Count: 2}, driver.Combo{Keys: []string{"ctrl", "k"}}, driver.Type{Text: "some text"},
		driver.Drag{From: w.Area().Min, To: w.Area().Min.Add(w.Area().Size().Div(2))},
	} {
		done := make(chan error, 1)
		go func() { done <- f.driver.Do(t.Context(), in) }()
		arrival := <-points.Arrivals()
		if arrival.Subject != driver.NameOf(in) || len(f.Down(t)) == 0 {
			t.Errorf("%T: at %+v with %v down", in, arrival, f.Down(t))
		}
		arrival.GoOn()
		if err := <-done; err != nil {
			t.Errorf("%T: %v", in, err)
		}
		if down := f.Down(t); len(down) != 0 {
			t.Errorf("%T: still down: %v", in, down)
		}
	}
}
