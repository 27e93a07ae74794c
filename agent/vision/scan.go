package vision

import (
	"image"
	"math"
	"math/bits"
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

// strip is how many places beside each other are looked at together.
const strip = 32

// inBands calls do for parts of [0, n), one part for each processor, at once. A panic in
// one of them is the caller's: in a goroutine of its own nobody could recover from it.
func inBands(n int, do func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers < 2 {
		do(0, n)
		return
	}
	var wait sync.WaitGroup
	panics := make(chan any, workers)
	for i := range workers {
		wait.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics <- p
				}
			}()
			do(i*n/workers, (i+1)*n/workers)
		})
	}
	wait.Wait()
	select {
	case p := <-panics:
		panic(p)
	default:
	}
}

// scan scores every place of the screen. It returns all that reach the least
// score, and the best one of all if it comes near it. It is asked before each line, from
// several goroutines, whether it is to end.
func scan(screen plane, t *template, minScore float64, ended func() bool) ([]Match, Match) {
	var grids [][]float32
	for _, g := range t.grids {
		grids = append(grids, boxes(screen, g.width, g.height))
	}
	var lock sync.Mutex
	bands := map[int]*band{}
	inBands(screen.h-t.h+1, func(from, to int) {
		b := &band{screen: screen, template: t, boxes: grids, minScore: minScore, ended: ended}
		b.raise()
		b.scan(from, to)
		lock.Lock()
		defer lock.Unlock()
		bands[from] = b
	})
	var hits []Match
	var best Match
	for y := range screen.h {
		if b := bands[y]; b != nil {
			hits = append(hits, b.hits...)
			if b.best.Score > best.Score {
				best = b.best
			}
		}
	}
	return hits, best
}

// band scans some lines of places.
type band struct {
	screen   plane
	template *template
	boxes    [][]float32 // of each grid of the template
	minScore float64
	ended    func() bool
	hits     []Match
	best     Match
	least    float64 // score of a place that still matters
	cut      float64 // what raise says

	// Of the places of one line:
	sums     []float64   // of their pixels
	energies []float64   // the squares of the lengths of their deviations
	inner    [][]float64 // sums of the pixels that each grid covers
}

// place is the window at one place.
type place struct {
	pixels, mean float64
	energy, norm float64 // of its deviation from its mean; energy is norm squared
}

// scan scores the places whose top is in [from, to). The sums of a place's
// pixels and of their squares slide: down by column, then to the right.
func (b *band) scan(from, to int) {
	t := b.template
	places := b.screen.w - t.w + 1
	b.sums, b.energies = make([]float64, places), make([]float64, places)
	whole := newColumns(b.screen, from, t.h, true)
	inner := make([]*columns, len(t.grids))
	b.inner = make([][]float64, len(t.grids))
	for i, g := range t.grids {
		if b.inner[i] = b.sums; g.inner {
			c := newColumns(b.screen, from, g.height*g.k, false)
			inner[i], b.inner[i] = &c, make([]float64, places)
		}
	}
	for y := from; y < to && !b.ended(); y++ {
		whole.slideTo(y)
		whole.measure(t.w, b.sums, b.energies)
		for i, c := range inner {
			if c != nil {
				c.slideTo(y)
				c.total(t.grids[i].width*t.grids[i].k, b.inner[i])
			}
		}
		for x := 0; x < places; x += strip {
			b.strip(x, y)
		}
	}
}

// strip scores some places beside each other.
func (b *band) strip(x, y int) {
	t := b.template
	flattest := t.norm * t.norm / (contrast * contrast)
	var alive uint32
	for i, energy := range b.energies[x:min(x+strip, len(b.energies))] {
		if energy >= flattest {
			alive |= 1 << i
		}
	}
	for i := range t.grids {
		if alive == 0 {
			return
		}
		alive = b.sift(i, x, y, alive)
	}
	for ; alive != 0; alive &= alive - 1 {
		b.follow(x+bits.TrailingZeros32(alive), y)
	}
}

// sift returns which of the places that are alive one grid does not rule out.
func (b *band) sift(i, x, y int, alive uint32) uint32 {
	g, w := &b.template.grids[i], b.screen.w
	var dots, squares [strip]float32
	weighBlocks(&dots, &squares, b.boxes[i][y*w+x:], g.weights, g.k, g.width, g.height*w)
	least := b.least * b.template.norm
	inner := b.inner[i][x:]
	kept := alive
	for ; alive != 0; alive &= alive - 1 {
		at := bits.TrailingZeros32(alive)
		p := b.place(x + at)
		if !g.reaches(dots[at], squares[at], inner[at], &p, least*p.norm) {
			kept &^= 1 << at
		}
	}
	return kept
}

func (b *band) place(x int) place {
	energy := b.energies[x]
	return place{
		pixels: b.template.pixels, mean: b.sums[x] / b.template.pixels,
		energy: energy, norm: math.Sqrt(energy),
	}
}

// follow follows one place up as far as it can still matter.
func (b *band) follow(x, y int) {
	t := b.template
	at := y*b.screen.w + x
	energy := b.energies[x]
	var dot float64
	left := energy
	for i := range t.parts {
		part := &t.parts[i]
		feature := float64(part.product(b.screen.pix, at)) * part.inverse
		if i == 0 && feature*math.Abs(feature) < b.cut*energy {
			return
		}
		dot += feature * part.share
		left -= feature * feature
		if i > 0 && !exceeds(part.rest, left, b.least*t.norm*math.Sqrt(energy)-dot) {
			return
		}
	}
	norm := t.norm * math.Sqrt(energy)
	product := t.whole.product(b.screen.pix, at, b.sums[x]) - t.mean*b.sums[x]
	m := Match{Bounds: image.Rect(x, y, x+t.w, y+t.h), Score: min(product/norm, 1), Scale: t.scale}
	if m.Score >= b.minScore-slack {
		b.hits = append(b.hits, m)
	}
	if m.Score > b.best.Score && m.Score >= b.minScore-nearby {
		b.best = m
		b.raise()
	}
}

// raise keeps what follows from the best score so far: the least score that
// still matters, and how the first part tells it.
//
// Between unit vectors the score is the cosine of an angle. The anchor is off
// its first part by one angle; a window that is to be within acos(least) of the
// anchor is off that part by no more than both together. So its product with the
// part, squared with its sign, is at least cut times its energy.
func (b *band) raise() {
	b.least = min(b.minScore, max(b.best.Score, b.minScore-nearby)) - slack
	first := b.template.parts[0]
	angle := math.Acos(min(first.share/b.template.norm, 1)) + math.Acos(b.least)
	cosine := math.Cos(min(angle, math.Pi)) - slack
	b.cut = cosine * math.Abs(cosine)
}

// exceeds says whether rest times the root of left is at least need.
func exceeds(rest, left, need float64) bool {
	return need <= 0 || left > 0 && rest*rest*left >= need*need
}
