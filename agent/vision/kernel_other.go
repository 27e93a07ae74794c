//go:build !amd64

package vision

// gridSizes are the grids that are worth their time, in the order of their use.
func gridSizes() []int { return []int{4, 8} }

func (r *rows) product(pix []uint8, at int) int64 { return r.plainProduct(pix, at) }

func weighBlocks(dots, squares *[strip]float32, boxes, weights []float32, k, right, down int) {
	plainWeighBlocks(dots, squares, boxes, weights, k, right, down)
}
