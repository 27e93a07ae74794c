package windesktop

import (
	"errors"
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

// A person who bumps the mouse once does not end a drag; one who goes on moving it does,
// and is not taken for a Windows that refuses input.
func TestAPersonWhoMovesTheMouseDuringADragIsNamed(t *testing.T) {
	for bumps, want := range map[int]error{1: nil, 1000: driver.ErrPerson} {
		synctest.Test(t, func(t *testing.T) {
			w := newFake()
			d, _ := open(t, w, Config{})
			bumped := 0
			w.strays = func(at image.Point) image.Point {
				if !w.down[vkLeftButton] || bumped == bumps {
					return at
				}
				bumped++
				return at.Add(image.Pt(10+bumped, 7))
			}
			err := d.Do(t.Context(), driver.Drag{From: image.Pt(200, 200), To: image.Pt(300, 300)})
			if !errors.Is(err, want) || errors.Is(err, driver.ErrBlocked) || len(w.downNames()) != 0 || bumped == 0 {
				t.Errorf("bumped %d times: %v; down: %v", bumped, err, w.downNames())
			}
		})
	}
}
