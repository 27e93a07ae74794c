package vision

import (
	"image"
	"math"
	"runtime"
	"sync"
)

// nearby is how far under the least score a place may lie to be worth telling
// when nothing is found. Looking further down would cost more than the search.
const nearby = 0.05

// contrast is how many times flatter than the anchor a place may be. Flatter
// places are empty ground with noise, which correlates with anything.
const contrast = 8

// slack keeps rounding from dropping a place that just reaches the least score.
const slack = 1e-9

// scan scores every place of the field. It returns all that reach the least
// score, and the best one of all if it comes near it.
func scan(f *field, t template, minScore float64) ([]Match, Match) {
	places := f.h - t.h + 1
	workers := min(runtime.GOMAXPROCS(0), places)
	bands := make([]band, workers)
	var wait sync.WaitGroup
	for i := range bands {
		b := &bands[i]
		*b = band{field: f, template: &t, minScore: minScore}
		wait.Go(func() { b.scan(i*places/workers, (i+1)*places/workers) })
	}
	wait.Wait()
	var hits []Match
	var best Match
	for i := range bands {
		hits = append(hits, bands[i].hits...)
		if bands[i].best.Score > best.Score {
			best = bands[i].best
		}
	}
	return hits, best
}

// band scans some rows of places.
type band struct {
	field    *field
	template *template
	minScore float64
	hits     []Match
	best     Match
}

// scan scores the places whose top is in [from, to). The sums of a place's
// pixels and of their squares slide: down by column, then to the right.
func (b *band) scan(from, to int) {
	f, t := b.field, b.template
	sums, squares := make([]uint32, f.w), make([]uint32, f.w)
	for y := from; y < from+t.h; y++ {
		for x, v := range f.row(y) {
			sums[x] += uint32(v)
			squares[x] += uint32(v) * uint32(v)
		}
	}
	for y := from; y < to; y++ {
		if y > from {
			slideDown(sums, squares, f.row(y-1), f.row(y+t.h-1))
		}
		b.scanRow(y, sums, squares)
	}
}

func slideDown(sums, squares []uint32, out, in []uint8) {
	sums, squares, out = sums[:len(in)], squares[:len(in)], out[:len(in)]
	for x := range in {
		i, o := uint32(in[x]), uint32(out[x])
		sums[x] += i - o
		squares[x] += i*i - o*o
	}
}

func (b *band) scanRow(y int, sums, squares []uint32) {
	t := b.template
	var sum, square uint64
	for x := range t.w {
		sum += uint64(sums[x])
		square += uint64(squares[x])
	}
	flattest := t.norm * t.norm / (contrast * contrast)
	inv := 1 / t.n
	last := len(sums) - t.w
	for x := 0; ; x++ {
		s := float64(sum)
		if energy := float64(square) - s*s*inv; energy >= flattest {
			b.place(x, y, s*inv, energy)
		}
		if x == last {
			return
		}
		sum += uint64(sums[x+t.w]) - uint64(sums[x])
		square += uint64(squares[x+t.w]) - uint64(squares[x])
	}
}

// place follows one place up as far as it can still matter.
func (b *band) place(x, y int, mean, energy float64) {
	t := b.template
	norm := math.Sqrt(energy)
	least := min(b.minScore, max(b.best.Score, b.minScore-nearby)) - slack
	need := least * t.norm * norm
	for i := range t.grids {
		if !t.grids[i].reaches(b.field, x, y, mean, energy, need) {
			return
		}
	}
	product, ok := t.product(b.field, x, y, mean, energy, need)
	if !ok {
		return
	}
	m := Match{Bounds: image.Rect(x, y, x+t.w, y+t.h), Score: min(product/(t.norm*norm), 1), Scale: t.scale}
	if m.Score > b.best.Score && m.Score >= b.minScore-nearby {
		b.best = m
	}
	if m.Score >= b.minScore-slack {
		b.hits = append(b.hits, m)
	}
}

// reaches says whether the product of anchor and window can still reach need,
// judged by the sums of blocks alone: after each row of blocks, what is left of
// both is taken to agree fully.
func (g *grid) reaches(f *field, x, y int, mean, energy, need float64) bool {
	left := energy
	var dot float64
	for i := range g.rows {
		r := &g.rows[i]
		top := f.sums[(y+r.top)*f.stride+x:]
		bottom := f.sums[(y+r.bottom)*f.stride+x:]
		first := bottom[0] - top[0]
		before := first
		var product, squares float64
		for _, b := range r.blocks {
			after := bottom[b.right] - top[b.right]
			sum := float64(after - before)
			product += b.weight * sum
			squares += b.inv * sum * sum
			before = after
		}
		dot += product - mean*r.weight
		left -= squares - mean*(2*float64(before-first)-mean*r.pixels)
		if dot+r.rest*math.Sqrt(max(left, 0)) < need {
			return false
		}
	}
	return true
}

// product is the product of anchor and window. It says false as soon as the
// rows that are left cannot lift it to need any more.
func (t *template) product(f *field, x, y int, mean, energy, need float64) (float64, bool) {
	var sum, square, product uint64
	var dot float64
	for i, dy := range t.order {
		s, q := f.rowSums(x, y+dy, t.w)
		sum, square = sum+uint64(s), square+uint64(q)
		product += uint64(rowProduct(t.row(dy), f.pix[(y+dy)*f.w+x:]))
		done := &t.rows[i]
		dot = float64(product) - t.mean*float64(sum) - mean*done.sum + done.pixels*t.mean*mean
		left := energy - (float64(square) - 2*mean*float64(sum) + done.pixels*mean*mean)
		if dot+done.rest*math.Sqrt(max(left, 0)) < need {
			return 0, false
		}
	}
	return dot, true
}

// rowProduct multiplies two rows. Up to 66,000 pixels do not overflow.
func rowProduct(anchor, window []uint8) uint32 {
	window = window[:len(anchor)]
	var a, b, c, d uint32
	for len(anchor) >= 4 && len(window) >= 4 {
		a += uint32(anchor[0]) * uint32(window[0])
		b += uint32(anchor[1]) * uint32(window[1])
		c += uint32(anchor[2]) * uint32(window[2])
		d += uint32(anchor[3]) * uint32(window[3])
		anchor, window = anchor[4:], window[4:]
	}
	for i := range min(len(anchor), len(window)) {
		a += uint32(anchor[i]) * uint32(window[i])
	}
	return a + b + c + d
}
