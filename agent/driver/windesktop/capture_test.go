package windesktop

import (
	"context"
	"errors"
	"image"
	"image/color"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// shows says whether a picture shows, at its every pixel, what lies there.
func shows(img *image.RGBA, want func(x, y int) color.RGBA) bool {
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			if img.RGBAAt(x, y) != want(x, y) {
				return false
			}
		}
	}
	return !img.Rect.Empty()
}

func onMonitor(x, y int) bool {
	p := image.Pt(x, y)
	return p.In(primaryBounds) || p.In(leftBounds) || p.In(rightBounds)
}

func TestAPictureSpansTheVirtualDesktopAndIsBlackWhereNoMonitorIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeEyes()
		f.screen = func(part image.Rectangle) (*image.RGBA, error) {
			time.Sleep(40 * time.Millisecond) // what it takes
			return pattern(part, 0), nil
		}
		began := time.Now()
		p, err := newEyes(f, image.Point{}).Capture(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := func(x, y int) color.RGBA {
			if onMonitor(x, y) {
				return pixel(x, y, 0)
			}
			return color.RGBA{A: 255}
		}
		if p.Image.Rect != allBounds || !shows(p.Image, want) {
			t.Errorf("the picture spans %v, %v; or shows something else", p.Image.Rect, allBounds)
		}
		if p.Method != driver.MethodScreen || p.Note != "" || !p.Taken.Equal(began.Add(40*time.Millisecond)) {
			t.Errorf("by %q, odd: %q, taken after %v", p.Method, p.Note, p.Taken.Sub(began))
		}
		if screens, _ := f.counts(); screens != 1 {
			t.Errorf("taken %d times", screens)
		}
	})
}

func TestB12_AScreenOfOneColourIsTakenAgainOnceAndThenFlagged(t *testing.T) {
	grey := color.RGBA{40, 40, 40, 255}
	dark := func(part image.Rectangle) *image.RGBA { return plain(part, color.Black) }
	oneIsDark := func(part image.Rectangle) *image.RGBA {
		img := dark(part)
		for i := range img.Pix {
			if x := i / 4 % img.Rect.Dx(); x+img.Rect.Min.X >= 300 {
				img.Pix[i] = 255
			}
		}
		return img
	}
	bright := func(part image.Rectangle) *image.RGBA { return pattern(part, 0) }
	for _, c := range []struct {
		name   string
		frames []func(image.Rectangle) *image.RGBA
		note   string
		first  color.RGBA // its first pixel on a monitor
	}{
		{"black", []func(image.Rectangle) *image.RGBA{dark, dark}, driver.NoteOneColour, color.RGBA{A: 255}},
		{"grey round the holes", []func(image.Rectangle) *image.RGBA{dark, func(r image.Rectangle) *image.RGBA { return plain(r, grey) }}, driver.NoteOneColour, grey},
		{"black for a moment", []func(image.Rectangle) *image.RGBA{dark, bright}, "", pixel(-192, -40, 0)},
		{"two black monitors and a white one", []func(image.Rectangle) *image.RGBA{oneIsDark}, "", color.RGBA{A: 255}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeEyes()
			taken := 0
			f.screen = func(part image.Rectangle) (*image.RGBA, error) {
				taken++
				return c.frames[taken-1](part), nil
			}
			began := time.Now()
			p, err := newEyes(f, image.Point{}).Capture(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if p.Note != c.note || p.Method != driver.MethodScreen || p.Image.RGBAAt(-192, -40) != c.first {
				t.Errorf("%s: by %q, odd: %q, shows %v", c.name, p.Method, p.Note, p.Image.RGBAAt(-192, -40))
			}
			if taken != len(c.frames) || p.Taken.Sub(began) != time.Duration(taken-1)*blankPause {
				t.Errorf("%s: taken %d times, the last after %v", c.name, taken, p.Taken.Sub(began))
			}
		})
	}
}

func TestAPictureIsNotTakenOnceItsContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeEyes()
		e := newEyes(f, image.Point{})
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errDenied)
		for name, look := range map[string]func() error{
			"capture":  func() error { _, err := e.Capture(ended); return err },
			"window":   func() error { _, err := e.CaptureWindow(ended, windowID(notes, 0x9c4)); return err },
			"monitors": func() error { _, err := e.Monitors(ended); return err },
			"windows":  func() error { _, err := e.Windows(ended); return err },
		} {
			if err := look(); !errors.Is(err, errDenied) {
				t.Errorf("%s: %v, want the context's cause", name, err)
			}
		}
		if screens, paints := f.counts(); screens+paints != 0 {
			t.Errorf("%d pictures of the screen, %d of windows", screens, paints)
		}
		// It ends while a black screen is about to be taken again.
		ctx, cut := context.WithTimeoutCause(t.Context(), blankPause/2, errDenied)
		defer cut()
		f.screen = func(part image.Rectangle) (*image.RGBA, error) { return plain(part, color.Black), nil }
		if p, err := e.Capture(ctx); !errors.Is(err, errDenied) || p.Image != nil {
			t.Errorf("capture: %v", err)
		}
		if screens, _ := f.counts(); screens != 1 {
			t.Errorf("taken %d times", screens)
		}
	})
}

// What the eyes add to one call of Windows: the look for a screen of one colour, on
// an ordinary screen and on the worst one.
func BenchmarkCapture(b *testing.B) {
	bounds := image.Rect(0, 0, 2560, 1600)
	for name, img := range map[string]*image.RGBA{"ordinary": pattern(bounds, 0), "last pixel": plain(bounds, color.Black)} {
		img.SetRGBA(bounds.Max.X-1, bounds.Max.Y-1, color.RGBA{1, 2, 3, 255})
		b.Run(name, func(b *testing.B) {
			f := newFakeEyes()
			f.monitors = f.monitors[1:2]
			f.monitors[0].Bounds = bounds
			f.screen = func(image.Rectangle) (*image.RGBA, error) { return img, nil }
			e := newEyes(f, image.Point{})
			b.ReportAllocs()
			b.SetBytes(int64(len(img.Pix)))
			for b.Loop() {
				if p, err := e.Capture(b.Context()); err != nil || p.Note != "" {
					b.Fatal(p.Note, err)
				}
			}
		})
	}
}
