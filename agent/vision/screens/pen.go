package screens

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// pen draws in units of which scale make a pixel, as a desktop at that scaling
// does: edges of boxes lie on pixels, letters and discs are smoothed.
type pen struct {
	img   *image.RGBA
	scale float64
	face  font.Face
}

// letterSize is the height of a line's letters in units.
const letterSize = 15

func newPen(img *image.RGBA, scale float64) pen {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // the font is part of the program
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: letterSize * scale, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err) // as above
	}
	return pen{img: img, scale: scale, face: face}
}

func (p pen) pixel(v float64) int { return int(math.Round(v * p.scale)) }

func (p pen) box(x, y, w, h float64, c color.Color) {
	r := image.Rect(p.pixel(x), p.pixel(y), p.pixel(x+w), p.pixel(y+h))
	draw.Draw(p.img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// frame is a box with a border one unit thick.
func (p pen) frame(x, y, w, h float64, border, inner color.Color) {
	p.box(x, y, w, h, border)
	p.box(x+1, y+1, w-2, h-2, inner)
}

// text writes a line whose letters stand on y.
func (p pen) text(x, y float64, c color.Color, s string) {
	d := font.Drawer{Dst: p.img, Src: image.NewUniform(c), Face: p.face,
		Dot: fixed.Point26_6{X: fixed.Int26_6(x * p.scale * 64), Y: fixed.Int26_6(y * p.scale * 64)}}
	d.DrawString(s)
}

// disc is a filled circle, each pixel the mean of 16 samples.
func (p pen) disc(x, y, radius float64, c color.RGBA) {
	cx, cy, r := x*p.scale, y*p.scale, radius*p.scale
	area := image.Rect(int(cx-r)-1, int(cy-r)-1, int(cx+r)+2, int(cy+r)+2).Intersect(p.img.Rect)
	for py := area.Min.Y; py < area.Max.Y; py++ {
		for px := area.Min.X; px < area.Max.X; px++ {
			inside := 0
			for i := range 16 {
				dx, dy := float64(px)+float64(i%4)/4+0.125-cx, float64(py)+float64(i/4)/4+0.125-cy
				if dx*dx+dy*dy < r*r {
					inside++
				}
			}
			if inside > 0 {
				p.img.SetRGBA(px, py, blend(p.img.RGBAAt(px, py), c, float64(inside)/16))
			}
		}
	}
}

func blend(a, b color.RGBA, share float64) color.RGBA {
	mix := func(a, b uint8) uint8 { return uint8(float64(a)*(1-share) + float64(b)*share + 0.5) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}
