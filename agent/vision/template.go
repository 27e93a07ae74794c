package vision

import "math"

// template is an anchor made ready for scanning one field.
type template struct {
	w, h   int
	scale  float64 // of its pixels to the anchor's
	pixels float64
	mean   float64
	norm   float64 // length of the anchor's deviation from its mean
	// grids hold the anchor's share in block means, parts its share in rows: both
	// tell soon that a place is none. whole is all of it, which scores a place.
	grids []grid
	parts []part
	whole complete
}

// newTemplate makes an anchor ready for finding at least that score in planes of
// the width stride. It says false when the anchor has no structure.
func newTemplate(p plane, least float64, stride int) (*template, bool) {
	t := &template{w: p.w, h: p.h, scale: 1, pixels: float64(len(p.pix))}
	var sum, squares float64
	for _, v := range p.pix {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	t.mean = sum / t.pixels
	energy := squares - sum*sum/t.pixels
	// Less than a quarter of a grey level of deviation is rounding, not structure.
	if energy < t.pixels/16 {
		return nil, false
	}
	t.norm = math.Sqrt(energy)
	for _, k := range gridSizes() {
		if g, ok := newGrid(p, t.mean, t.norm, k, least); ok {
			t.grids = append(t.grids, g)
		}
	}
	t.parts = partition(p, t.mean, t.norm, least, stride)
	t.whole = newComplete(p, stride)
	return t, true
}
