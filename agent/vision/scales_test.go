package vision

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/vision/screens"
)

func TestRatiosAreThoseOfUsualScalings(t *testing.T) {
	for _, c := range []struct {
		recorded float64
		want     []float64
	}{
		{1, []float64{1, 1.25, 1.5, 1.75, 2}},
		{1.25, []float64{1, 1.2, 0.8, 1.4, 1.6}},
		{2, []float64{1, 0.875, 0.75, 0.625, 0.5}},
		// A scaling of one's own: 1 stays the first.
		{1.6, []float64{1, 1.5 / 1.6, 1.75 / 1.6, 2 / 1.6, 1.25 / 1.6, 1 / 1.6}},
		{50, []float64{1}},
		{math.Inf(1), []float64{1}},
	} {
		if diff := cmp.Diff(c.want, Ratios(c.recorded)); diff != "" {
			t.Errorf("recorded at %v (-want +got):\n%s", c.recorded, diff)
		}
	}
	all := Ratios(0)
	if len(all) != 21 || all[0] != 1 || all[20] != 0.5 {
		t.Errorf("not known: %v", all)
	}
	if diff := cmp.Diff(all, Ratios(math.NaN())); diff != "" {
		t.Errorf("a scaling that is no number (-unknown +got):\n%s", diff)
	}
}

// Both desktops draw the form for their own scaling: letters and edges are not
// stretched but drawn anew, as Windows does.
func TestAnchorIsFoundWithinAPixelOnADesktopAtAnotherScaling(t *testing.T) {
	part := image.Rect(14, 10, 78, 54) // of the form at 100 %: a label and the control under it
	for _, recorded := range []float64{1, 1.25, 1.5, 1.75, 2} {
		for _, shown := range []float64{1, 1.25, 1.5, 1.75, 2} {
			t.Run(fmt.Sprintf("recorded at %v, shown at %v", recorded, shown), func(t *testing.T) {
				seed := uint64(100*recorded + 10*shown)
				anchor := screens.Form(image.Pt(200, 160), recorded, seed).SubImage(scaled(part, recorded))
				screen := screens.Form(image.Pt(600, 300), shown, seed)
				m, err := Find(screen, anchor, Options{MinScore: 0.75, Scales: Ratios(recorded)})
				if err != nil {
					t.Fatal(err)
				}
				if want := shown / recorded; m.Scale != want {
					t.Errorf("found at scale %v, want %v", m.Scale, want)
				}
				off := m.Bounds.Min.Add(m.Bounds.Max).Sub(scaled(part, shown).Min.Add(scaled(part, shown).Max))
				if max(off.X, -off.X) > 2 || max(off.Y, -off.Y) > 2 {
					t.Errorf("found at %v with score %.3f, want %v", m.Bounds, m.Score, scaled(part, shown))
				}
			})
		}
	}
}

func scaled(r image.Rectangle, by float64) image.Rectangle {
	at := func(v int) int { return int(math.Round(float64(v) * by)) }
	return image.Rect(at(r.Min.X), at(r.Min.Y), at(r.Max.X), at(r.Max.Y))
}

// stretched is a picture in another size.
func stretched(img *image.RGBA, scale float64) *image.RGBA {
	size := scaledSize(img.Rect.Size(), scale)
	p := resample(luma(img, img.Rect), size.X, size.Y)
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(out, out.Rect, &image.Gray{Pix: p.pix, Stride: p.w, Rect: out.Rect}, image.Point{}, draw.Src)
	return out
}

// onGround draws pictures on a ground of their own.
func onGround(size image.Point, pictures map[image.Point]*image.RGBA) *image.RGBA {
	screen := scene(rand.New(rand.NewPCG(9, 9)), size.X, size.Y, 4)
	for at, img := range pictures {
		draw.Draw(screen, img.Rect.Add(at), img, image.Point{}, draw.Src)
	}
	return screen
}

