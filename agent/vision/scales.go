package vision

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
)

// The scalings that a desktop is commonly shown at, in percent.
var scalings = []float64{100, 125, 150, 175, 200}

// Ratios lists how many times larger an anchor may appear than it was recorded,
// for Options.Scales: 1 first, then the nearest to it. recorded is the scaling
// of the desktop that the anchor was cut from, 1.0 being 100 %; the ratios are
// then those of 100, 125, 150, 175 and 200 % to it. 0 or less means that it is
// not known: then they are those between any two of these, 21 in all.
func Ratios(recorded float64) []float64 {
	from := scalings
	if percent := math.Round(recorded * 100); percent > 0 {
		from = []float64{percent}
	}
	ratios := []float64{1}
	for _, f := range from {
		for _, to := range scalings {
			// Equal fractions are equal quotients: division rounds correctly.
			ratio := to / f
			if usable(ratio) && !slices.Contains(ratios, ratio) {
				ratios = append(ratios, ratio)
			}
		}
	}
	slices.SortFunc(ratios, nearestToOne)
	return ratios
}

func nearestToOne(a, b float64) int {
	return cmp.Or(cmp.Compare(max(a, 1/a), max(b, 1/b)), cmp.Compare(b, a))
}

// Scales further off than this are no scaling of a desktop.
const (
	leastScale    = 0.1
	greatestScale = 10
)

func usable(scale float64) bool { return scale >= leastScale && scale <= greatestScale }

// passes splits scales into those to try first and those to try when the first
// find nothing.
func passes(scales []float64) ([][]float64, error) {
	if len(scales) == 0 {
		return [][]float64{{1}}, nil
	}
	var first, others []float64
	for _, s := range scales {
		switch {
		case !usable(s):
			return nil, fmt.Errorf("%w: scale %v", ErrInvalid, s)
		case s == 1:
			first = []float64{1}
		case !slices.Contains(others, s):
			others = append(others, s)
		}
	}
	return [][]float64{first, others}, nil
}

// scaledSize is the size of a picture at a scale, at least one pixel.
func scaledSize(size image.Point, scale float64) image.Point {
	scaled := func(n int) int { return max(1, int(math.Round(float64(n)*scale))) }
	return image.Pt(scaled(size.X), scaled(size.Y))
}
