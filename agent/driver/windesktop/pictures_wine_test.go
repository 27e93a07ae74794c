//go:build windows && wine

package windesktop

import (
	"bytes"
	"image"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// hasPixels says whether a picture has the same pixels as another one in an area.
func hasPixels(p driver.Picture, want *image.RGBA, area image.Rectangle) bool {
	if !area.In(p.Image.Bounds()) || !area.In(want.Bounds()) {
		return false
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		n, i, j := 4*area.Dx(), p.Image.PixOffset(area.Min.X, y), want.PixOffset(area.Min.X, y)
		if !bytes.Equal(p.Image.Pix[i:i+n], want.Pix[j:j+n]) {
			return false
		}
	}
	return true
}

// awaitScreen waits until the screen shows something in an area.
func awaitScreen(t *testing.T, d *Driver, want *image.RGBA, area image.Rectangle) {
	t.Helper()
	winapitest.Await(t, "the screen shows it", func() bool {
		p, err := d.Capture(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p.Method == driver.MethodScreen && p.Note == "" && hasPixels(p, want, area)
	})
}

// park moves the pointer out of the way: some displays paint it into pictures.
func park(t *testing.T, d *Driver) {
	t.Helper()
	if err := d.Do(t.Context(), driver.Move{At: image.Pt(1, 1)}); err != nil {
		t.Fatal(err)
	}
}

func TestB12_TheScreenShowsWhatWasDrawnWherePlacesAreNegative(t *testing.T) {
	d := openReal(t, Config{})
	w := winapitest.Open(t, "is drawn", leftmost(t, d).Inset(100))
	if !w.Area().In(leftmost(t, d)) {
		t.Fatalf("the window is at %v, not on the monitor at %v", w.Area(), leftmost(t, d))
	}
	park(t, d)
	awaitScreen(t, d, winapitest.Pattern(w.Area()), w.Area())
	if w.Area().Min.X >= 0 {
		t.Skip("no monitor of this display has negative places; tools/test-windows gives it one")
	}
}

func TestB12_AWindowsPictureIsTheScreensAndShowsNothingInFrontOfIt(t *testing.T) {
	d := openReal(t, Config{})
	w := winapitest.Open(t, "draws itself", image.Rect(60, 60, 460, 360))
	park(t, d)
	want := winapitest.Pattern(w.Area())
	awaitScreen(t, d, want, w.Area())
	alone, err := d.CaptureWindow(t.Context(), idOf(w.HWND()))
	if err != nil {
		t.Fatal(err)
	}
	cover := winapitest.Open(t, "lies in front", image.Rect(160, 160, 560, 460))
	awaitScreen(t, d, winapitest.Pattern(cover.Area()), cover.Area())
	covered, err := d.CaptureWindow(t.Context(), idOf(w.HWND()))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]driver.Picture{"alone": alone, "covered": covered} {
		if p.Method != driver.MethodWindow || p.Note != "" || !hasPixels(p, want, w.Area()) {
			t.Errorf("%s: taken by %q (%s), and what was drawn is there: %v", name, p.Method, p.Note, hasPixels(p, want, w.Area()))
		}
	}
}
