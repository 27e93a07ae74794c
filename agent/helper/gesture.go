package helper

import (
	"fmt"
	"image"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

// encodeGesture is a gesture as it crosses; an unknown one is driver.ErrUnsupported.
func encodeGesture(number uint64, in driver.Input) (*helperv1.Gesture, error) {
	g := &helperv1.Gesture{Number: number}
	switch in := in.(type) {
	case driver.Click:
		g.Gesture = &helperv1.Gesture_Click{Click: &helperv1.Click{
			At: encodePoint(in.At), Button: int64(in.Button), Count: int64(in.Count), Modifiers: encodeTexts(in.Modifiers), On: []byte(in.On),
		}}
	case driver.Move:
		g.Gesture = &helperv1.Gesture_Move{Move: &helperv1.Move{At: encodePoint(in.At)}}
	case driver.Drag:
		g.Gesture = &helperv1.Gesture_Drag{Drag: &helperv1.Drag{
			From: encodePoint(in.From), To: encodePoint(in.To), Button: int64(in.Button), On: []byte(in.On),
		}}
	case driver.Type:
		g.Gesture = &helperv1.Gesture_Type{Type: &helperv1.Type{Text: []byte(in.Text), Mode: int64(in.Mode)}}
	case driver.Paste:
		g.Gesture = &helperv1.Gesture_Paste{Paste: &helperv1.Paste{Text: []byte(in.Text)}}
	case driver.Combo:
		g.Gesture = &helperv1.Gesture_Combo{Combo: &helperv1.Combo{Keys: encodeTexts(in.Keys), Front: []byte(in.Front)}}
	case driver.Scroll:
		g.Gesture = &helperv1.Gesture_Scroll{Scroll: &helperv1.Scroll{
			At: encodePoint(in.At), Vertical: int64(in.Vertical), Horizontal: int64(in.Horizontal), On: []byte(in.On),
		}}
	case driver.Focus:
		g.Gesture = &helperv1.Gesture_Focus{Focus: &helperv1.Focus{WindowId: []byte(in.WindowID)}}
	default:
		return nil, fmt.Errorf("%T: %w", in, driver.ErrUnsupported)
	}
	return g, nil
}

// decodeGesture is the gesture that g is; an unknown one is driver.ErrUnsupported.
func decodeGesture(g *helperv1.Gesture) (driver.Input, error) {
	switch in := g.GetGesture().(type) {
	case *helperv1.Gesture_Click:
		c := in.Click
		return driver.Click{
			At: decodePoint(c.GetAt()), Button: driver.Button(c.GetButton()), Count: int(c.GetCount()), Modifiers: decodeTexts(c.GetModifiers()),
			On: string(c.GetOn()),
		}, nil
	case *helperv1.Gesture_Move:
		return driver.Move{At: decodePoint(in.Move.GetAt())}, nil
	case *helperv1.Gesture_Drag:
		d := in.Drag
		return driver.Drag{From: decodePoint(d.GetFrom()), To: decodePoint(d.GetTo()), Button: driver.Button(d.GetButton()), On: string(d.GetOn())}, nil
	case *helperv1.Gesture_Type:
		return driver.Type{Text: string(in.Type.GetText()), Mode: driver.TypeMode(in.Type.GetMode())}, nil
	case *helperv1.Gesture_Paste:
		return driver.Paste{Text: string(in.Paste.GetText())}, nil
	case *helperv1.Gesture_Combo:
		return driver.Combo{Keys: decodeTexts(in.Combo.GetKeys()), Front: string(in.Combo.GetFront())}, nil
	case *helperv1.Gesture_Scroll:
		s := in.Scroll
		return driver.Scroll{At: decodePoint(s.GetAt()), Vertical: int(s.GetVertical()), Horizontal: int(s.GetHorizontal()), On: string(s.GetOn())}, nil
	case *helperv1.Gesture_Focus:
		return driver.Focus{WindowID: string(in.Focus.GetWindowId())}, nil
	}
	return nil, fmt.Errorf("a gesture that this helper does not know: %w", driver.ErrUnsupported)
}

func encodePoint(p image.Point) *helperv1.Point {
	return &helperv1.Point{X: int64(p.X), Y: int64(p.Y)}
}

func decodePoint(p *helperv1.Point) image.Point {
	return image.Pt(int(p.GetX()), int(p.GetY()))
}

func encodeRectangle(r image.Rectangle) *helperv1.Rectangle {
	return &helperv1.Rectangle{MinX: int64(r.Min.X), MinY: int64(r.Min.Y), MaxX: int64(r.Max.X), MaxY: int64(r.Max.Y)}
}

func decodeRectangle(r *helperv1.Rectangle) image.Rectangle {
	return image.Rectangle{
		Min: image.Pt(int(r.GetMinX()), int(r.GetMinY())), Max: image.Pt(int(r.GetMaxX()), int(r.GetMaxY())),
	}
}

func encodeTexts(texts []string) [][]byte {
	var out [][]byte
	for _, t := range texts {
		out = append(out, []byte(t))
	}
	return out
}

func decodeTexts(texts [][]byte) []string {
	var out []string
	for _, t := range texts {
		out = append(out, string(t))
	}
	return out
}
