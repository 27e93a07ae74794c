package vision

// The two inner loops of the search, which take nearly all of its time, exist
// twice: here in Go, and for amd64 in vectors (kernel_amd64.s). They decide
// nothing, and give the same: products of whole numbers to the last bit, those
// of block means but for the rounding that grid.reaches allows for.

// block is how many pixels are multiplied at once.
const block = 32

// plainWeighBlocks writes, for each place of a strip, the sum of the products of
// its k by k features with the weights, and that of the features' squares. The
// features of the first place lie in boxes, right beside and down below each
// other; those of the next begin one further on.
func plainWeighBlocks(dots, squares *[strip]float32, boxes, weights []float32, k, right, down int) {
	for j := range k {
		for i := range k {
			weight := weights[j*k+i]
			features := boxes[j*down+i*right:][:strip]
			for x, f := range features {
				dots[x] += weight * f
				squares[x] += f * f
			}
		}
	}
}
