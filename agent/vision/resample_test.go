package vision

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func planeOf(w int, pix ...uint8) plane { return plane{w: w, h: len(pix) / w, pix: pix} }

func TestResampleAveragesDownAndKeepsEdgesUp(t *testing.T) {
	for _, c := range []struct {
		name string
		p    plane
		w, h int
		want []uint8
	}{
		{"the same size", planeOf(2, 1, 2, 3, 4), 2, 2, []uint8{1, 2, 3, 4}},
		{"half is the mean of four", planeOf(4, 0, 100, 10, 10, 40, 60, 30, 50), 2, 1, []uint8{50, 25}},
		{"two thirds counts by area", planeOf(3, 0, 90, 30), 2, 1, []uint8{30, 50}},
		{"to a pixel", planeOf(2, 0, 0, 10, 30), 1, 1, []uint8{10}},
		{"a pixel grows", planeOf(1, 7), 3, 2, []uint8{7, 7, 7, 7, 7, 7}},
		{"one way down, the other up", planeOf(2, 10, 20), 1, 3, []uint8{15, 15, 15}},
		// Catmull-Rom at 1/4 and 3/4 between pixels: it goes beyond an edge's ends.
		{"an edge doubled", planeOf(4, 50, 50, 150, 150), 8, 1, []uint8{50, 48, 43, 70, 130, 157, 152, 150}},
		{"no grey beyond black and white", planeOf(4, 0, 0, 255, 255), 8, 1, []uint8{0, 0, 0, 52, 203, 255, 255, 255}},
	} {
		got := resample(c.p, c.w, c.h)
		if got.w != c.w || got.h != c.h || string(got.pix) != string(c.want) {
			t.Errorf("%s: %d x %d %v, want %v", c.name, got.w, got.h, got.pix, c.want)
		}
	}
}

func TestResampleKeepsGreyGrey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		grey := rapid.Uint8().Draw(t, "grey")
		p := plane{w: w, h: h, pix: make([]uint8, w*h)}
		for i := range p.pix {
			p.pix[i] = grey
		}
		got := resample(p, rapid.IntRange(1, 90).Draw(t, "to w"), rapid.IntRange(1, 90).Draw(t, "to h"))
		for i, v := range got.pix {
			if v != grey {
				t.Fatalf("pixel %d is %d, want %d", i, v, grey)
			}
		}
	})
}

func TestTapsAddUpToOneAndLieOnTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, n := rapid.IntRange(1, 300).Draw(t, "from"), rapid.IntRange(1, 300).Draw(t, "n")
		center := 0.0
		for i, of := range taps(from, n) {
			var sum, middle float64
			for _, tap := range of {
				if tap.at < 0 || tap.at >= from {
					t.Fatalf("pixel %d reads pixel %d of %d", i, tap.at, from)
				}
				sum += float64(tap.share)
				middle += float64(tap.share) * float64(tap.at)
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Fatalf("pixel %d: the shares add up to %v", i, sum)
			}
			center += middle / float64(n)
		}
		// Nothing shifts: the line's middle stays where it is.
		if want := float64(from-1) / 2; math.Abs(center-want) > 1e-3*float64(from) {
			t.Fatalf("the middle is at %v, want %v", center, want)
		}
	})
}
