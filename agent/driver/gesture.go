package driver

import (
	"fmt"
	"image"
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
