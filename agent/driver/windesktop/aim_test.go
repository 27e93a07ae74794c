package windesktop

import (
	"image"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// A person moves the mouse after the agent has looked where the pointer stands.
func TestB15_APressComesWhereItWasAimedThoughSomebodyMovesTheMouse(t *testing.T) {
	wholeCalls(t)
	at, to := image.Pt(200, 200), image.Pt(300, 260)
	for _, in := range []driver.Input{
		driver.Click{At: at, Count: 2}, driver.Drag{From: at, To: to}, driver.Scroll{At: at, Vertical: 2, Horizontal: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newFake()
			d, win := open(t, w, Config{})
			w.before = func(events []winapi.Event) {
				if len(events) > 1 {
					w.pointer = image.Pt(110, 110)
				}
			}
			if err := d.Do(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			for _, e := range win.told().Events {
				want := at
				if _, drags := in.(driver.Drag); drags && e.Kind == drivertest.Release {
					want = to
				}
				if e.Kind != drivertest.Move && e.At != want {
					t.Errorf("%T: %v at %v, want %v", in, e.Kind, e.At, want)
				}
			}
		})
	}
}
