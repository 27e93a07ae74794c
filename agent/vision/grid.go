package vision

import "math"

// grid splits the anchor into k by k equal blocks, as large as fit into it; what
// they leave at its right and bottom border they leave. The means of blocks are
// orthogonal features: two windows correlate at most by the product of the
// features plus the product of what the features leave over.
type grid struct {
	k             int
	width, height int       // of a block
	root          float64   // of its pixels
	weights       []float32 // the anchor's features: root times the mean deviation
	sum           float64   // of the weights
	norm          float64   // their length
	rest          float64   // length of the anchor in what the features leave over
	inner         bool      // whether they leave a border
}

// worthwhile is how much of the structure of an anchor a grid must hold over
// what it takes to drop a place that has nothing to do with the anchor.
const worthwhile = 0.03

// newGrid says false when the anchor is too small for a grid, or when nothing
// could be told by it: an anchor of noise has all its structure in its pixels.
func newGrid(p plane, mean, norm float64, k int, least float64) (grid, bool) {
	g := grid{k: k, width: p.w / k, height: p.h / k, weights: make([]float32, 0, k*k)}
	if g.width < 2 || g.height < 2 {
		return grid{}, false
	}
	g.inner = g.width*k < p.w || g.height*k < p.h
	pixels := float64(g.width * g.height)
	g.root = math.Sqrt(pixels)
	var energy float64
	for j := range k {
		for i := range k {
			var sum float64
			for y := j * g.height; y < (j+1)*g.height; y++ {
				for _, v := range p.row(y)[i*g.width : (i+1)*g.width] {
					sum += float64(v)
				}
			}
			weight := float32((sum - pixels*mean) / g.root)
			g.weights = append(g.weights, weight)
			g.sum += float64(weight)
			energy += float64(weight) * float64(weight)
		}
	}
	g.norm = math.Sqrt(energy)
	g.rest = math.Sqrt(max(norm*norm-energy, 0))
	return g, energy > (1-least+worthwhile)*norm*norm
}

// grey is what boxes count from: nearer to what desktops are made of than
// black, so single precision goes further.
const grey = 128

// boxes are the features of all blocks that can be laid on a plane: at y*w+x
// the sum of the block whose corner is (x,y), less grey, over the root of its
// pixels.
func boxes(p plane, width, height int) []float32 {
	lines := p.h - height + 1
	// Strips may reach beyond the last one.
	out := make([]float32, lines*p.w+strip)
	ground := float64(grey * width * height)
	inverse := 1 / math.Sqrt(float64(width*height))
	inBands(lines, func(from, to int) {
		c := newColumns(p, from, height, false)
		sums := make([]float64, p.w-width+1)
		for y := from; y < to; y++ {
			c.slideTo(y)
			c.total(width, sums)
			line := out[y*p.w:][:len(sums)]
			for x, sum := range sums {
				line[x] = float32((sum - ground) * inverse)
			}
		}
	})
	return out
}

// rounding bounds the relative error of sums of up to 64 products in single
// precision, several times over.
const rounding = 2e-5

// reaches says whether a place can still reach need, judged by the sums of its
// features' products with the anchor's and with themselves. inner is the sum of
// the pixels that the blocks cover.
func (g *grid) reaches(dot, square float32, inner float64, p *place, need float64) bool {
	blocks := float64(g.k * g.k)
	pixels := g.root * g.root
	mean := p.mean - grey
	features := float64(square) - mean*(2*(inner-grey*pixels*blocks)-blocks*pixels*mean)
	// The length of all of the window, seen from grey, is the most that the
	// features seen from there can have.
	length := p.norm + math.Abs(mean)*math.Sqrt(p.pixels)
	left := p.energy - features + rounding*length*length
	return exceeds(g.rest, left, need-(float64(dot)-g.root*mean*g.sum+rounding*g.norm*length))
}
