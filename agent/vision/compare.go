package vision

import (
	"bytes"
	"fmt"
	"image"
)

// CompareOptions say what counts as a change.
type CompareOptions struct {
	// Region limits the comparison. Empty means the whole picture.
	Region image.Rectangle
	// Ignore lists parts that change by themselves, such as a clock.
	Ignore []image.Rectangle
	// Tolerance is by how much a colour channel may differ, 0 to 255, without
	// being a change. A remote desktop's compression needs a few.
	Tolerance uint8
	// Caret is the size of a blinking caret: if all that changed fits into it,
	// nothing did. Zero: every pixel counts.
	Caret image.Point
}

// Change is what differs between two pictures.
type Change struct {
	Pixels int             // how many differ
	Bounds image.Rectangle // where; empty when none do
	Share  float64         // of the pixels that were compared, 0 to 1
}

// Seen says whether anything differs.
func (c Change) Seen() bool { return c.Pixels > 0 }

// Around is the surroundings of a target, in which the effect of an action is
// looked for: what lies within radius pixels of at, in either direction, and
// within bounds, the screen's. Where none of it does, it is all of bounds.
//
// As the Region of Compare it sets the rule of what an effect is there: a
// change of any pixel within the surroundings counts, whatever it looks like
// and however small it is. What happens beyond them does not, and a blinking
// caret and ignored parts, such as a clock, do not within either.
func Around(at image.Point, radius int, bounds image.Rectangle) image.Rectangle {
	// No desktop is that large, and the sums below stay in range.
	radius = min(max(radius, 0), 1<<24)
	r := image.Rect(at.X-radius, at.Y-radius, at.X+radius+1, at.Y+radius+1).Intersect(bounds)
	if r.Empty() {
		return bounds
	}
	return r
}

// Compare says what changed between two pictures of the same desktop. Pictures
// whose bounds differ are an ErrInvalid: the desktop's size changed.
func Compare(before, after *image.RGBA, o CompareOptions) (Change, error) {
	if before.Bounds() != after.Bounds() {
		return Change{}, fmt.Errorf("%w: pictures of %v and %v", ErrInvalid, before.Bounds(), after.Bounds())
	}
	region := before.Bounds()
	if !o.Region.Empty() {
		region = region.Intersect(o.Region)
	}
	if region.Empty() {
		return Change{}, nil
	}
	var c Change
	compared := 0
	for y := region.Min.Y; y < region.Max.Y; y++ {
		spans := visible(y, region, o.Ignore)
		for i := 0; i < len(spans); i += 2 {
			compared += spans[i+1] - spans[i]
			c.addSpan(before, after, y, spans[i], spans[i+1], int(o.Tolerance))
		}
	}
	if size := c.Bounds.Size(); size.X <= o.Caret.X && size.Y <= o.Caret.Y {
		return Change{}, nil
	}
	c.Share = float64(c.Pixels) / float64(max(compared, 1))
	return c, nil
}

// visible returns the parts of a row that no ignored rectangle covers, as
// pairs of from and to.
func visible(y int, region image.Rectangle, ignore []image.Rectangle) []int {
	spans := []int{region.Min.X, region.Max.X}
	for _, r := range ignore {
		if y < r.Min.Y || y >= r.Max.Y || r.Empty() {
			continue
		}
		var kept []int
		for i := 0; i < len(spans); i += 2 {
			from, to := spans[i], spans[i+1]
			if left := min(to, r.Min.X); left > from {
				kept = append(kept, from, left)
			}
			if right := max(from, r.Max.X); right < to {
				kept = append(kept, right, to)
			}
		}
		spans = kept
	}
	return spans
}

func (c *Change) addSpan(before, after *image.RGBA, y, from, to, tolerance int) {
	start, end := before.PixOffset(from, y), before.PixOffset(to-1, y)+4
	b := before.Pix[start:end]
	a := after.Pix[after.PixOffset(from, y):][:len(b)]
	if bytes.Equal(a, b) {
		return
	}
	first, last := -1, 0
	for x := 0; x < len(b); x += 4 {
		if !differs(a[x:x+3:x+3], b[x:x+3:x+3], tolerance) {
			continue
		}
		c.Pixels++
		if last = x / 4; first < 0 {
			first = last
		}
	}
	if first >= 0 {
		c.Bounds = c.Bounds.Union(image.Rect(from+first, y, from+last+1, y+1))
	}
}

func differs(a, b []uint8, tolerance int) bool {
	for i := range a {
		if d := int(a[i]) - int(b[i]); d > tolerance || -d > tolerance {
			return true
		}
	}
	return false
}

// Uniform says whether a picture is of one colour throughout, as a capture is
// that the system refused or that a sleeping screen gave. An empty picture is.
func Uniform(img *image.RGBA) bool {
	r := img.Bounds()
	if r.Empty() {
		return true
	}
	first := img.RGBAAt(r.Min.X, r.Min.Y)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := img.Pix[img.PixOffset(r.Min.X, y) : img.PixOffset(r.Max.X-1, y)+4]
		for x := 0; x < len(row); x += 4 {
			if row[x] != first.R || row[x+1] != first.G || row[x+2] != first.B {
				return false
			}
		}
	}
	return true
}
