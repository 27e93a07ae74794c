//go:build windows && wine

package winapi_test

import (
	"bytes"
	"image"
	"testing"

	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// park moves the pointer out of the way: some displays paint it into pictures.
func park(t *testing.T) {
	t.Helper()
	send(t, moveTo(image.Pt(1, 1)))
	awaitPointer(t, image.Pt(1, 1))
}

func TestB12_APictureOfTheScreenIsWhatWasPainted(t *testing.T) {
	w := winapitest.Open(t, "is painted", place)
	park(t)
	var img *image.RGBA
	winapitest.Await(t, "the screen shows the pattern", func() bool {
		var err error
		if img, err = system.CaptureScreen(w.Area()); err != nil {
			t.Fatal(err)
		}
		return img.Bounds() == w.Area() && bytes.Equal(img.Pix, winapitest.Pattern(w.Area()).Pix)
	})
	// The same place out of a picture of everything, whose origin may be negative.
	all, err := system.CaptureScreen(system.VirtualScreen())
	if err != nil {
		t.Fatal(err)
	}
	if all.Bounds() != system.VirtualScreen() || !same(all, img, w.Area()) {
		t.Errorf("a picture of %v shows something else at %v", all.Bounds(), w.Area())
	}
}

func TestB12_AWindowPaintsItselfUnderAnotherOne(t *testing.T) {
	w := winapitest.Open(t, "is covered", place)
	winapitest.Open(t, "covers it", place.Inset(-20))
	img, err := system.CaptureWindow(w.HWND())
	if err != nil {
		t.Fatal(err)
	}
	_, l := find(t, w)
	if img.Bounds() != l.Bounds {
		t.Errorf("the picture spans %v, the window %v", img.Bounds(), l.Bounds)
	}
	if !same(img, winapitest.Pattern(w.Area()), w.Area()) {
		t.Error("the picture is not what the window paints")
	}
}

func same(a, b *image.RGBA, area image.Rectangle) bool {
	if !area.In(a.Bounds()) || !area.In(b.Bounds()) {
		return false
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		n := 4 * area.Dx()
		i, j := a.PixOffset(area.Min.X, y), b.PixOffset(area.Min.X, y)
		if !bytes.Equal(a.Pix[i:i+n], b.Pix[j:j+n]) {
			return false
		}
	}
	return true
}
