//go:build windows && wine

// The tests of this file and its neighbours need a desktop; tools/test-windows gives
// them one under Wine.

package winapi_test

import (
	"image"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

var system winapi.System

// place is where the tests open windows: on the primary monitor, wherever others are.
var place = image.Rect(60, 60, 460, 360)

func send(t *testing.T, events ...winapi.Event) {
	t.Helper()
	if n, err := system.SendInput(events); err != nil || n != len(events) {
		t.Fatalf("%d of %d events: %v", n, len(events), err)
	}
}

// typed are the events of a text, two for each UTF-16 unit.
func typed(text string) (events []winapi.Event) {
	for _, u := range utf16.Encode([]rune(text)) {
		events = append(events, winapi.KeyEvent{Scan: u, Flags: winapi.KeyUnicode}, winapi.KeyEvent{Scan: u, Flags: winapi.KeyUnicode | winapi.KeyUp})
	}
	return events
}

func TestB07_TextArrivesAsTheCharactersThatWereSent(t *testing.T) {
	w := winapitest.Open(t, "takes text", place)
	text := "Héllo aabbll œ€ 😀 ÀÉ {}[]~^`|\\@#"
	send(t, typed(text)...)
	w.AwaitText(t, text)
}

func TestB17_NoEventsAreNoCallAndNoError(t *testing.T) {
	if n, err := system.SendInput(nil); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// moveTo is the event that brings the pointer to a place: to its pixel's centre on
// the grid that spans the virtual desktop.
func moveTo(p image.Point) winapi.MouseEvent {
	s := system.VirtualScreen()
	grid := func(v, origin, size int) int32 { return int32(((v-origin)*65536 + 32768) / size) }
	return winapi.MouseEvent{X: grid(p.X, s.Min.X, s.Dx()), Y: grid(p.Y, s.Min.Y, s.Dy()),
		Flags: winapi.MouseMove | winapi.MouseAbsolute | winapi.MouseVirtualDesk}
}

func awaitPointer(t *testing.T, want image.Point) {
	t.Helper()
	winapitest.Await(t, "the pointer is at "+want.String(), func() bool {
		got, err := system.Pointer()
		return err == nil && got == want
	})
}

func TestB15_ThePointerReachesEveryMonitorNegativePlacesToo(t *testing.T) {
	monitors, err := system.Monitors()
	if err != nil {
		t.Fatal(err)
	}
	negative := false
	for _, m := range monitors {
		for _, p := range []image.Point{m.Bounds.Min, m.Bounds.Min.Add(m.Bounds.Size().Div(3)), m.Bounds.Max.Sub(image.Pt(1, 1))} {
			negative = negative || p.X < 0 || p.Y < 0
			send(t, moveTo(p))
			awaitPointer(t, p)
		}
	}
	if !negative {
		t.Skip("no monitor of this display has negative places")
	}
}

func TestAClickAndTheWheelArriveWhereThePointerIs(t *testing.T) {
	w := winapitest.Open(t, "takes clicks", place)
	at := w.Area().Min.Add(image.Pt(30, 40))
	send(t, moveTo(at))
	awaitPointer(t, at)
	send(t,
		winapi.MouseEvent{Flags: winapi.MouseLeftDown}, winapi.MouseEvent{Flags: winapi.MouseLeftUp},
		winapi.MouseEvent{Flags: winapi.MouseRightDown}, winapi.MouseEvent{Flags: winapi.MouseRightUp},
		winapi.MouseEvent{Data: -2 * winapi.WheelDelta, Flags: winapi.MouseWheel})
	want := []uint32{0x0201, 0x0202, 0x0204, 0x0205, 0x020a} // WM_LBUTTONDOWN and so on, WM_MOUSEWHEEL
	var got []winapitest.Message
	winapitest.Await(t, "all have arrived", func() bool {
		got = nil
		for _, m := range w.Messages() {
			if m.ID > 0x0200 && m.ID < 0x0210 {
				got = append(got, m)
			}
		}
		return len(got) >= len(want)
	})
	for i, m := range got {
		if i >= len(want) || m.ID != want[i] || m.At != at {
			t.Fatalf("message %d is %#x at %v; want %#x, at %v", i, m.ID, m.At, want, at)
		}
	}
	if turned := int16(got[4].WParam >> 16); turned != -2*winapi.WheelDelta {
		t.Errorf("the wheel turned by %d", turned)
	}
}

// Virtual-key codes of winuser.h.
const (
	vkShift   = 0x10
	vkCapital = 0x14
)

func TestB19_AKeyThatWasLeftDownIsSeen(t *testing.T) {
	winapitest.Open(t, "has the keyboard", place)
	scan, extended := system.ScanCode(vkShift, system.Layout(system.Foreground()))
	if scan == 0 || extended {
		t.Errorf("scan code of shift %#x, extended %v", scan, extended)
	}
	up := winapi.KeyEvent{Key: vkShift, Scan: scan, Flags: winapi.KeyUp}
	t.Cleanup(func() { _, _ = system.SendInput([]winapi.Event{up}) })
	if system.Pressed(vkShift) {
		t.Fatal("shift is down before the test")
	}
	send(t, winapi.KeyEvent{Key: vkShift, Scan: scan})
	winapitest.Await(t, "shift is down", func() bool { return system.Pressed(vkShift) })
	send(t, up)
	winapitest.Await(t, "shift is up", func() bool { return !system.Pressed(vkShift) })
}

func TestCapsLockIsSeenToBeOnAndOff(t *testing.T) {
	winapitest.Open(t, "has the keyboard", place)
	press := func() {
		send(t, winapi.KeyEvent{Key: vkCapital, Scan: 0x3a}, winapi.KeyEvent{Key: vkCapital, Scan: 0x3a, Flags: winapi.KeyUp})
	}
	was := system.Toggled(vkCapital)
	press()
	winapitest.Await(t, "caps lock has changed", func() bool { return system.Toggled(vkCapital) != was })
	press()
	winapitest.Await(t, "caps lock is as before", func() bool { return system.Toggled(vkCapital) == was })
}

func TestB24_KeysLieWhereTheLayoutHasThem(t *testing.T) {
	w := winapitest.Open(t, "has a layout", place)
	layout := system.Layout(w.HWND())
	if layout == 0 {
		t.Fatal("no layout")
	}
	type key struct {
		Key      winapi.Key
		Scan     uint16
		Extended bool
	}
	// Wine has the layout of its X display: US here.
	for r, want := range map[rune]key{
		'a': {winapi.Key{VK: 'A'}, 0x1e, false},
		'A': {winapi.Key{VK: 'A', Shift: true}, 0x1e, false},
		'!': {winapi.Key{VK: '1', Shift: true}, 0x02, false},
		'-': {winapi.Key{VK: 0xbd}, 0x0c, false},
	} {
		k, ok := system.KeyOf(r, layout)
		scan, extended := system.ScanCode(k.VK, layout)
		if diff := cmp.Diff(want, key{k, scan, extended}); !ok || diff != "" {
			t.Errorf("%q: found %v (-want +got):\n%s", r, ok, diff)
		}
	}
	for _, r := range []rune{'é', '€', '😀', 0, -1} {
		if k, ok := system.KeyOf(r, layout); ok {
			t.Errorf("%q lies on %+v", r, k)
		}
	}
	if scan, extended := system.ScanCode(0x25, layout); scan != 0x4b || !extended {
		t.Errorf("left arrow: %#x, extended %v", scan, extended)
	}
	if system.IMEOpen(w.HWND()) {
		t.Error("an input method is open where there is none")
	}
}

func TestB20_GesturesFollowTheSettingsOfUserAndSystem(t *testing.T) {
	if d := system.DoubleClickTime(); d < 100*time.Millisecond || d > 5*time.Second {
		t.Errorf("double click within %v", d)
	}
	if p := system.DragThreshold(); p.X < 1 || p.Y < 1 {
		t.Errorf("a drag begins after %v", p)
	}
	if system.ButtonsSwapped() {
		t.Error("buttons are swapped")
	}
}
