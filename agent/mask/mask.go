// Package mask blacks out what no picture may show. It decides which pixels those
// are and, where it can't tell, that they are all of them: what a mask was meant to
// hide is then somewhere else. It takes no pictures and sends none.
package mask

import (
	"fmt"
	"image"
	"image/draw"
	"math"
	"slices"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

// Masked is a picture that may leave the machine.
type Masked struct {
	Image *image.RGBA
	Count int    // how many rectangles are blacked out in it
	Why   string // why all of it is black; empty: it is not
}

// Apply returns the frame with what the masks cover in black. The frame itself
// stays as it is; without masks it is what is returned. A mask's edges are rounded
// outward, and what of it lies beyond its monitor is ignored. A mask that belongs
// to none of the monitors, or to one that the frame does not show whole, makes the
// whole picture black.
func Apply(frame *image.RGBA, monitors []driver.Monitor, masks []work.Mask) Masked {
	return apply(frame, monitors, masks, true)
}

// ApplyToWindow is Apply for a picture of one window, which shows no monitor whole: a
// mask covers what of it lies in the window.
func ApplyToWindow(frame *image.RGBA, monitors []driver.Monitor, masks []work.Mask) Masked {
	return apply(frame, monitors, masks, false)
}

func apply(frame *image.RGBA, monitors []driver.Monitor, masks []work.Mask, whole bool) Masked {
	if len(masks) == 0 {
		return Masked{Image: frame}
	}
	areas := make([]image.Rectangle, len(masks))
	for i, m := range masks {
		monitor, why := monitorOf(m, monitors)
		if why == "" && whole && !monitor.In(frame.Rect) {
			why = fmt.Sprintf("it does not show monitor %d, which has a mask, whole", m.Monitor)
		}
		if why != "" {
			return Black(frame, why)
		}
		areas[i] = Area(m, monitor).Intersect(frame.Rect)
	}
	out := Masked{Image: &image.RGBA{Pix: slices.Clone(frame.Pix), Stride: frame.Stride, Rect: frame.Rect}}
	for _, area := range areas {
		if area.Empty() {
			continue
		}
		draw.Draw(out.Image, area, image.Black, image.Point{}, draw.Src)
		out.Count++
	}
	return out
}

// Black returns a picture of the frame's size that shows nothing, and says why.
func Black(frame *image.RGBA, why string) Masked {
	all := image.NewRGBA(frame.Rect)
	draw.Draw(all, all.Rect, image.Black, image.Point{}, draw.Src)
	return Masked{Image: all, Count: 1, Why: "the whole picture is blacked out: " + why}
}

// monitorOf returns the bounds of the mask's monitor, or why there are none.
func monitorOf(m work.Mask, monitors []driver.Monitor) (image.Rectangle, string) {
	if err := Check(m); err != nil {
		return image.Rectangle{}, "of a mask: " + err.Error()
	}
	for _, monitor := range monitors {
		if monitor.Index == m.Monitor && !monitor.Bounds.Empty() {
			return monitor.Bounds, ""
		}
	}
	return image.Rectangle{}, fmt.Sprintf("there is no monitor %d, which has a mask", m.Monitor)
}

// Area returns the pixels of a monitor that the mask covers, wholly or in part.
func Area(m work.Mask, monitor image.Rectangle) image.Rectangle {
	low := func(at float64, size int) int { return int(math.Floor(at * float64(size))) }
	high := func(at float64, size int) int { return int(math.Ceil(at * float64(size))) }
	size := monitor.Size()
	return image.Rect(
		low(m.Left, size.X), low(m.Top, size.Y), high(m.Left+m.Width, size.X), high(m.Top+m.Height, size.Y),
	).Add(monitor.Min).Intersect(monitor)
}

// Check says what is wrong with a mask; nil: nothing.
func Check(m work.Mask) error {
	for _, f := range []struct {
		name  string
		value float64
		least float64 // greater than, for a size
	}{{"left", m.Left, -1}, {"top", m.Top, -1}, {"width", m.Width, 0}, {"height", m.Height, 0}} {
		switch {
		case math.IsNaN(f.value) || f.value < 0 || f.value > 1:
			return fmt.Errorf("its %s is %v, not within 0 and 1", f.name, f.value)
		case f.value <= f.least:
			return fmt.Errorf("its %s is 0", f.name)
		}
	}
	if m.Monitor < 0 || m.Monitor > maxMonitor {
		return fmt.Errorf("its monitor is %d, not within 0 and %d", m.Monitor, maxMonitor)
	}
	return nil
}

// maxMonitor is the schema's greatest index of a monitor.
const maxMonitor = 63
