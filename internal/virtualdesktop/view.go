package virtualdesktop

import (
	"image"
	"slices"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// Measures of a window's frame, in pixels.
const (
	TitleHeight = 26
	Border      = 1
	margin      = 8 // that a growing widget keeps
)

// View is all there is to be seen at one moment.
type View struct {
	Bounds    image.Rectangle // spans the monitors
	Monitors  []wire.Monitor
	Condition wire.Condition
	Surfaces  []Surface // the lowest first; the first one is the desktop itself
}

// Surface is a window as it is seen.
type Surface struct {
	Spec   Window
	Outer  image.Rectangle // with its frame
	Client image.Rectangle // without
	Active bool
	Nodes  []Node // a later one lies over an earlier one
}

// Node is a shown widget as it is seen.
type Node struct {
	Spec    Widget
	Bounds  image.Rectangle // on the virtual desktop
	Visible image.Rectangle // the part that what it lies in does not cut off
	Chosen  bool            // was clicked or selected last
	Focused bool
	Text    string // of a text area
	Caret   int    // in characters
	All     bool   // all of the text is selected
	Runs    int    // how often the text was executed
}

// View is what is to be seen now.
func (d *Desktop) View() View {
	v := View{Bounds: d.scene.Surface.Bounds, Monitors: d.scene.Monitors, Condition: d.Condition()}
	for _, w := range append([]*window{d.surface}, d.windows...) {
		v.Surfaces = append(v.Surfaces, Surface{
			Spec: w.spec, Outer: d.outer(w), Client: d.client(w), Active: d.active == w, Nodes: d.nodes(w),
		})
	}
	return v
}

// Windows lists the open windows, the topmost first.
func (d *Desktop) Windows() []wire.Window {
	windows := []wire.Window{}
	for _, w := range slices.Backward(d.windows) {
		windows = append(windows, wire.Window{
			ID: w.spec.ID, Title: w.spec.Title, Class: w.spec.Class, Process: w.spec.Process,
			Bounds: d.outer(w), Active: d.active == w,
		})
	}
	return windows
}

func (d *Desktop) outer(w *window) image.Rectangle {
	if !w.full {
		return w.bounds
	}
	middle := w.bounds.Min.Add(w.bounds.Size().Div(2))
	for _, m := range d.scene.Monitors {
		if middle.In(m.Bounds) {
			return m.Bounds
		}
	}
	return d.scene.Monitors[0].Bounds
}

func (d *Desktop) client(w *window) image.Rectangle {
	r := d.outer(w)
	if w == d.surface || w.full {
		return r
	}
	r = r.Inset(Border)
	r.Min.Y += TitleHeight - Border
	return r
}

// nodes are a window's shown widgets, each after what it lies in.
func (d *Desktop) nodes(w *window) []Node {
	var nodes []Node
	var lay func(widgets []Widget, in, seen image.Rectangle)
	lay = func(widgets []Widget, in, seen image.Rectangle) {
		for _, spec := range widgets {
			state := d.widgets[spec.ID]
			if state.hidden {
				continue
			}
			bounds := spec.Bounds.Add(in.Min)
			if spec.Grows {
				bounds.Max = in.Max.Sub(image.Pt(margin, margin))
			}
			n := Node{
				Spec: spec, Bounds: bounds, Visible: bounds.Intersect(seen),
				Chosen: w.chosen == spec.ID, Focused: w.focus == spec.ID && d.active == w,
				Text: state.text.String(), Caret: state.text.caret, All: state.text.all, Runs: state.runs,
			}
			nodes = append(nodes, n)
			lay(spec.Parts, bounds, n.Visible)
		}
	}
	client := d.client(w)
	lay(w.spec.Widgets, client, client)
	return nodes
}

// Find is where a widget or window is, as far as it is shown.
func (d *Desktop) Find(id string) (image.Rectangle, bool) {
	for _, w := range append([]*window{d.surface}, d.windows...) {
		if w.spec.ID == id {
			return d.outer(w), true
		}
		for _, n := range d.nodes(w) {
			if n.Spec.ID == id && !n.Visible.Empty() {
				return n.Visible, true
			}
		}
	}
	return image.Rectangle{}, false
}
