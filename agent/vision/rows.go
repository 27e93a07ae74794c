package vision

import (
	"cmp"
	"math"
	"slices"
)

// rows are weights for some rows of a window, made ready to be multiplied. A
// weight is at most mostWeight off 0, so that two products fit into 16 bits.
type rows struct {
	width   int
	blocks  int    // how many vectors a row fills
	weights []int8 // row after row, each filled up with zeros to whole blocks
	offsets []int  // of the rows in the searched plane, from the window's corner
	reach   int    // from there to the end of the last block that is read
}

const mostWeight = 64

// newRows takes the rows named by which, in this order, out of weights for rows
// of that width. stride is the searched plane's width.
func newRows(weights []int8, width, stride int, which []int) rows {
	r := rows{width: width, blocks: (width + block - 1) / block}
	r.weights = make([]int8, len(which)*r.blocks*block)
	for i, y := range which {
		copy(r.weights[i*r.blocks*block:], weights[y*width:(y+1)*width])
		r.offsets = append(r.offsets, y*stride)
		r.reach = max(r.reach, y*stride+r.blocks*block)
	}
	return r
}

// plainProduct is the product with the window whose corner is pix[at]. Rows of
// up to 131,000 pixels do not overflow.
func (r *rows) plainProduct(pix []uint8, at int) int64 {
	var sum int64
	for i, offset := range r.offsets {
		a := r.weights[i*r.blocks*block:][:r.width]
		w := pix[at+offset:][:len(a)]
		var s0, s1, s2, s3 int32
		for len(a) >= 4 && len(w) >= 4 {
			s0 += int32(a[0]) * int32(w[0])
			s1 += int32(a[1]) * int32(w[1])
			s2 += int32(a[2]) * int32(w[2])
			s3 += int32(a[3]) * int32(w[3])
			a, w = a[4:], w[4:]
		}
		for x := range min(len(a), len(w)) {
			s0 += int32(a[x]) * int32(w[x])
		}
		sum += int64(s0) + int64(s1) + int64(s2) + int64(s3)
	}
	return sum
}

// complete is all of an anchor, in two halves, as its values less middle are
// twice as large as a weight may be.
type complete struct{ halves [2]rows }

const middle = 128

func newComplete(p plane, stride int) (c complete) {
	first, second, all := make([]int8, len(p.pix)), make([]int8, len(p.pix)), make([]int, p.h)
	for i, v := range p.pix {
		value := int(v) - middle
		first[i] = int8(value / 2)
		second[i] = int8(value - value/2)
	}
	for y := range all {
		all[y] = y
	}
	c.halves = [2]rows{newRows(first, p.w, stride, all), newRows(second, p.w, stride, all)}
	return c
}

// product is that of the anchor's pixels with the window's, whose sum is sum.
func (c *complete) product(pix []uint8, at int, sum float64) float64 {
	return float64(c.halves[0].product(pix, at)+c.halves[1].product(pix, at)) + middle*sum
}

// part is some rows of the anchor as one feature: their deviation from their
// own mean, stretched and rounded. So the brightness of a window does not count.
type part struct {
	rows
	inverse float64 // 1 / the feature's length
	share   float64 // the anchor's product with the feature of length 1
	rest    float64 // length of the anchor in all but this part and those before
}

// partition splits the rows of an anchor that has structure into parts, at least
// one, those with most structure first. The first part is just large enough for it to drop a place that has
// nothing to do with the anchor; each that follows is twice as large.
func partition(p plane, mean, norm, least float64, stride int) []part {
	order := byStructure(p, mean)
	enough := (1 - least*least + worthwhile) * norm * norm
	left := norm * norm
	var parts []part
	for from, n := 0, 1; from < len(order); {
		which := order[from:min(from+n, len(order))]
		part, ok := newPart(p, mean, stride, which)
		if len(parts) == 0 && len(which) < len(order) && (!ok || part.share*part.share < enough) {
			n += 1 + n/8
			continue
		}
		if ok {
			left -= part.share * part.share
			part.rest = math.Sqrt(max(left, 0))
			parts = append(parts, part)
		}
		from += n
		n *= 2
	}
	return parts
}

// byStructure lists the rows of an anchor, those that deviate most first.
func byStructure(p plane, mean float64) []int {
	energy, order := make([]float64, p.h), make([]int, p.h)
	for y := range order {
		order[y] = y
		for _, v := range p.row(y) {
			d := float64(v) - mean
			energy[y] += d * d
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(energy[b], energy[a]) })
	return order
}

// newPart says false when these rows have no structure.
func newPart(p plane, mean float64, stride int, which []int) (part, bool) {
	weights, ok := deviations(p, which)
	if !ok {
		return part{}, false
	}
	var squares, product float64
	for _, y := range which {
		for x, v := range p.row(y) {
			weight := float64(weights[y*p.w+x])
			squares += weight * weight
			product += weight * (float64(v) - mean)
		}
	}
	length := math.Sqrt(squares)
	return part{rows: newRows(weights, p.w, stride, which), inverse: 1 / length, share: product / length}, true
}

// deviations are weights for some rows of an anchor that add up to 0. It says
// false when the rows are all of one grey.
func deviations(p plane, which []int) ([]int8, bool) {
	least, most, sum := uint8(255), uint8(0), 0
	for _, y := range which {
		for _, v := range p.row(y) {
			least, most = min(least, v), max(most, v)
			sum += int(v)
		}
	}
	if least == most {
		return nil, false
	}
	mean := float64(sum) / float64(len(which)*p.w)
	stretch := (mostWeight - 1) / max(float64(most)-mean, mean-float64(least))
	weights := make([]int8, len(p.pix))
	spare := 0
	for _, y := range which {
		for x, v := range p.row(y) {
			weight := int8(math.Round((float64(v) - mean) * stretch))
			weights[y*p.w+x] = weight
			spare += int(weight)
		}
	}
	// What rounding leaves over is less than a half for each weight.
	for _, y := range which {
		for x := range p.w {
			switch at := y*p.w + x; {
			case spare > 0:
				weights[at]--
				spare--
			case spare < 0:
				weights[at]++
				spare++
			}
		}
	}
	return weights, true
}
