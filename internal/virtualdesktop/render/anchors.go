package render

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// pause is what passes between two steps of a walk: longer than any program of a
// scene takes to start, and than a double click.
const pause = 2 * time.Second

// Stop is where a walk through a scene stands before a step is done.
type Stop struct {
	Step   virtualdesktop.Step
	Screen *image.RGBA
	Anchor *image.RGBA     // nil when the step has no place
	At     image.Rectangle // of the anchor, on the virtual desktop
}

// Walk goes the way through a scene with the events of a hand. It fails when a
// step's place is not to be seen or its effect does not come.
func Walk(s virtualdesktop.Scene) ([]Stop, error) {
	d, now := virtualdesktop.New(s), time.Unix(0, 0).UTC()
	var stops []Stop
	for i, step := range s.Walk {
		now = now.Add(pause)
		d.Advance(now)
		stop := Stop{Step: step, Screen: Picture(d.View())}
		if step.Anchor != "" {
			bounds, ok := d.Find(step.Widget)
			if !ok {
				return nil, fmt.Errorf("step %d: %q is not to be seen", i+1, step.Widget)
			}
			stop.At = bounds
			if !step.Crop.Empty() {
				stop.At = step.Crop.Add(bounds.Min)
			}
			stop.Anchor = image.NewRGBA(image.Rectangle{Max: stop.At.Size()})
			draw.Draw(stop.Anchor, stop.Anchor.Bounds(), stop.Screen, stop.At.Min, draw.Src)
		}
		stops = append(stops, stop)
		for _, e := range events(step, stop.At.Min.Add(stop.At.Size().Div(2))) {
			if err := d.Apply(e, now); err != nil {
				return nil, fmt.Errorf("step %d: %w", i+1, err)
			}
		}
		if err := counted(d, step); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return stops, nil
}

// WriteAnchors writes the anchors of a scene's walk to a folder, one PNG each
// under the anchor's name, and returns the names of the files.
func WriteAnchors(s virtualdesktop.Scene, dir string) ([]string, error) {
	stops, err := Walk(s)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var names []string
	for _, stop := range stops {
		if stop.Anchor == nil {
			continue
		}
		var file bytes.Buffer
		if err := png.Encode(&file, stop.Anchor); err != nil {
			return names, err
		}
		name := stop.Step.Anchor + ".png"
		if err := os.WriteFile(filepath.Join(dir, name), file.Bytes(), 0o644); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

func counted(d *virtualdesktop.Desktop, step virtualdesktop.Step) error {
	on, n := step.On, 0
	if on == "" {
		on = step.Widget
	}
	for _, e := range d.Ledger() {
		if e.Widget == on && e.Effect == step.Effect {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("%q is %s %d times, want once", on, step.Effect, n)
	}
	return nil
}

func events(step virtualdesktop.Step, at image.Point) []wire.Event {
	click := []wire.Event{{Kind: wire.ButtonDown, Button: wire.Left}, {Kind: wire.ButtonUp, Button: wire.Left}}
	move := []wire.Event{{Kind: wire.Move, X: at.X, Y: at.Y}}
	switch step.Act {
	case virtualdesktop.Click:
		return append(move, click...)
	case virtualdesktop.DoubleClick:
		return append(append(move, click...), click...)
	case virtualdesktop.Insert:
		return append([]wire.Event{{Kind: wire.Clipboard, Text: step.Text}}, combo("ctrl", "v")...)
	case virtualdesktop.Press:
		return combo(step.Keys...)
	}
	return nil
}

func combo(keys ...string) []wire.Event {
	var down, up []wire.Event
	for i, key := range keys {
		down = append(down, wire.Event{Kind: wire.KeyDown, Key: key})
		up = append(up, wire.Event{Kind: wire.KeyUp, Key: keys[len(keys)-1-i]})
	}
	return append(down, up...)
}
