package windesktop

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// unscaled is the DPI of a monitor at 100 %: USER_DEFAULT_SCREEN_DPI of winuser.h.
const unscaled = 96

// Monitors implements driver.Eyes. A monitor's index is its rank among the device
// names of Windows, so that it stays the same when another one becomes the primary.
func (e *eyes) Monitors(ctx context.Context) ([]driver.Monitor, error) {
	if err := stopped(ctx); err != nil {
		return nil, err
	}
	return e.monitors()
}

func (e *eyes) monitors() ([]driver.Monitor, error) {
	found, err := e.system.Monitors()
	if err != nil {
		return nil, fmt.Errorf("monitors: %w", err)
	}
	return monitorsOf(found), nil
}

// monitorsOf numbers the monitors and puts the primary one first.
func monitorsOf(found []winapi.Monitor) []driver.Monitor {
	found = slices.DeleteFunc(slices.Clone(found), func(m winapi.Monitor) bool { return m.Bounds.Empty() })
	slices.SortStableFunc(found, func(a, b winapi.Monitor) int { return byDevice(a.Name, b.Name) })
	primary := max(slices.IndexFunc(found, func(m winapi.Monitor) bool { return m.Primary }), 0)
	monitors := make([]driver.Monitor, len(found))
	for i, m := range found {
		monitors[i] = driver.Monitor{Index: i, Bounds: m.Bounds, Scale: scaleOf(m.DPI), Primary: i == primary}
	}
	slices.SortStableFunc(monitors, func(a, b driver.Monitor) int { return cmp.Compare(rank(a), rank(b)) })
	return monitors
}

func rank(m driver.Monitor) int {
	if m.Primary {
		return -1
	}
	return m.Index
}

// scaleOf takes a monitor whose DPI Windows does not know as unscaled.
func scaleOf(dpi int) float64 {
	if dpi <= 0 {
		return 1
	}
	return float64(dpi) / unscaled
}

// byDevice compares device names by the number at their end: DISPLAY2 comes before
// DISPLAY10.
func byDevice(a, b string) int {
	nameA, numberA := splitNumber(a)
	nameB, numberB := splitNumber(b)
	return cmp.Or(strings.Compare(nameA, nameB), cmp.Compare(len(numberA), len(numberB)), strings.Compare(numberA, numberB))
}

// splitNumber takes the number off the end of a name, without leading zeros.
func splitNumber(name string) (rest, number string) {
	rest = strings.TrimRight(name, "0123456789")
	return rest, strings.TrimLeft(name[len(rest):], "0")
}

// areas are the places of all monitors.
func areas(monitors []driver.Monitor) []image.Rectangle {
	all := make([]image.Rectangle, len(monitors))
	for i, m := range monitors {
		all[i] = m.Bounds
	}
	return all
}

// clip returns what of each part lies within r.
func clip(parts []image.Rectangle, r image.Rectangle) []image.Rectangle {
	var inside []image.Rectangle
	for _, part := range parts {
		if part = part.Intersect(r); !part.Empty() {
			inside = append(inside, part)
		}
	}
	return inside
}

// span is the smallest rectangle round all parts.
func span(parts []image.Rectangle) image.Rectangle {
	var all image.Rectangle
	for _, part := range parts {
		all = all.Union(part)
	}
	return all
}

// holes are the parts of an area that are in none of the others, no two of which
// overlap.
func holes(area image.Rectangle, others []image.Rectangle) []image.Rectangle {
	left := []image.Rectangle{area}
	for _, other := range others {
		var rest []image.Rectangle
		for _, r := range left {
			rest = append(rest, without(r, other)...)
		}
		left = rest
	}
	return left
}

// without cuts other out of r: above it, below it, left and right of it.
func without(r, other image.Rectangle) []image.Rectangle {
	cut := r.Intersect(other)
	if cut.Empty() {
		return []image.Rectangle{r}
	}
	around := []image.Rectangle{
		{Min: r.Min, Max: image.Pt(r.Max.X, cut.Min.Y)},
		{Min: image.Pt(r.Min.X, cut.Max.Y), Max: r.Max},
		{Min: image.Pt(r.Min.X, cut.Min.Y), Max: image.Pt(cut.Min.X, cut.Max.Y)},
		{Min: image.Pt(cut.Max.X, cut.Min.Y), Max: image.Pt(r.Max.X, cut.Max.Y)},
	}
	return slices.DeleteFunc(around, image.Rectangle.Empty)
}
