package virtualdesktop

import (
	"image"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

var twoMonitors = []driver.Monitor{{Bounds: image.Rect(0, 0, 1280, 800)}, {Bounds: image.Rect(-800, 100, 0, 700)}}

func places() *rapid.Generator[image.Point] {
	return rapid.Custom(func(t *rapid.T) image.Point {
		m := rapid.SampledFrom(twoMonitors).Draw(t, "monitor").Bounds
		return image.Pt(rapid.IntRange(m.Min.X, m.Max.X-1).Draw(t, "x"), rapid.IntRange(m.Min.Y, m.Max.Y-1).Draw(t, "y"))
	})
}

func gestures() *rapid.Generator[driver.Input] {
	button := rapid.SampledFrom([]driver.Button{driver.Left, driver.Right, driver.Middle})
	modifiers := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ctrl", "shift", "alt", "win"}), 0, 4, rapid.ID)
	notches := rapid.IntRange(-20, 20)
	return rapid.Custom(func(t *rapid.T) driver.Input {
		at := places().Draw(t, "at")
		return rapid.SampledFrom([]driver.Input{
			driver.Click{At: at, Button: button.Draw(t, "button"), Count: rapid.IntRange(1, 3).Draw(t, "count"), Modifiers: modifiers.Draw(t, "modifiers")},
			driver.Move{At: at},
			driver.Drag{From: at, To: places().Draw(t, "to"), Button: button.Draw(t, "button")},
			driver.Type{Text: rapid.StringMatching(`[a-zé€😀\n\t]*`).Draw(t, "text")},
			driver.Paste{Text: rapid.String().Draw(t, "text")},
			driver.Combo{Keys: append(modifiers.Draw(t, "modifiers"), "f5")},
			driver.Scroll{At: at, Vertical: notches.Draw(t, "vertical"), Horizontal: notches.Draw(t, "horizontal")},
			driver.Focus{WindowID: "w"},
		}).Draw(t, "gesture")
	})
}

// A gesture lets go of all that it presses, never leaves the monitors, and its
// fault point has events before and after it.
func TestEveryGestureEndsAsItBegan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := gestures().Draw(t, "in")
		p, err := lower(in, twoMonitors)
		if err != nil {
			t.Fatal(err)
		}
		var held []wire.Event
		for _, e := range p.events {
			held = holding(held, e)
			if e.Kind == wire.Move && onScreen(twoMonitors, image.Pt(e.X, e.Y)) != nil {
				t.Fatalf("%T moves to %d,%d, on no monitor", in, e.X, e.Y)
			}
		}
		if len(held) != 0 {
			t.Fatalf("%T leaves to be let go: %v", in, held)
		}
		if inside := p.middle >= 0 && p.middle < len(p.events)-1; inside != (len(p.events) > 1) {
			t.Fatalf("%T: fault point after event %d of %d", in, p.middle, len(p.events))
		}
	})
}

func TestTheFaultPointIsWhereItsDocumentationSays(t *testing.T) {
	for name, c := range map[string]struct {
		in          driver.Input
		sent, still string
	}{
		"double click": {
			driver.Click{Count: 2},
			"move button_down button_up button_down", "button_up",
		},
		"click with a modifier": {
			driver.Click{Count: 1, Modifiers: []string{"ctrl"}},
			"move key_down button_down", "button_up key_up",
		},
		"paste": {driver.Paste{Text: "x"}, "clipboard key_down key_down key_up", "key_up"},
		"combo": {driver.Combo{Keys: []string{"ctrl", "f11"}}, "key_down key_down", "key_up key_up"},
		"type":  {driver.Type{Text: "abcd"}, "char char", "char char"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := lower(c.in, twoMonitors)
			if err != nil {
				t.Fatal(err)
			}
			if got := kinds(p.events[:p.middle+1]); got != c.sent {
				t.Errorf("before: %s, want %s", got, c.sent)
			}
			if got := kinds(p.events[p.middle+1:]); got != c.still {
				t.Errorf("after: %s, want %s", got, c.still)
			}
		})
	}
}

func kinds(events []wire.Event) string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = string(e.Kind)
	}
	return strings.Join(names, " ")
}
