package person

import (
	"image"
	"image/color"
)

// iconSize is the size of an icon's picture; Windows shrinks it to what it shows.
const iconSize = 32

// shapes tell the states apart also for who sees no colours: a ring, an arrow, two
// bars, a square, a ring with a bar across. Places run from 0 to 1.
var shapes = map[state]struct {
	colour color.NRGBA
	has    func(x, y float64) bool
}{
	idle:    {color.NRGBA{R: 0x8a, G: 0x94, B: 0xa0, A: 0xff}, ring},
	working: {color.NRGBA{R: 0x2f, G: 0xb3, B: 0x5c, A: 0xff}, func(x, y float64) bool { return x > 0.18 && x < 0.92 && abs(y-0.5) < (0.92-x)*0.6 }},
	paused: {color.NRGBA{R: 0xf5, G: 0xa6, B: 0x23, A: 0xff}, func(x, y float64) bool {
		return y > 0.12 && y < 0.88 && (x > 0.16 && x < 0.42 || x > 0.58 && x < 0.84)
	}},
	stopped: {color.NRGBA{R: 0xd8, G: 0x35, B: 0x2a, A: 0xff}, func(x, y float64) bool { return max(abs(x-0.5), abs(y-0.5)) < 0.36 }},
	unconnected: {color.NRGBA{R: 0x8a, G: 0x94, B: 0xa0, A: 0xff}, func(x, y float64) bool {
		return ring(x, y) || inRing(x, y) && abs(x-y) < 0.12
	}},
}

func inRing(x, y float64) bool { return (x-0.5)*(x-0.5)+(y-0.5)*(y-0.5) < 0.44*0.44 }

func ring(x, y float64) bool {
	return inRing(x, y) && (x-0.5)*(x-0.5)+(y-0.5)*(y-0.5) > 0.28*0.28
}

func abs(v float64) float64 { return max(v, -v) }

// drawIcon draws a state's shape; a pixel is as opaque as the shape covers it.
func drawIcon(s state) *image.NRGBA {
	const samples = 4
	shape := shapes[s]
	img := image.NewNRGBA(image.Rect(0, 0, iconSize, iconSize))
	for y := range iconSize {
		for x := range iconSize {
			covered := 0
			for i := range samples * samples {
				px := (float64(x) + (float64(i%samples)+0.5)/samples) / iconSize
				py := (float64(y) + (float64(i/samples)+0.5)/samples) / iconSize
				if shape.has(px, py) {
					covered++
				}
			}
			c := shape.colour
			c.A = uint8(255 * covered / (samples * samples))
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}
