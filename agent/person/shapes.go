package person

import (
	"image"
	"image/color"
)

// iconSize is the size of an icon's picture; Windows shrinks it to what it shows.
const iconSize = 32

// A state's icon is a white sign on a plate of a colour, so that it is seen on a light
// and on a dark taskbar, and told apart also by who sees no colours: a ring, an arrow,
// two bars, a square, a ring with a bar across. Places run from 0 to 1.
var shapes = map[state]struct {
	plate color.NRGBA
	sign  func(x, y float64) bool
}{
	idle: {color.NRGBA{R: 0x6b, G: 0x76, B: 0x84, A: 0xff}, ring},
	working: {color.NRGBA{R: 0x1f, G: 0x97, B: 0x49, A: 0xff}, func(x, y float64) bool {
		return x > 0.28 && x < 0.82 && abs(y-0.5) < (0.82-x)*0.6
	}},
	paused: {color.NRGBA{R: 0xe0, G: 0x8a, B: 0x00, A: 0xff}, func(x, y float64) bool {
		return abs(y-0.5) < 0.3 && abs(abs(x-0.5)-0.16) < 0.09
	}},
	stopped: {color.NRGBA{R: 0xd0, G: 0x2b, B: 0x20, A: 0xff}, func(x, y float64) bool {
		return max(abs(x-0.5), abs(y-0.5)) < 0.24
	}},
	unconnected: {color.NRGBA{R: 0x6b, G: 0x76, B: 0x84, A: 0xff}, func(x, y float64) bool {
		return ring(x, y) || within(x, y, 0.3) && abs(x-y) < 0.1
	}},
}

func within(x, y, radius float64) bool {
	return (x-0.5)*(x-0.5)+(y-0.5)*(y-0.5) < radius*radius
}

func ring(x, y float64) bool { return within(x, y, 0.34) && !within(x, y, 0.2) }

// onPlate says whether a place is on the plate: a square with round corners.
func onPlate(x, y float64) bool {
	const radius = 0.2
	dx, dy := max(abs(x-0.5)-(0.5-radius), 0), max(abs(y-0.5)-(0.5-radius), 0)
	return dx*dx+dy*dy < radius*radius
}

func abs(v float64) float64 { return max(v, -v) }

// drawIcon draws a state's icon. At the edges a pixel is as much of each colour, and as
// opaque, as it is covered.
func drawIcon(s state) *image.NRGBA {
	shape := shapes[s]
	img := image.NewNRGBA(image.Rect(0, 0, iconSize, iconSize))
	for y := range iconSize {
		for x := range iconSize {
			plate, sign := covered(x, y, onPlate), covered(x, y, shape.sign)
			c := shape.plate
			mix := func(v uint8) uint8 { return uint8(float64(v)*(1-sign) + 255*sign) }
			img.SetNRGBA(x, y, color.NRGBA{R: mix(c.R), G: mix(c.G), B: mix(c.B), A: uint8(255 * plate)})
		}
	}
	return img
}

// covered is how much of a pixel a shape covers, from 0 to 1.
func covered(x, y int, has func(x, y float64) bool) float64 {
	const samples = 4
	n := 0
	for i := range samples * samples {
		px := (float64(x) + (float64(i%samples)+0.5)/samples) / iconSize
		py := (float64(y) + (float64(i/samples)+0.5)/samples) / iconSize
		if has(px, py) {
			n++
		}
	}
	return float64(n) / (samples * samples)
}