func TestOtherScalesAreTriedOnlyWhenTheFirstFindsNothing(t *testing.T) {
	anchor := load(t, "anchor.png")
	small, as, large := image.Pt(10, 10), image.Pt(20, 70), image.Pt(130, 40)
	worse := altered(anchor, 1, 0, 40)
	screen := onGround(image.Pt(280, 180), map[image.Point]*image.RGBA{as: worse, large: stretched(anchor, 1.5)})
	o := Options{MinScore: 0.85, Scales: []float64{1.5, 1}}
	m, err := Find(screen, anchor, o)
	if err != nil || m.Scale != 1 || m.Bounds.Min != as || m.Score > 0.98 {
		t.Errorf("as it was recorded: %+v, %v; want the one at %v", m, err, as)
	}
	o.Scales = []float64{1.5}
	m, err = Find(screen, anchor, o)
	if want := (image.Rectangle{Min: large, Max: large.Add(image.Pt(96, 96))}); err != nil || m.Scale != 1.5 || m.Bounds != want {
		t.Errorf("without scale 1: %+v, %v; want %v", m, err, want)
	}
	screen = onGround(image.Pt(280, 180), map[image.Point]*image.RGBA{small: stretched(anchor, 0.5), large: stretched(anchor, 1.5)})
	o.Scales = []float64{1, 0.5, 1.5, 0.5}
	var ambiguous *AmbiguousError
	if _, err = Find(screen, anchor, o); !errors.As(err, &ambiguous) || ambiguous.First.Scale == ambiguous.Second.Scale {
		t.Errorf("in two sizes at two places: %v, want %v", err, ErrAmbiguous)
	}
	all, err := FindAll(screen, anchor, o)
	if err != nil || len(all) != 2 {
		t.Errorf("FindAll = %v, %v; want both", all, err)
	}
}

func TestMatchesOfSeveralScalesAtOnePlaceAreOne(t *testing.T) {
	anchor := load(t, "anchor.png")
	at := image.Pt(60, 40)
	screen := onGround(image.Pt(220, 180), map[image.Point]*image.RGBA{at: stretched(anchor, 1.3)})
	o := Options{MinScore: 0.65, Scales: []float64{1, 1.28, 1.3, 1.32}}
	for _, s := range o.Scales[1:] { // else there is nothing to be merged
		if m, err := Find(screen, anchor, Options{MinScore: 0.65, Scales: []float64{s}}); err != nil {
			t.Fatalf("scale %v alone: %v, %v", s, m, err)
		}
	}
	m, err := Find(screen, anchor, o)
	if err != nil || m.Scale != 1.3 || m.Bounds.Min != at {
		t.Errorf("Find = %+v, %v; want scale 1.3 at %v", m, err, at)
	}
}

func TestScalesThatDoNotFitArePassedOver(t *testing.T) {
	anchor := load(t, "anchor.png")
	at := image.Pt(5, 6)
	screen := onGround(image.Pt(100, 90), map[image.Point]*image.RGBA{at: anchor})
	m, err := Find(screen, anchor, Options{MinScore: 0.9, Scales: []float64{2, 1, 10}})
	if err != nil || m.Bounds.Min != at {
		t.Errorf("Find = %+v, %v; want the one at %v", m, err, at)
	}
	// A chessboard of pixels is grey from afar.
	board := image.NewRGBA(image.Rect(0, 0, 32, 32))
	for i := range 32 * 32 {
		board.Set(i%32, i/32, color.Gray{uint8(255 * ((i + i/32) % 2))})
	}
	for _, c := range []struct {
		name   string
		anchor image.Image
		scales []float64
		want   error
	}{
		{"too large in all", anchor, []float64{2, 3}, ErrTooLarge},
		{"no structure when small", board, []float64{0.5}, ErrUniform},
		{"none that has structure finds it", board, []float64{0.5, 1}, ErrNotFound},
		{"no size", anchor, []float64{1, 0}, ErrInvalid},
		{"a size below none", anchor, []float64{-1}, ErrInvalid},
		{"no number", anchor, []float64{math.NaN()}, ErrInvalid},
		{"beyond all sizes", anchor, []float64{math.Inf(1)}, ErrInvalid},
	} {
		if _, err := Find(screen, c.anchor, Options{MinScore: 0.9, Scales: c.scales}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestNoSizeOfAnyPictureMakesItPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 11))
		side := rapid.IntRange(1, 40)
		screen := scene(random, side.Draw(t, "screen w"), side.Draw(t, "screen h"), 5)
		anchor := scene(random, side.Draw(t, "w"), side.Draw(t, "h"), 5)
		screen.Rect = screen.Rect.Add(image.Pt(rapid.IntRange(-50, 50).Draw(t, "x"), rapid.IntRange(-50, 50).Draw(t, "y")))
		o := Options{
			MinScore: rapid.Float64Range(0.01, 1).Draw(t, "least score"),
			Scales:   rapid.SliceOfN(rapid.Float64Range(leastScale, 4), 0, 3).Draw(t, "scales"),
		}
		found, err := FindAll(screen, anchor, o)
		for _, known := range []error{nil, ErrNotFound, ErrUniform, ErrTooLarge} {
			if errors.Is(err, known) {
				err = nil
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			if !m.Bounds.In(screen.Rect) || m.Bounds.Size() != scaledSize(anchor.Rect.Size(), m.Scale) || m.Score > 1 {
				t.Fatalf("found %+v on %v", m, screen.Rect)
			}
		}
	})
}
