//go:build windows && wine

package windesktop

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/driver/keyname"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

func TestWindowsDesktopKeepsTheDriversPromisesOnWindows(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) drivertest.Fixture {
		d, err := New(Config{RestoreClipboard: 300 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(d.Release(context.WithoutCancel(t.Context())), d.Close()); err != nil {
				t.Error(err)
			}
		})
		return &realFixture{driver: d}
	})
}

// realFixture opens windows of the test's own process.
type realFixture struct {
	driver *Driver
	system winapi.System
	opened int
}

func (f *realFixture) Driver() driver.Driver { return f.driver }

func (f *realFixture) OffScreen() image.Point { return f.system.VirtualScreen().Max }

func (f *realFixture) Exceptions() map[drivertest.Promise]string {
	return map[drivertest.Promise]string{
		drivertest.CancelLetsGo:  "a combo is one call and cannot stop in between; TestB19_ACancelledGestureLetsGo puts it to the others",
		drivertest.LockedDesktop: "Wine has no lock screen; TestB01 puts it to a fake",
	}
}

func (f *realFixture) OpenWindow(t *testing.T, title string) drivertest.Window {
	t.Helper()
	w := winapitest.Open(t, title, image.Rect(0, 0, 400, 300).Add(image.Pt(40+420*f.opened, 60)))
	f.opened++
	return &realWindow{w}
}

func (f *realFixture) Down(*testing.T) []string {
	names := []string{}
	for _, vk := range f.driver.down() {
		names = append(names, realName(vk))
	}
	slices.Sort(names)
	return names
}

func (f *realFixture) LeaveDown(t *testing.T, keys ...string) {
	t.Helper()
	parsed, err := keyname.ParseAll(keys)
	if err != nil {
		t.Fatal(err)
	}
	events := []winapi.Event{winapi.MouseEvent{Flags: winapi.MouseLeftDown}}
	for _, k := range parsed {
		events = append(events, newBoard(f.system).key(named[k.Code], true))
	}
	// Wine takes a key up again that X does not have down when a window gets the
	// keyboard, which a new window does a moment after it is in front.
	still := 0
	winapitest.Await(t, "the keys stay down", func() bool {
		if still++; len(f.driver.down()) < len(events) {
			still = 0
			if _, err := f.system.SendInput(events); err != nil {
				t.Fatal(err)
			}
		}
		return still == 10
	})
}

// realName is a key's name as the schema has it.
func realName(vk uint16) string {
	switch {
	case vk == vkLeftButton:
		return "left_button"
	case vk == vkRightButton:
		return "right_button"
	case vk == vkMiddleButton:
		return "middle_button"
	case vk >= vkF1 && vk < vkF1+24:
		return keyname.Key{Code: keyname.F1 + keyname.Code(vk-vkF1)}.String()
	}
	for code, of := range named {
		if sides, both := either[vk]; of == vk || both && sides[0] == of {
			return keyname.Key{Code: code}.String()
		}
	}
	return strings.ToLower(string(rune(vk)))
}

type realWindow struct{ *winapitest.Window }

func (w *realWindow) Await(_ *testing.T, done func(drivertest.Seen) bool) drivertest.Seen {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	bound := time.After(8 * time.Second)
	for {
		seen := drivertest.Seen{Text: strings.ReplaceAll(w.Text(), "\r\n", "\n"), Events: w.events()}
		if done(seen) {
			return seen
		}
		select {
		case <-again.C:
		case <-bound:
			return seen
		}
	}
}

// Messages of winuser.h.
const (
	wmKeyDown, wmKeyUp, wmSysKeyDown, wmSysKeyUp = 0x0100, 0x0101, 0x0104, 0x0105
	wmMouseMove                                  = 0x0200
	wmMouseWheel, wmMouseHWheel                  = 0x020A, 0x020E
)

// Each button has three messages, one after the other: down, up, second half of a
// double click.
var wmButtons = map[uint32]driver.Button{0x0201: driver.Left, 0x0204: driver.Right, 0x0207: driver.Middle}

func (w *realWindow) events() []drivertest.Event {
	var events []drivertest.Event
	last := map[driver.Button]drivertest.Event{}
	corner := w.Area().Min
	for _, m := range w.Messages() {
		at := corner.Add(image.Pt(int(int16(m.LParam)), int(int16(m.LParam>>16))))
		switch m.ID {
		case wmKeyDown, wmSysKeyDown:
			events = append(events, drivertest.Event{Kind: drivertest.KeyDown, Key: realName(uint16(m.WParam))})
		case wmKeyUp, wmSysKeyUp:
			events = append(events, drivertest.Event{Kind: drivertest.KeyUp, Key: realName(uint16(m.WParam))})
		case wmMouseMove:
			events = append(events, drivertest.Event{Kind: drivertest.Move, At: at})
		case wmMouseWheel, wmMouseHWheel: // Wine and Windows disagree about the message's place
			notches := image.Pt(0, int(int16(m.WParam>>16))/winapi.WheelDelta)
			if m.ID == wmMouseHWheel {
				notches = image.Pt(notches.Y, 0)
			}
			events = append(events, drivertest.Event{Kind: drivertest.Wheel, At: m.At, Notches: notches, Modifiers: heldIn(m.WParam)})
		}
		for down, button := range wmButtons {
			switch m.ID {
			case down, down + 2:
				e := drivertest.Event{Kind: drivertest.Press, At: at, Button: button, Clicks: 1, Modifiers: heldIn(m.WParam)}
				if m.ID == down+2 {
					e.Clicks = 2
				} else if before := last[button]; before.Clicks == 2 && before.At == at {
					e.Clicks = 3 // Windows counts to two
				}
				last[button] = e
				events = append(events, e)
			case down + 1:
				events = append(events, drivertest.Event{Kind: drivertest.Release, At: at, Button: button})
			}
		}
	}
	return events
}

// heldIn reads MK_CONTROL and MK_SHIFT of a mouse message.
func heldIn(wparam uintptr) []string {
	var names []string
	if wparam&0x0008 != 0 {
		names = append(names, "ctrl")
	}
	if wparam&0x0004 != 0 {
		names = append(names, "shift")
	}
	return names
}
