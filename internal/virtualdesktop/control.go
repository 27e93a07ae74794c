package virtualdesktop

import (
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// Condition says whether the desktop takes input.
func (d *Desktop) Condition() wire.Condition {
	switch {
	case d.disconnected:
		return wire.Disconnected
	case d.locked:
		return wire.Locked
	}
	return wire.Active
}

// Monitors returns the monitors, the primary one first.
func (d *Desktop) Monitors() []wire.Monitor { return slices.Clone(d.scene.Monitors) }

// Ledger is all that has happened to widgets.
func (d *Desktop) Ledger() []wire.Entry { return slices.Clone(d.ledger) }

// Text is a text area's whole text.
func (d *Desktop) Text(id string) (string, error) {
	w, ok := d.widgets[id]
	if !ok {
		return "", refuse(wire.ErrBadRequest, "there is no widget %q", id)
	}
	return w.text.String(), nil
}

// Swallow makes everything but moves vanish without an error, or ends that. Keys
// and buttons are down or up all the same.
func (d *Desktop) Swallow(on bool) { d.swallows = on }

// Lock locks or unlocks the desktop.
func (d *Desktop) Lock(on bool) { d.locked = on }

// Disconnect takes the display away or brings it back.
func (d *Desktop) Disconnect(on bool) { d.disconnected = on }

// MoveWindow puts a window's upper left corner at a place, on a monitor or not.
func (d *Desktop) MoveWindow(id string, to image.Point) error {
	for _, w := range d.windows {
		if w.spec.ID == id {
			w.bounds = w.bounds.Add(to.Sub(w.bounds.Min))
			return nil
		}
	}
	return refuse(wire.ErrNoWindow, "there is no window %q", id)
}

// Popup opens a dialog in the middle of the primary monitor, over all windows,
// and returns its id. Its button, id and "-ok", closes it.
func (d *Desktop) Popup(dialog wire.Dialog, now time.Time) string {
	id := d.fresh("dialog")
	monitor := d.scene.Monitors[0].Bounds
	corner := monitor.Min.Add(monitor.Size().Sub(dialogSize).Div(2))
	d.open(Window{
		ID: id, Title: dialog.Title, Class: dialog.Class, Process: dialog.Process, Colour: paper,
		Bounds: image.Rectangle{corner, corner.Add(dialogSize)},
		Widgets: []Widget{
			{ID: id + "-text", Shape: Label, Text: dialog.Text, Bounds: image.Rect(20, 30, 400, 60)},
			{ID: id + "-ok", Shape: Button, Text: "OK", Bounds: image.Rect(310, 90, 400, 120), Colour: grey, Does: []Deed{{Do: Hide, ID: id}}},
		},
	}, "")
	d.note(now, wire.Entry{Widget: id, Effect: wire.Shown})
	return id
}

var dialogSize = image.Pt(422, 165)

// OpenRecorder opens a window that records what it is told. The first ones do
// not cover each other.
func (d *Desktop) OpenRecorder(title string, now time.Time) wire.Recording {
	id := d.fresh("recorder")
	monitors := d.scene.Monitors
	monitor := monitors[d.opened%len(monitors)].Bounds // the second one first: its places are the unusual ones
	row := (d.opened - 1) / len(monitors) % 2
	corner := monitor.Min.Add(image.Pt(30, 30+row*230))
	d.open(Window{
		ID: id, Title: title, Class: "Recorder", Process: "recorder.exe", Colour: paper,
		Bounds:  image.Rectangle{corner, corner.Add(image.Pt(420, 210))},
		Widgets: []Widget{{ID: id + "-area", Shape: Recorder, Grows: true, Bounds: growsFrom(margin, margin)}},
	}, id+"-area")
	d.note(now, wire.Entry{Widget: id, Effect: wire.Shown})
	area, _ := d.Find(id + "-area")
	return wire.Recording{Window: id, Widget: id + "-area", Area: area}
}

func (d *Desktop) fresh(kind string) string {
	d.opened++
	return fmt.Sprintf("%s-%d", kind, d.opened)
}

func (d *Desktop) open(spec Window, focus string) {
	d.know(spec.Widgets)
	w := &window{spec: spec, bounds: spec.Bounds, focus: focus}
	d.windows, d.active = append(d.windows, w), w
}
