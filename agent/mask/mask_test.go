package mask_test

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/mask"
	"github.com/reprise-rpa/reprise/agent/work"
)

// white is a frame without a black pixel.
func white(bounds image.Rectangle) *image.RGBA {
	img := image.NewRGBA(bounds)
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	return img
}

func one(m work.Mask) []work.Mask { return []work.Mask{m} }

func TestEdgesAreRoundedOutward(t *testing.T) {
	monitor := image.Rect(-10, 20, 0, 30)
	for _, c := range []struct {
		name string
		mask work.Mask
		want image.Rectangle
	}{
		{"whole pixels", work.Mask{Left: 0.5, Top: 0.2, Width: 0.25, Height: 0.5}, image.Rect(-5, 22, -2, 27)},
		{"only whole pixels", work.Mask{Left: 0.5, Top: 0.5, Width: 0.5, Height: 0.5}, image.Rect(-5, 25, 0, 30)},
		{"parts of pixels", work.Mask{Left: 0.15, Top: 0.29, Width: 0.2, Height: 0.02}, image.Rect(-9, 22, -6, 24)},
		{"less than a pixel", work.Mask{Left: 0.51, Top: 0.51, Width: 0.01, Height: 1e-12}, image.Rect(-5, 25, -4, 26)},
		{"beyond the edge", work.Mask{Left: 0.9, Top: 0, Width: 1, Height: 1}, image.Rect(-1, 20, 0, 30)},
		{"all beyond the edge", work.Mask{Left: 1, Top: 0, Width: 1, Height: 1}, image.Rectangle{}},
	} {
		if got := mask.Area(c.mask, monitor); got != c.want && (!got.Empty() || !c.want.Empty()) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAMaskWithoutItsMonitorBlacksOutTheWholePicture(t *testing.T) {
	frame := white(image.Rect(0, 0, 8, 8))
	here := []driver.Monitor{{Index: 0, Bounds: frame.Rect}, {Index: 2, Bounds: image.Rect(4, 0, 12, 8)}}
	for _, c := range []struct {
		name     string
		monitors []driver.Monitor
		mask     work.Mask
		why      string
	}{
		{"no such monitor", here, work.Mask{Monitor: 1, Width: 0.1, Height: 0.1}, "no monitor 1"},
		{"no monitor at all", nil, work.Mask{Width: 0.1, Height: 0.1}, "no monitor 0"},
		{"a monitor that is shown in part", here, work.Mask{Monitor: 2, Width: 0.1, Height: 0.1}, "monitor 2"},
		{"a mask that makes no sense", here, work.Mask{Left: math.NaN(), Width: 0.1, Height: 0.1}, "NaN"},
	} {
		got := mask.Apply(frame, c.monitors, append(one(work.Mask{Width: 0.5, Height: 0.5}), c.mask))
		if !strings.Contains(got.Why, c.why) || got.Image.Rect != frame.Rect || got.Count != 1 {
			t.Errorf("%s: %d masks in %v, %q", c.name, got.Count, got.Image.Rect, got.Why)
		}
		for y := range 8 {
			for x := range 8 {
				if got.Image.RGBAAt(x, y) != (color.RGBA{A: 255}) {
					t.Fatalf("%s: (%d,%d) shows", c.name, x, y)
				}
			}
		}
	}
}

// What a mask covers even in part is black, all else is as it was, and the frame
// that it came from is untouched.
func TestExactlyWhatAMaskTouchesIsBlack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		monitors := drawMonitors(t)
		bounds := image.Rectangle{}
		for _, m := range monitors {
			bounds = bounds.Union(m.Bounds)
		}
		masks := rapid.SliceOfN(drawMask(len(monitors)), 1, 4).Draw(t, "masks")
		frame := white(bounds)
		before := slices.Clone(frame.Pix)
		got := mask.Apply(frame, monitors, masks)
		if got.Why != "" || !slices.Equal(before, frame.Pix) {
			t.Fatalf("%q; the frame was touched: %v", got.Why, !slices.Equal(before, frame.Pix))
		}
		for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
			for x := bounds.Min.X; x < bounds.Max.X; x++ {
				want := color.RGBA{255, 255, 255, 255}
				if slices.ContainsFunc(masks, func(m work.Mask) bool { return touches(m, monitors[m.Monitor].Bounds, x, y) }) {
					want = color.RGBA{A: 255}
				}
				if at := got.Image.RGBAAt(x, y); at != want {
					t.Fatalf("(%d,%d) is %v, want %v; monitors %v", x, y, at, want, monitors)
				}
			}
		}
	})
}

// touches says whether a mask and a pixel, both as areas of fractions, overlap.
func touches(m work.Mask, monitor image.Rectangle, x, y int) bool {
	if !image.Pt(x, y).In(monitor) {
		return false
	}
	overlap := func(from, size float64, at, pixels int) bool {
		return from*float64(pixels) < float64(at+1) && (from+size)*float64(pixels) > float64(at)
	}
	at := image.Pt(x, y).Sub(monitor.Min)
	return overlap(m.Left, m.Width, at.X, monitor.Dx()) && overlap(m.Top, m.Height, at.Y, monitor.Dy())
}

func drawMonitors(t *rapid.T) []driver.Monitor {
	var monitors []driver.Monitor
	x := rapid.IntRange(-90, 0).Draw(t, "x")
	for i := range rapid.IntRange(1, 3).Draw(t, "monitors") {
		size := image.Pt(rapid.IntRange(1, 30).Draw(t, "width"), rapid.IntRange(1, 30).Draw(t, "height"))
		at := image.Pt(x, rapid.IntRange(-20, 20).Draw(t, "y"))
		monitors = append(monitors, driver.Monitor{
			Index: i, Bounds: image.Rectangle{Min: at, Max: at.Add(size)}, Scale: rapid.Float64Range(1, 3).Draw(t, "scale"),
		})
		x += size.X
	}
	return monitors
}

func drawMask(monitors int) *rapid.Generator[work.Mask] {
	return rapid.Custom(func(t *rapid.T) work.Mask {
		at, size := rapid.Float64Range(0, 1), rapid.Float64Range(1e-9, 1)
		return work.Mask{
			Monitor: rapid.IntRange(0, monitors-1).Draw(t, "monitor"), Left: at.Draw(t, "left"), Top: at.Draw(t, "top"),
			Width: size.Draw(t, "width"), Height: size.Draw(t, "height"),
		}
	})
}

func TestMasksReadBackAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(drawMask(64), 0, 4).Draw(t, "masks")
		got, err := mask.Parse(mask.Format(want))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q reads back as %v, %v", mask.Format(want), got, err)
		}
	})
}

func TestMasksAreReadAsPeopleWriteThem(t *testing.T) {
	got, err := mask.Parse(" 0:0.1,0.2,0.3,0.4; 1: 0, 0, 1, 0.05 ;")
	want := []work.Mask{{Left: 0.1, Top: 0.2, Width: 0.3, Height: 0.4}, {Monitor: 1, Width: 1, Height: 0.05}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, bad := range []string{
		"0.1,0.2,0.3,0.4", "0:0.1,0.2,0.3", "0:0,0,0,1", "0:0,0,1,1.5", "64:0,0,1,1", "-1:0,0,1,1", "0:NaN,0,1,1", "a:0,0,1,1",
		"0:0,0,1,1,0:0,0,1,1", "0:-0.1,0,1,1", "0:0,0,1,Inf",
	} {
		if got, err := mask.Parse("0:0,0,1,1;" + bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s became %v, %v", bad, got, err)
		}
	}
}
