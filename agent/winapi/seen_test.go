package winapi

import (
	"image"
	"image/color"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func TestWhatAHookSeesIsReadAndOursToldFromOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		got  Seen
		want Seen
	}{
		{"a key of the agent", (&keyHook{vk: 0xA2, scan: 0x1d, flags: 0x10, time: 7, extra: Tag}).seen(0x0100),
			Seen{Device: Keyboard, Own: true, Time: 7, Key: 0xA2, Scan: 0x1d}},
		{"one that another program sent goes up", (&keyHook{vk: 0x41, flags: 0x90, extra: Tag + 1}).seen(0), Seen{Device: Keyboard, Up: true, Key: 0x41}},
		{"a character goes up, as Wine says it", (&keyHook{vk: 0xE7}).seen(0x0101), Seen{Device: Keyboard, Up: true, Key: 0xE7}},
		{"a key goes up while alt is down", (&keyHook{vk: 0x41}).seen(0x0105), Seen{Device: Keyboard, Up: true, Key: 0x41}},
		{"the ctrl of AltGr", (&keyHook{vk: 0xA2, scan: 0x21d}).seen(0x0104), Seen{Device: Keyboard, Key: 0xA2, Scan: FakeCtrlScan}},
		{"a move to a negative place", (&mouseHook{at: point{-3, 9}, time: 8, extra: Tag}).seen(0x0200),
			Seen{Device: Mouse, Own: true, Time: 8, Moved: true, At: image.Pt(-3, 9)}},
		{"a button down", (&mouseHook{}).seen(0x0201), Seen{Device: Mouse}},
		{"the wheel", (&mouseHook{data: 120 << 16}).seen(0x020A), Seen{Device: Mouse}},
		{"left up", (&mouseHook{}).seen(0x0202), Seen{Device: Mouse, Up: true}},
		{"right up", (&mouseHook{}).seen(0x0205), Seen{Device: Mouse, Up: true}},
		{"middle up", (&mouseHook{}).seen(0x0208), Seen{Device: Mouse, Up: true}},
		{"a side button up", (&mouseHook{}).seen(0x020C), Seen{Device: Mouse, Up: true}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestB19_OnlyTheCtrlOfAltGrIsThatOne(t *testing.T) {
	for _, c := range []struct {
		name string
		seen Seen
		want bool
	}{
		{"it goes down", (&keyHook{vk: 0xA2, scan: FakeCtrlScan}).seen(0x0104), true},
		{"it goes up", (&keyHook{vk: 0xA2, scan: FakeCtrlScan, flags: 0x80}).seen(0x0101), true},
		{"on a layout that has another code there", (&keyHook{vk: 0x14, scan: FakeCtrlScan}).seen(0x0100), true},
		{"a left ctrl that was pressed", (&keyHook{vk: 0xA2, scan: 0x1D}).seen(0x0100), false},
		{"a right one", (&keyHook{vk: 0xA3, scan: 0x1D, flags: 1}).seen(0x0100), false},
		{"a character of that number", (&keyHook{vk: 0xE7, scan: FakeCtrlScan}).seen(0x0100), false},
		{"the mouse", (&mouseHook{}).seen(0x0201), false},
	} {
		if got := c.seen.FakeCtrl(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestAnIconsPixelsAreInTheOrderOfWindows(t *testing.T) {
	img := image.NewNRGBA(image.Rect(3, 3, 5, 4))
	img.SetNRGBA(3, 3, color.NRGBA{1, 2, 3, 4})
	img.SetNRGBA(4, 3, color.NRGBA{5, 6, 7, 255})
	if diff := cmp.Diff([]byte{3, 2, 1, 4, 7, 6, 5, 255}, iconPixels(img)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := colorRef(color.RGBA{0x12, 0x34, 0x56, 0xff}); got != 0x563412 {
		t.Errorf("colour %#x", got)
	}
}

func TestATipIsCutBetweenCharacters(t *testing.T) {
	for text, want := range map[string]string{"abc": "abc", "abcd": "abc", "ab😀": "ab", "a😀": "a😀", "": ""} {
		if got := string(utf16.Decode(clipped(utf16.Encode([]rune(text)), 4))); got != want {
			t.Errorf("%q in a field of 4: %q, want %q", text, got, want)
		}
	}
}
