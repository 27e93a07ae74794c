package render

import (
	"image"
	"image/color"
)

// A glyph is drawn on a grid of 16 by 16, one stroke over the other. No two of
// them are alike enough to be taken for each other.
type stroke struct {
	round          bool
	x0, y0, x1, y1 int
	colour         color.RGBA
}

func box(x0, y0, x1, y1 int, c color.RGBA) stroke  { return stroke{false, x0, y0, x1, y1, c} }
func oval(x0, y0, x1, y1 int, c color.RGBA) stroke { return stroke{true, x0, y0, x1, y1, c} }

var (
	red    = color.RGBA{0xd6, 0x3a, 0x3a, 0xff}
	orange = color.RGBA{0xf0, 0x8c, 0x1e, 0xff}
	yellow = color.RGBA{0xf5, 0xcf, 0x4c, 0xff}
	green  = color.RGBA{0x3c, 0xa5, 0x55, 0xff}
	sky    = color.RGBA{0x6d, 0xb9, 0xf2, 0xff}
	navy   = color.RGBA{0x1f, 0x35, 0x6b, 0xff}
	violet = color.RGBA{0x8a, 0x4f, 0xc9, 0xff}
	silver = color.RGBA{0xc4, 0xca, 0xd4, 0xff}
)

var glyphs = map[string][]stroke{
	"viewer": {
		box(0, 1, 16, 12, ink), box(1, 2, 15, 11, sky), box(6, 12, 10, 14, ink), box(3, 14, 13, 16, ink),
		oval(3, 3, 9, 9, yellow), box(9, 5, 14, 10, navy), box(10, 6, 13, 7, white),
	},
	"folder": {box(0, 2, 7, 5, orange), box(0, 4, 16, 14, yellow), box(0, 13, 16, 14, orange)},
	"trash":  {box(5, 0, 11, 2, silver), box(1, 2, 15, 4, silver), box(3, 5, 13, 16, edge), box(5, 6, 6, 15, ink), box(8, 6, 9, 15, ink), box(11, 6, 12, 15, ink)},
	"globe": {
		oval(0, 0, 16, 16, sky), oval(2, 3, 9, 10, green), oval(8, 8, 14, 14, green), oval(9, 1, 13, 4, white),
	},
	"terminal": {
		box(0, 1, 16, 15, black), box(1, 2, 15, 14, night), box(2, 4, 4, 6, green), box(4, 6, 6, 8, green), box(2, 8, 4, 10, green), box(7, 10, 13, 12, green),
	},
	"database": {
		oval(1, 10, 15, 16, navy), box(1, 3, 15, 13, navy), oval(1, 8, 15, 13, sky), box(1, 7, 15, 10, navy),
		oval(1, 5, 15, 10, sky), box(1, 3, 15, 7, navy), oval(1, 0, 15, 6, orange),
	},
	"mail":   {box(0, 3, 16, 13, white), box(1, 4, 3, 6, red), box(3, 6, 5, 8, red), box(5, 7, 11, 9, red), box(11, 6, 13, 8, red), box(13, 4, 15, 6, red)},
	"gear":   {box(6, 0, 10, 16, silver), box(0, 6, 16, 10, silver), oval(2, 2, 14, 14, silver), oval(5, 5, 11, 11, ink)},
	"pencil": {box(2, 11, 5, 14, ink), box(4, 8, 8, 12, yellow), box(7, 5, 11, 9, yellow), box(10, 2, 14, 6, red)},
	"logo": {
		oval(0, 0, 16, 16, violet), oval(3, 2, 13, 8, white), oval(5, 3, 11, 7, violet), box(3, 5, 6, 12, white), oval(6, 8, 14, 14, orange), box(2, 13, 6, 15, green),
	},
	"server": {box(1, 1, 15, 7, ink), box(1, 9, 15, 15, ink), oval(2, 2, 6, 6, green), oval(2, 10, 6, 14, red), box(8, 3, 14, 5, silver), box(8, 11, 14, 13, silver)},
	"table":  {box(0, 1, 16, 15, navy), box(1, 5, 5, 8, white), box(6, 5, 10, 8, white), box(11, 5, 15, 8, white), box(1, 9, 5, 14, white), box(6, 9, 10, 14, white), box(11, 9, 15, 14, sky)},
	"disk":   {box(1, 1, 15, 15, navy), box(4, 1, 12, 6, silver), box(9, 2, 11, 5, navy), box(3, 8, 13, 15, white), box(4, 10, 12, 11, red)},
}

// glyph draws a glyph, each cell of its grid zoom pixels wide. An empty name
// draws nothing.
func glyph(dst *image.RGBA, at image.Point, name string, zoom int) {
	for _, s := range glyphs[name] {
		r := image.Rect(s.x0*zoom, s.y0*zoom, s.x1*zoom, s.y1*zoom).Add(at)
		if s.round {
			ellipse(dst, r, s.colour)
		} else {
			fill(dst, r, s.colour)
		}
	}
}

// ellipse fills the ellipse that a rectangle holds, in whole numbers, so that it
// is the same everywhere.
func ellipse(dst *image.RGBA, r image.Rectangle, c color.RGBA) {
	w, h := r.Dx(), r.Dy()
	in := r.Intersect(dst.Bounds())
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			dx, dy := 2*(x-r.Min.X)+1-w, 2*(y-r.Min.Y)+1-h
			if dx*dx*h*h+dy*dy*w*w <= w*w*h*h {
				dst.SetRGBA(x, y, c)
			}
		}
	}
}
