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
	size := r.Dx() * r.Dy()
	// Vectors may read a block beyond the last pixel.
	p := plane{w: r.Dx(), h: r.Dy(), pix: make([]uint8, size, size+block)}
	inBands(p.h, func(from, to int) {
		for y := from; y < to; y++ {
			src := rgba.Pix[rgba.PixOffset(r.Min.X, r.Min.Y+y):]
			dst := p.row(y)
			src = src[:4*len(dst)]
			for x := range dst {
				s := src[4*x : 4*x+3 : 4*x+3]
				dst[x] = uint8((77*uint32(s[0]) + 150*uint32(s[1]) + 29*uint32(s[2])) >> 8)
			}
		}
	})
	return p
}
