package driver

import (
	"fmt"
	"image"
	"slices"
)

// NameOf is a gesture's kind, for people and fault points.
func NameOf(in Input) string {
	switch in.(type) {
	case Click:
		return "click"
	case Move:
		return "move"
	case Drag:
		return "drag"
	case Type:
		return "type"
	case Paste:
		return "paste"
	case Combo:
		return "key combo"
	case Scroll:
		return "scroll"
	case Focus:
		return "focus window"
	}
	return fmt.Sprintf("%T", in)
}

// Places are where a gesture begins and ends, in that order; none: it goes to what has
// the keyboard, or to a window.
func Places(in Input) []image.Point {
	switch in := in.(type) {
	case Click:
		return []image.Point{in.At}
	case Move:
		return []image.Point{in.At}
	case Drag:
		return []image.Point{in.From, in.To}
	case Scroll:
		return []image.Point{in.At}
	}
	return nil
}

// On is the id of the window that must be the topmost where a gesture begins; empty: it
// asks for none.
func On(in Input) string {
	switch in := in.(type) {
	case Click:
		return in.On
	case Drag:
		return in.On
	case Scroll:
		return in.On
	}
	return ""
}

// Uncovered says whether the window that a gesture asks for is the topmost where it
// begins, of these windows, the topmost first. If not it is ErrOffScreen.
func Uncovered(in Input, windows []Window) error {
	on := On(in)
	if on == "" {
		return nil
	}
	at := Places(in)[0]
	i := slices.IndexFunc(windows, func(w Window) bool { return at.In(w.Bounds) })
	switch {
	case i < 0:
		return fmt.Errorf("no window is at %v: %w", at, ErrOffScreen)
	case windows[i].ID != on:
		return fmt.Errorf("window %q lies over the place %v: %w", windows[i].Title, at, ErrOffScreen)
	}
	return nil
}
