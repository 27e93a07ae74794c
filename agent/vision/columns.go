package vision

// columns are the sums over some pixels down each column of a plane, which
// slide down with the window.
type columns struct {
	plane   plane
	top, h  int // the rows that they cover
	sums    []uint32
	squares []uint32 // of the squares of the pixels; nil when nobody asks
}

// newColumns begins in the row top; the plane has at least h rows from there.
// Columns of up to 66,000 pixels do not overflow.
func newColumns(p plane, top, h int, squares bool) columns {
	c := columns{plane: p, top: top, h: h, sums: make([]uint32, p.w)}
	if squares {
		c.squares = make([]uint32, p.w)
	}
	for y := top; y < top+h; y++ {
		for x, v := range p.row(y) {
			c.sums[x] += uint32(v)
			if squares {
				c.squares[x] += uint32(v) * uint32(v)
			}
		}
	}
	return c
}

// slideTo moves down to the row top.
func (c *columns) slideTo(top int) {
	for ; c.top < top; c.top++ {
		in := c.plane.row(c.top + c.h)
		out, sums := c.plane.row(c.top)[:len(in)], c.sums[:len(in)]
		if c.squares == nil {
			for x, v := range in {
				sums[x] += uint32(v) - uint32(out[x])
			}
			continue
		}
		squares := c.squares[:len(in)]
		for x, v := range in {
			i, o := uint32(v), uint32(out[x])
			sums[x] += i - o
			squares[x] += i*i - o*o
		}
	}
}

// total writes the sums over each w columns beside each other.
func (c *columns) total(w int, sums []float64) {
	var sum uint64
	for _, v := range c.sums[:w-1] {
		sum += uint64(v)
	}
	enter, leave := c.sums[w-1:][:len(sums)], c.sums[:len(sums)]
	for x := range sums {
		sum += uint64(enter[x])
		sums[x] = float64(sum)
		sum -= uint64(leave[x])
	}
}

// measure writes the sums over each w columns beside each other, and the
// energies of their pixels: the sum of the squares of what they deviate from
// their mean.
func (c *columns) measure(w int, sums, energies []float64) {
	var sum, square uint64
	for x := range w - 1 {
		sum += uint64(c.sums[x])
		square += uint64(c.squares[x])
	}
	inverse := 1 / float64(w*c.h)
	n := len(sums)
	enter, leave := c.sums[w-1:][:n], c.sums[:n]
	enterSquare, leaveSquare := c.squares[w-1:][:n], c.squares[:n]
	energies = energies[:n]
	for x := range sums {
		sum += uint64(enter[x])
		square += uint64(enterSquare[x])
		s := float64(int64(sum))
		sums[x], energies[x] = s, float64(int64(square))-s*s*inverse
		sum -= uint64(leave[x])
		square -= uint64(leaveSquare[x])
	}
}
