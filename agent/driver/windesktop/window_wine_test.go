//go:build windows && wine

package windesktop

import (
	"image"
	"strings"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// realWindow is a window of the test's own process as the suite sees it.
type realWindow struct{ *winapitest.Window }

func (w *realWindow) Await(_ *testing.T, done func(drivertest.Seen) bool) drivertest.Seen {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	bound := time.After(winapitest.Patience)
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
