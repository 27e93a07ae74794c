package screens

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"strings"
)

var (
	white = color.RGBA{255, 255, 255, 255}
	paper = color.RGBA{240, 240, 240, 255}
	rule  = color.RGBA{172, 172, 172, 255}
	ink   = color.RGBA{20, 20, 20, 255}
)

func fill(img *image.RGBA, c color.Color) {
	draw.Draw(img, img.Rect, image.NewUniform(c), image.Point{}, draw.Src)
}

func word(random *rand.Rand) string {
	letters := make([]byte, 2+random.IntN(8))
	for i := range letters {
		letters[i] = "etaoinshrdlucmfwypvbgkjqxz"[min(random.IntN(26), random.IntN(26))]
	}
	return string(letters)
}

func words(random *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = word(random)
	}
	return strings.Join(out, " ")
}

// drawText is an editor that fills the screen.
func drawText(img *image.RGBA, random *rand.Rand) {
	fill(img, white)
	p := newPen(img, 1)
	for y := 18; y < img.Rect.Dy()+18; y += 19 {
		if random.IntN(7) > 0 {
			p.text(4+20*float64(random.IntN(3)), float64(y), ink, words(random, 2+random.IntN(max(2, img.Rect.Dx()/55))))
		}
	}
}

// drawForms is labels, fields and buttons at 100 %.
func drawForms(img *image.RGBA, random *rand.Rand) { drawForm(img, 1, random) }

// Form draws the sort "forms" at a scaling: 1.5 gives the same form at 150 %,
// its letters and edges drawn for that, not stretched.
func Form(size image.Point, scale float64, seed uint64) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: size})
	drawForm(img, scale, rand.New(rand.NewPCG(seed, 1)))
	return img
}

// The cell of a form that holds one label and its control, in units.
const cellWidth, cellHeight = 230, 58

func drawForm(img *image.RGBA, scale float64, random *rand.Rand) {
	fill(img, paper)
	p := newPen(img, scale)
	// The same numbers are drawn at every scaling, so a cell has a seed of its own.
	seed := random.Uint64()
	for row := range int(float64(img.Rect.Dy())/(scale*cellHeight)) + 1 {
		for column := range int(float64(img.Rect.Dx())/(scale*cellWidth)) + 1 {
			own := rand.New(rand.NewPCG(seed, uint64(row<<16+column)))
			p.cell(float64(column*cellWidth), float64(row*cellHeight), own)
		}
	}
}

func (p pen) cell(x, y float64, random *rand.Rand) {
	p.text(x+10, y+18, ink, words(random, 2))
	switch random.IntN(4) {
	case 0:
		p.frame(x+10, y+25, 200, 24, rule, white)
		p.text(x+15, y+42, ink, words(random, 2))
	case 1:
		p.frame(x+10, y+25, 96, 26, rule, color.RGBA{225, 225, 225, 255})
		p.text(x+24, y+43, ink, word(random))
		p.frame(x+116, y+25, 94, 26, color.RGBA{0, 84, 153, 255}, color.RGBA{0, 120, 215, 255})
		p.text(x+130, y+43, white, word(random))
	case 2:
		for i := range 3 {
			p.frame(x+12+66*float64(i), y+29, 14, 14, ink, white)
			p.text(x+30+66*float64(i), y+41, ink, word(random)[:2])
		}
	default:
		p.icon(x+32, y+38, random)
		p.text(x+60, y+43, color.RGBA{0, 102, 204, 255}, words(random, 2))
	}
}

// icon is three discs in two colours, about 30 units wide.
func (p pen) icon(x, y float64, random *rand.Rand) {
	for i := range 3 {
		c := color.RGBA{uint8(random.IntN(200)), uint8(random.IntN(200)), uint8(random.IntN(200)), 255}
		angle := random.Float64() * 2 * math.Pi
		p.disc(x+6*float64(i)*math.Cos(angle), y+4*float64(i)*math.Sin(angle), 11-3*float64(i), c)
	}
}

// drawTiles is a flat list: rows of equal tiles with one of four pictures, a
// fifth in the special one, and numbers under them.
func drawTiles(img *image.RGBA, random *rand.Rand) {
	fill(img, white)
	p := newPen(img, 1)
	first := random.IntN(9000)
	for row := range img.Rect.Dy()/tile + 1 {
		for column := range img.Rect.Dx()/tile + 1 {
			picture := uint64(random.IntN(4))
			if image.Pt(column, row) == special(img.Rect.Size()) {
				picture = 4
			}
			x, y := float64(column*tile), float64(row*tile)
			p.frame(x+4, y+2, 72, 70, rule, paper)
			p.icon(x+40, y+26, rand.New(rand.NewPCG(picture, uint64(first))))
			p.text(x+18, y+58, ink, fmt.Sprint(1000+(first+100*row+column)%9000))
		}
	}
}

// drawNoise is grey with nothing in it but noise.
func drawNoise(img *image.RGBA, random *rand.Rand) {
	for i := 0; i < len(img.Pix); i += 4 {
		v := uint8(random.Uint32())
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = v, v, v, 255
	}
}

// drawPhoto is hills and clouds: waves of random values, each of half the
// length and 0.6 of the height of the one before, with a camera's noise.
func drawPhoto(img *image.RGBA, random *rand.Rand) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	sum := make([]float64, w*h)
	height := 60.0
	for length := 256; length >= 2; length /= 2 {
		addWaves(sum, w, h, length, height, random)
		height *= 0.6
	}
	for i, v := range sum {
		tint := 12 * math.Sin(v/30)
		v += 128 + random.NormFloat64()*1.5
		grey := func(v float64) uint8 { return uint8(min(max(v, 0), 255)) }
		copy(img.Pix[4*i:], []uint8{grey(v + tint), grey(v), grey(v - tint), 255})
	}
}

// addWaves adds values that are drawn every length pixels and blended between.
func addWaves(sum []float64, w, h, length int, height float64, random *rand.Rand) {
	stride := w/length + 2
	knots := make([]float64, stride*(h/length+2))
	for i := range knots {
		knots[i] = (2*random.Float64() - 1) * height
	}
	smooth := func(i int) float64 {
		t := float64(i%length) / float64(length)
		return t * t * (3 - 2*t)
	}
	for y := range h {
		top := knots[y/length*stride:]
		bottom, down := top[stride:], smooth(y)
		for x := range w {
			k, right := x/length, smooth(x)
			a := top[k] + (top[k+1]-top[k])*right
			b := bottom[k] + (bottom[k+1]-bottom[k])*right
			sum[y*w+x] += a + (b-a)*down
		}
	}
}
