package vision

import "math"

// tap is the share that one source pixel has in a resampled one.
type tap struct {
	at    int
	share float32
}

// resample stretches a plane to another size. Downwards a pixel is the mean of
// the area that it covers, so nothing falls between; upwards it is read off
// Catmull and Rom's cubic, which keeps edges sharp.
//
// Source: Keys, "Cubic convolution interpolation for digital image
// processing", 1981, with a = -1/2.
func resample(p plane, w, h int) plane {
	if w == p.w && h == p.h {
		return p
	}
	columns, rows := taps(p.w, w), taps(p.h, h)
	wide := make([]float32, w*p.h)
	for y := range p.h {
		src, dst := p.row(y), wide[y*w:(y+1)*w]
		for x, of := range columns {
			for _, t := range of {
				dst[x] += t.share * float32(src[t.at])
			}
		}
	}
	out := plane{w: w, h: h, pix: make([]uint8, w*h)}
	sum := make([]float32, w)
	for y, of := range rows {
		clear(sum)
		for _, t := range of {
			for x, v := range wide[t.at*w : (t.at+1)*w] {
				sum[x] += t.share * v
			}
		}
		for x, v := range sum {
			out.pix[y*w+x] = uint8(min(max(v, 0), 255) + 0.5)
		}
	}
	return out
}

// taps says, for each of n pixels along a line, of which pixels of a line of
// size from it is made. The shares of one pixel add up to 1.
func taps(from, n int) [][]tap {
	step := float64(from) / float64(n)
	all := make([][]tap, n)
	for i := range all {
		if step > 1 {
			all[i] = areaTaps(float64(i)*step, float64(i+1)*step, from)
		} else {
			all[i] = cubicTaps((float64(i)+0.5)*step-0.5, from)
		}
	}
	return all
}

func areaTaps(begin, end float64, size int) []tap {
	var out []tap
	for at := int(begin); at < size && float64(at) < end; at++ {
		if covered := min(end, float64(at+1)) - max(begin, float64(at)); covered > 0 {
			out = append(out, tap{at, float32(covered / (end - begin))})
		}
	}
	return out
}

// cubicTaps repeats the line's ends beyond them.
func cubicTaps(center float64, size int) []tap {
	first := int(math.Floor(center)) - 1
	out := make([]tap, 4)
	for i := range out {
		at := first + i
		out[i] = tap{min(max(at, 0), size-1), float32(catmullRom(math.Abs(center - float64(at))))}
	}
	return out
}

func catmullRom(d float64) float64 {
	switch {
	case d < 1:
		return (1.5*d-2.5)*d*d + 1
	case d < 2:
		return ((-0.5*d+2.5)*d-4)*d + 2
	}
	return 0
}
