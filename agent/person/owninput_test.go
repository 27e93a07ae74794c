package person

import (
	"image"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

var rectangle = image.Rect(100, 100, 200, 150)

func TestWhatCountsAsThePersonsInput(t *testing.T) {
	button := winapi.Seen{Device: winapi.Mouse, At: image.Pt(5, 5)}
	released := button
	released.Up = true
	for _, c := range []struct {
		name   string
		events []winapi.Seen
		want   string
	}{
		{"a key", []winapi.Seen{down(vkA)}, "keyboard"},
		{"a key let go of, pressed before the work began", []winapi.Seen{up(vkA)}, ""},
		{"a button, or the wheel", []winapi.Seen{button}, "mouse"},
		{"a button let go of", []winapi.Seen{released}, ""},
		{"the agent's own", []winapi.Seen{own(down(vkA)), own(button), own(pointer(0, 0)), own(pointer(900, 0))}, ""},
		{"the pointer is seen for the first time", []winapi.Seen{pointer(900, 700)}, ""},
		{"a bump there and back", []winapi.Seen{pointer(100, 100), pointer(112, 100), pointer(100, 100)}, ""},
		{"farther than a bump", []winapi.Seen{pointer(100, 100), pointer(112, 100), pointer(100, 101), pointer(101, 101), pointer(102, 101)}, "mouse"},
		{"where the agent has left it", []winapi.Seen{pointer(100, 100), own(pointer(600, 500)), pointer(601, 500), pointer(602, 500), pointer(603, 500)}, ""},
		{"a jump is no hand", []winapi.Seen{pointer(100, 100), pointer(700, 500), pointer(701, 500)}, ""},
	} {
		var o ownInput
		got := ""
		for _, e := range c.events {
			if by, counts := o.sees(e, time.Unix(0, 0)); counts {
				got = by
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The ctrl that Windows puts before AltGr carries nobody's tag, not even after a right alt
// of the agent's. A person's AltGr has a right alt of its own.
func TestB19_TheCtrlOfTheAgentsAltGrIsNoPerson(t *testing.T) {
	altGr := []winapi.Seen{fakeCtrl(false), own(down(vkRAlt)), own(down('E')), own(up('E')), fakeCtrl(true), own(up(vkRAlt))}
	for _, c := range []struct {
		name   string
		events []winapi.Seen
		want   int
	}{
		{"the agent types €", altGr, 0},
		{"a person presses AltGr", []winapi.Seen{fakeCtrl(false), down(vkRAlt)}, 1},
		{"a person presses ctrl", []winapi.Seen{{Device: winapi.Keyboard, Key: vkLCtrl, Scan: 0x1D}}, 1},
		{"another program sends the character of that number", []winapi.Seen{{Device: winapi.Keyboard, Key: 0xE7, Scan: winapi.FakeCtrlScan}}, 1},
	} {
		var o ownInput
		got := 0
		for _, e := range c.events {
			if _, counts := o.sees(e, time.Unix(0, 0)); counts {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d events count, want %d", c.name, got, c.want)
		}
	}
}

func TestASlowDriftOfThePointerIsNoPerson(t *testing.T) {
	var o ownInput
	now := time.Unix(0, 0)
	for x := range 200 {
		now = now.Add(bumpTime / 20)
		if by, counts := o.sees(pointer(x, 0), now); counts {
			t.Fatalf("after %d pixels, one each %v, it is the %s", x, bumpTime/20, by)
		}
	}
}

// Whatever moves: within any half second that was not told of, the person's way is
// within a bump, or a jump.
func TestNoPersonGoesUnnoticedBeyondABump(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o ownInput
		now, at := time.Unix(0, 0), image.Pt(0, 0)
		o.sees(pointer(0, 0), now)
		var way []move
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * time.Millisecond)
			at = at.Add(image.Pt(rapid.IntRange(-20, 20).Draw(t, "x"), 0))
			before := len(way)
			way = append(way, move{now, abs(float64(at.X - o.at.X))})
			if _, counts := o.sees(pointer(at.X, at.Y), now); counts {
				way = nil
				continue
			}
			moves, sum := 0, 0.0
			for _, m := range way {
				if now.Sub(m.when) < bumpTime && m.far > 0 {
					moves, sum = moves+1, sum+m.far
				}
			}
			if sum > bump && moves >= handMoves {
				t.Fatalf("%v pixels within %v went unnoticed, at move %d", sum, bumpTime, before)
			}
		}
	})
}

func TestOwnInputIsToldOnceASecondForEachDeviceAndNeverWhichKey(t *testing.T) {
	for _, on := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := newFake()
			g := guard(t, m, Config{Settings: Settings{OwnInput: on}})
			told := attend(t, g)
			synctest.Wait() // what comes before somebody attends is over
			for range 30 {  // three seconds
				if m.saw(down(vkA)) || m.saw(winapi.Seen{Device: winapi.Mouse}) {
					t.Error("an event of the person was kept from the windows")
				}
				time.Sleep(100 * time.Millisecond)
			}
			synctest.Wait()
			var got []driver.Act
			for len(told) > 0 {
				got = append(got, <-told)
			}
			if !on {
				if got != nil {
					t.Errorf("turned off, it told of %+v", got)
				}
				return
			}
			begin := got[0].At
			var want []driver.Act
			for s := range 3 {
				at := begin.Add(time.Duration(s) * time.Second)
				want = append(want, driver.Act{Kind: driver.Used, By: "keyboard", At: at}, driver.Act{Kind: driver.Used, By: "mouse", At: at})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}
