// Package winapitest opens windows for the tests of what calls Windows: they record
// what they are told, gather the text that is typed, and paint a pattern by which a
// picture of them can be judged. It lies beside winapi since it is made of Windows'
// own calls. Only tests import it.
package winapitest

import (
	"image"
	"image/color"
)

// Class is the class name of the windows.
const Class = "RepriseTestWindow"

// Message is one that a window got: a WM_… of winuser.h with what came with it.
type Message struct {
	ID             uint32
	WParam, LParam uintptr
	At             image.Point // where the pointer was, in the virtual desktop's coordinates
}

// Quarters are the colours of a window without text: its quarters by rows.
var Quarters = [4]color.RGBA{{200, 30, 40, 255}, {20, 180, 60, 255}, {10, 50, 220, 255}, {240, 230, 220, 255}}

// Pattern is what a window of a size paints when it has no text.
func Pattern(bounds image.Rectangle) *image.RGBA {
	img := image.NewRGBA(bounds)
	for i, r := range quarters(bounds) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				img.SetRGBA(x, y, Quarters[i])
			}
		}
	}
	return img
}

func quarters(r image.Rectangle) [4]image.Rectangle {
	mid := r.Min.Add(r.Size().Div(2))
	return [4]image.Rectangle{
		{Min: r.Min, Max: mid}, image.Rect(mid.X, r.Min.Y, r.Max.X, mid.Y),
		image.Rect(r.Min.X, mid.Y, mid.X, r.Max.Y), {Min: mid, Max: r.Max},
	}
}
