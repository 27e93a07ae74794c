package vision

import (
	"errors"
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// scene draws rectangles of random colours, as desktops have them, with noise.
func scene(random *rand.Rand, w, h int, noise float64) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for range 4 + w*h/200 {
		at := image.Pt(random.IntN(w), random.IntN(h))
		size := image.Pt(1+random.IntN(1+w/3), 1+random.IntN(1+h/3))
		c := color.RGBA{uint8(random.IntN(256)), uint8(random.IntN(256)), uint8(random.IntN(256)), 255}
		draw.Draw(img, image.Rectangle{Min: at, Max: at.Add(size)}, image.NewUniform(c), image.Point{}, draw.Src)
	}
	return altered(img, 1, 0, noise)
}

func TestPlantedAnchorIsAlwaysFoundAtItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		w, h := rapid.IntRange(8, 30).Draw(t, "w"), rapid.IntRange(8, 30).Draw(t, "h")
		screen := scene(random, rapid.IntRange(w, 90).Draw(t, "screen w"), rapid.IntRange(h, 70).Draw(t, "screen h"), rapid.Float64Range(0, 20).Draw(t, "noise"))
		// An anchor of noise is the hardest: no two shifts of it are alike.
		anchor := altered(scene(random, w, h, 0), 0.6, 0, 40)
		free := screen.Rect.Size().Sub(image.Pt(w, h))
		at := image.Pt(rapid.IntRange(0, free.X).Draw(t, "x"), rapid.IntRange(0, free.Y).Draw(t, "y"))
		want := image.Rectangle{Min: at, Max: at.Add(image.Pt(w, h))}
		contrast := rapid.Float64Range(0.5, 1).Draw(t, "contrast")
		draw.Draw(screen, want, altered(anchor, contrast, rapid.Float64Range(-10, 10).Draw(t, "brightness"), 4), image.Point{}, draw.Src)
		m, err := Find(screen, anchor, Options{MinScore: 0.9})
		if err != nil || m.Bounds != want {
			t.Fatalf("Find = %+v, %v; want %v", m, err, want)
		}
	})
}

// The search drops places early; this one never does.
func TestSearchFindsWhatACompleteSearchFinds(t *testing.T) {
	withEachKernel(t, func(t *testing.T) { rapid.Check(t, searchesCompletely) })
}

func FuzzSearchFindsWhatACompleteSearchFinds(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(searchesCompletely))
}

func searchesCompletely(t *rapid.T) {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
	img := scene(random, w+rapid.IntRange(0, 40).Draw(t, "more w"), h+rapid.IntRange(0, 6).Draw(t, "more h"), 6)
	screen, anchor := luma(img, img.Rect), structured(t, random, w, h)
	if rapid.Bool().Draw(t, "on the screen") {
		at := image.Pt(random.IntN(screen.w-w+1), random.IntN(screen.h-h+1))
		fade := 0.2 + 0.8*random.Float64()
		for y := range h {
			for x, v := range anchor.row(y) {
				screen.row(at.Y + y)[at.X+x] = uint8(float64(v)*fade + 40*random.Float64())
			}
		}
	}
	minScore := rapid.Float64Range(0.3, 1).Draw(t, "least score")
	tpl, ok := newTemplate(anchor, minScore-nearby, screen.w)
	if !ok {
		t.Skip("no structure")
	}
	hits, best := scan(screen, tpl, minScore, Options{}.ended)
	got := map[image.Point]float64{}
	for _, m := range hits {
		got[m.Bounds.Min] = m.Score
	}
	top := 0.0
	for at, score := range scores(screen, anchor) {
		top = max(top, score)
		found, hit := got[at]
		if math.Abs(score-minScore) > 1e-6 && hit != (score > minScore) {
			t.Fatalf("%v scores %v, least %v: hit = %v", at, score, minScore, hit)
		}
		if hit && math.Abs(found-score) > 1e-6 {
			t.Fatalf("%v scores %v, want %v", at, found, score)
		}
	}
	if len(hits) == 0 && top >= minScore-nearby+1e-6 && math.Abs(best.Score-top) > 1e-6 {
		t.Fatalf("best score %v, want %v", best.Score, top)
	}
}

// scores is the correlation of every place by its definition.
func scores(screen, anchor plane) map[image.Point]float64 {
	all := map[image.Point]float64{}
	n := float64(len(anchor.pix))
	for y := range screen.h - anchor.h + 1 {
		for x := range screen.w - anchor.w + 1 {
			var a, w, aa, ww, aw float64
			for j := range anchor.h {
				for i := range anchor.w {
					p, q := float64(anchor.row(j)[i]), float64(screen.row(y + j)[x+i])
					a, w, aa, ww, aw = a+p, w+q, aa+p*p, ww+q*q, aw+p*q
				}
			}
			ea, ew := aa-a*a/n, ww-w*w/n
			if ew*contrast*contrast > ea {
				all[image.Pt(x, y)] = (aw - a*w/n) / math.Sqrt(ea*ew)
			}
		}
	}
	return all
}

func TestSeparateMatchesLieHalfAnAnchorApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 9).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
		var hits []Match
		for range rapid.IntRange(0, 60).Draw(t, "hits") {
			at := image.Pt(rapid.IntRange(0, 30).Draw(t, "x"), rapid.IntRange(0, 30).Draw(t, "y"))
			hits = append(hits, Match{Bounds: image.Rectangle{Min: at, Max: at.Add(image.Pt(w, h))}, Score: rapid.Float64Range(0, 1).Draw(t, "score")})
		}
		apart := func(a, b Match) bool {
			d := a.Bounds.Min.Sub(b.Bounds.Min)
			return max(d.X, -d.X) >= (w+1)/2 || max(d.Y, -d.Y) >= (h+1)/2
		}
		kept := separate(append([]Match(nil), hits...))
		for i, a := range kept {
			for _, b := range kept[:i] {
				if !apart(a, b) || a.Score > b.Score {
					t.Fatalf("kept %v after %v", a, b)
				}
			}
		}
		for _, m := range hits {
			covered := false
			for _, k := range kept {
				covered = covered || k.Score >= m.Score && (k == m || !apart(k, m))
			}
			if !covered {
				t.Fatalf("%v was dropped for nothing in %v", m, kept)
			}
		}
	})
}

func TestAnchorThatIsNotThereIsNeverFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		screen := scene(random, 80, 60, 5)
		anchor := altered(image.NewRGBA(image.Rect(0, 0, 24, 24)), 1, 120, 60)
		if m, err := Find(screen, anchor, Options{MinScore: 0.8}); !errors.Is(err, ErrNotFound) {
			t.Fatalf("Find = %+v, %v; want %v", m, err, ErrNotFound)
		}
	})
}
