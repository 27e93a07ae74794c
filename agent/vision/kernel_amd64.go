package vision

import "golang.org/x/sys/cpu"

// vectors says whether this processor has what kernel_amd64.s uses.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// gridSizes are the grids that are worth their time, in the order of their use.
func gridSizes() []int {
	if vectors {
		return []int{8}
	}
	return []int{4, 8}
}

// mostBlocks is how many blocks can be multiplied without overflow: a sum of
// 131,072 products of 255 by mostWeight is just under 2^31.
const mostBlocks = 4096

// product multiplies the rows with the window whose corner is pix[at].
func (r *rows) product(pix []uint8, at int) int64 {
	if !vectors || r.blocks > mostBlocks || at+r.reach > cap(pix) {
		return r.plainProduct(pix, at)
	}
	var sum int64
	step := mostBlocks / r.blocks
	for i := 0; i < len(r.offsets); i += step {
		n := min(step, len(r.offsets)-i)
		sum += int64(multiplyRows(&r.weights[i*r.blocks*block], &pix[at], &r.offsets[i], n, r.blocks))
	}
	return sum
}

func weighBlocks(dots, squares *[strip]float32, boxes, weights []float32, k, right, down int) {
	// What the vectors read lies within.
	_, _ = boxes[(k-1)*(right+down)+strip-1], weights[k*k-1]
	if !vectors {
		plainWeighBlocks(dots, squares, boxes, weights, k, right, down)
		return
	}
	weighStrip(dots, squares, &boxes[0], &weights[0], k, right, down)
}

// multiplyRows is the sum of the products of n rows of so many blocks. The rows
// of pixels begin at the offsets from pix. It needs AVX2.
//
//go:noescape
func multiplyRows(weights *int8, pix *uint8, offsets *int, n, blocks int) int32

// weighStrip is plainWeighBlocks. It needs AVX2 and FMA.
//
//go:noescape
func weighStrip(dots, squares *[strip]float32, boxes, weights *float32, k, right, down int)
