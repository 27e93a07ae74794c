package vision

import (
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// structured is an anchor of noise, rectangles, stripes, or one odd pixel: what
// splits badly into parts.
func structured(t *rapid.T, random *rand.Rand, w, h int) plane {
	sort := rapid.SampledFrom([]string{"scene", "stripes", "columns", "dot"}).Draw(t, "sort")
	img := scene(random, w, h, rapid.Float64Range(0, 20).Draw(t, "noise"))
	if sort == "scene" {
		return luma(img, img.Rect)
	}
	for y := range h {
		for x := range w {
			on := sort == "stripes" && y >= h/2 || sort == "columns" && x%3 == 0 || sort == "dot" && x == w/2 && y == h/2
			img.Set(x, y, color.Gray{map[bool]uint8{true: 250, false: 3}[on]})
		}
	}
	return luma(img, img.Rect)
}

func TestPartsHoldAnAnchorOnceAndAreBlindToBrightness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 19))
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		tpl, ok := newTemplate(structured(t, random, w, h), rapid.Float64Range(-0.05, 0.95).Draw(t, "least"), w)
		if !ok {
			t.Skip("no structure")
		}
		if len(tpl.parts) == 0 {
			t.Fatal("no parts")
		}
		var seen []int
		var shares float64
		for i, p := range tpl.parts {
			seen = append(seen, p.offsets...)
			sum := 0
			for _, weight := range p.weights {
				if sum += int(weight); weight > mostWeight || weight < -mostWeight {
					t.Fatalf("part %d: weight %d", i, weight)
				}
			}
			if sum != 0 {
				t.Fatalf("part %d: weights add up to %d", i, sum)
			}
			shares += p.share * p.share
			if want := math.Sqrt(max(tpl.norm*tpl.norm-shares, 0)); math.Abs(p.rest-want) > 1e-6*tpl.norm {
				t.Fatalf("part %d: rest %v, want %v", i, p.rest, want)
			}
		}
		slices.Sort(seen)
		if len(slices.Compact(seen)) != len(seen) {
			t.Fatalf("a row is in two parts: %v", seen)
		}
		if shares > tpl.norm*tpl.norm*(1+1e-9) {
			t.Fatalf("parts hold %v of %v", shares, tpl.norm*tpl.norm)
		}
	})
}

func TestACompleteAnchorMultipliesExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 23))
		anchor, window := plane{w: w, h: h, pix: make([]uint8, w*h)}, make([]uint8, w*h, w*h+block)
		var want, sum float64
		for i := range window {
			anchor.pix[i], window[i] = uint8(random.Uint32()), uint8(random.Uint32())
			if i%5 == 0 {
				anchor.pix[i] = map[bool]uint8{true: 255, false: 0}[i%2 == 0]
			}
			want += float64(anchor.pix[i]) * float64(window[i])
			sum += float64(window[i])
		}
		c := newComplete(anchor, w)
		if got := c.product(window, 0, sum); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
