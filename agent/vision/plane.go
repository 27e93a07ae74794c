package vision

import (
	"image"
	"image/draw"
)

// plane is a picture in luma, its first pixel at (0,0).
type plane struct {
	w, h int
	pix  []uint8
}

func (p plane) row(y int) []uint8 { return p.pix[y*p.w : (y+1)*p.w] }

// luma takes the part r of a picture. Transparent pixels count as if over black.
func luma(img image.Image, r image.Rectangle) plane {
	rgba, ok := img.(*image.RGBA)
	if !ok {
		rgba = image.NewRGBA(r)
		draw.Draw(rgba, r, img, r.Min, draw.Src)
	}
	p := plane{w: r.Dx(), h: r.Dy(), pix: make([]uint8, r.Dx()*r.Dy())}
	for y := range p.h {
		src := rgba.Pix[rgba.PixOffset(r.Min.X, r.Min.Y+y):]
		dst := p.row(y)
		src = src[:4*len(dst)]
		for x := range dst {
			s := src[4*x : 4*x+3 : 4*x+3]
			dst[x] = uint8((77*uint32(s[0]) + 150*uint32(s[1]) + 29*uint32(s[2])) >> 8)
		}
	}
	return p
}

// field is a plane with summed-area tables of its pixels and of their squares,
// which give the sum over any rectangle in four look-ups. The tables wrap
// around; differences do not mind while one rectangle's sum is under 2^32: 16
// million pixels, or 66,000 squares.
type field struct {
	plane
	stride  int
	sums    []uint32 // (w+1) x (h+1): the sum of all pixels above and to the left
	squares []uint32
}

func newField(p plane) *field {
	size := (p.w + 1) * (p.h + 1)
	f := &field{plane: p, stride: p.w + 1, sums: make([]uint32, size), squares: make([]uint32, size)}
	for y := range p.h {
		row := p.row(y)
		above, here := y*f.stride+1, (y+1)*f.stride+1
		sumAbove, sumHere := f.sums[above:above+len(row)], f.sums[here:here+len(row)]
		squareAbove, squareHere := f.squares[above:above+len(row)], f.squares[here:here+len(row)]
		var sum, square uint32
		for x, v := range row {
			sum += uint32(v)
			square += uint32(v) * uint32(v)
			sumHere[x] = sumAbove[x] + sum
			squareHere[x] = squareAbove[x] + square
		}
	}
	return f
}

// sum is the sum of the pixels from (x,y) up to but without right and bottom.
func (f *field) sum(x, y, right, bottom int) uint32 {
	return f.sums[bottom*f.stride+right] - f.sums[bottom*f.stride+x] - f.sums[y*f.stride+right] + f.sums[y*f.stride+x]
}

// rowSums returns the sums over w pixels to the right of (x,y).
func (f *field) rowSums(x, y, w int) (sum, square uint32) {
	above := y*f.stride + x
	here := above + f.stride
	return f.sums[here+w] - f.sums[here] - f.sums[above+w] + f.sums[above],
		f.squares[here+w] - f.squares[here] - f.squares[above+w] + f.squares[above]
}
