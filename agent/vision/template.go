package vision

import (
	"cmp"
	"math"
	"slices"
)

// template is an anchor made ready for scanning.
type template struct {
	plane
	scale float64 // of its pixels to the anchor's
	n     float64 // pixels
	mean  float64
	norm  float64 // length of the anchor's deviation from its mean
	// grids hold the anchor's share in block means, coarse to fine.
	grids []grid
	// order lists the rows, those with most structure first, and rows their sums.
	order []int
	rows  []rowSums
}

// rowSums are sums over the rows of template.order up to and with this one.
type rowSums struct {
	pixels, sum float64
	rest        float64 // length of the deviation of the rows that follow
}

// grid splits the anchor into rows of blocks. The means of blocks are orthogonal
// features: two windows correlate at most by the features' product plus the
// product of what the features leave over.
type grid struct {
	rows []gridRow // those with most structure first
}

type gridRow struct {
	top, bottom int
	blocks      []block
	pixels      float64 // of all its blocks
	weight      float64 // of all its pixels
	energy      float64 // of the anchor in this row's features
	rest        float64 // length of the anchor in all that follows
}

type block struct {
	right  int     // its right border
	inv    float64 // 1 / pixels
	weight float64 // the anchor's mean deviation in the block
}

// newTemplate says false when the anchor has no structure.
func newTemplate(p plane) (template, bool) {
	t := template{plane: p, scale: 1, n: float64(len(p.pix))}
	var sum, squares float64
	for _, v := range p.pix {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	t.mean = sum / t.n
	energy := squares - sum*sum/t.n
	// Less than a quarter of a grey level of deviation is rounding, not structure.
	if energy < t.n/16 {
		return t, false
	}
	t.norm = math.Sqrt(energy)
	f := newField(p)
	for _, k := range []int{2, 8, 16} {
		if p.w >= 2*k && p.h >= 2*k {
			t.grids = append(t.grids, t.newGrid(f, k))
		}
	}
	t.orderRows()
	return t, true
}

func (t *template) newGrid(f *field, k int) grid {
	var g grid
	for j := range k {
		r := gridRow{top: j * t.h / k, bottom: (j + 1) * t.h / k}
		for i := range k {
			x, right := i*t.w/k, (i+1)*t.w/k
			pixels := float64((right - x) * (r.bottom - r.top))
			dev := float64(f.sum(x, r.top, right, r.bottom))/pixels - t.mean
			r.blocks = append(r.blocks, block{right: right, inv: 1 / pixels, weight: dev})
			r.pixels += pixels
			r.weight += dev * pixels
			r.energy += dev * dev * pixels
		}
		g.rows = append(g.rows, r)
	}
	slices.SortStableFunc(g.rows, func(a, b gridRow) int { return cmp.Compare(b.energy, a.energy) })
	rest := t.norm * t.norm
	for i := range g.rows {
		rest -= g.rows[i].energy
		g.rows[i].rest = math.Sqrt(max(rest, 0))
	}
	return g
}

func (t *template) orderRows() {
	energy, sums := make([]float64, t.h), make([]float64, t.h)
	t.order = make([]int, t.h)
	for y := range t.h {
		t.order[y] = y
		for _, v := range t.row(y) {
			d := float64(v) - t.mean
			energy[y] += d * d
			sums[y] += float64(v)
		}
	}
	slices.SortStableFunc(t.order, func(a, b int) int { return cmp.Compare(energy[b], energy[a]) })
	rest, sum := t.norm*t.norm, 0.0
	for i, y := range t.order {
		rest -= energy[y]
		sum += sums[y]
		t.rows = append(t.rows, rowSums{pixels: float64((i + 1) * t.w), sum: sum, rest: math.Sqrt(max(rest, 0))})
	}
}
