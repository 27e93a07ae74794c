package vision

import (
	"cmp"
	"math"
	"slices"
)

// rows are some rows of an anchor, or of weights for its pixels, made ready to
// be multiplied with windows.
type rows struct {
	width   int
	blocks  int     // how many vectors a row fills
	values  []int16 // row after row, each filled up with zeros to whole blocks
	offsets []int   // of the rows in the searched plane, from the window's corner
	reach   int     // from there to the end of the last block that is read
}

// newRows takes the rows named by which, in this order, out of values of that
// width. stride is the searched plane's width.
func newRows(values []int16, width, stride int, which []int) rows {
	r := rows{width: width, blocks: (width + block - 1) / block}
	r.values = make([]int16, len(which)*r.blocks*block)
	for i, y := range which {
		copy(r.values[i*r.blocks*block:], values[y*width:(y+1)*width])
		r.offsets = append(r.offsets, y*stride)
		r.reach = max(r.reach, y*stride+r.blocks*block)
	}
	return r
}

// plainProduct is the product with the window whose corner is pix[at]. Rows of
// up to 33,000 pixels do not overflow.
func (r *rows) plainProduct(pix []uint8, at int) int64 {
	var sum int64
	for i, offset := range r.offsets {
		a := r.values[i*r.blocks*block:][:r.width]
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

// part is some rows of the anchor as one feature: their deviation from their
// own mean, rounded. So the brightness of a window does not count.
type part struct {
	rows
	inverse float64 // 1 / the feature's length
	share   float64 // the anchor's product with the feature of length 1
	rest    float64 // length of the anchor in all but this part and those before
}

// partition splits the anchor's rows into parts, those with most structure
// first. The first part is just large enough for it to drop a place that has
// nothing to do with the anchor; each that follows is twice as large.
func partition(p plane, mean, norm, least float64, stride int) []part {
	order := byStructure(p, mean)
	enough := (1 - least*least + worthwhile) * norm * norm
	left := norm * norm
	var parts []part
	for from, n := 0, 1; from < len(order); {
		which := order[from:min(from+n, len(order))]
		part, ok := newPart(p, mean, stride, which)
		first := len(parts) == 0
		if first && ok && len(which) < len(order) && part.share*part.share < enough {
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
	sum := 0
	for _, y := range which {
		for _, v := range p.row(y) {
			sum += int(v)
		}
	}
	pixels := len(which) * p.w
	middle := int(math.Round(float64(sum) / float64(pixels)))
	// A feature's weights add up to 0; what rounding leaves over is spread.
	spare := sum - middle*pixels
	weights := make([]int16, len(p.pix))
	var squares, product float64
	for _, y := range which {
		for x, v := range p.row(y) {
			weight := int(v) - middle
			switch {
			case spare > 0:
				weight--
				spare--
			case spare < 0:
				weight++
				spare++
			}
			weights[y*p.w+x] = int16(weight)
			squares += float64(weight) * float64(weight)
			product += float64(weight) * (float64(v) - mean)
		}
	}
	if squares == 0 {
		return part{}, false
	}
	length := math.Sqrt(squares)
	return part{rows: newRows(weights, p.w, stride, which), inverse: 1 / length, share: product / length}, true
}
