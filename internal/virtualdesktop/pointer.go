package virtualdesktop

import (
	"cmp"
	"image"
	"slices"
	"strconv"
	"time"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

func (d *Desktop) move(to image.Point, now time.Time) error {
	if !slices.ContainsFunc(d.scene.Monitors, func(m wire.Monitor) bool { return to.In(m.Bounds) }) {
		return refuse(wire.ErrOffScreen, "%v is on no monitor", to)
	}
	d.pointer = to
	if n, ok := d.under(to); ok && !d.swallows {
		d.tell(n, wire.Event{Kind: wire.Move}, 0, now)
	}
	return nil
}

func (d *Desktop) button(e wire.Event, now time.Time) error {
	if !slices.Contains([]string{wire.Left, wire.Right, wire.Middle}, e.Button) {
		return refuse(wire.ErrBadRequest, "no such button: %q", e.Button)
	}
	down := e.Kind == wire.ButtonDown
	changed := d.buttons[e.Button] != down
	d.buttons[e.Button] = down
	if !changed || d.swallows {
		return nil
	}
	if down {
		d.pressed(e, now)
	} else {
		d.released(e, now)
	}
	return nil
}

func (d *Desktop) pressed(e wire.Event, now time.Time) {
	count := d.countPress(e.Button, now)
	w := d.windowAt(d.pointer)
	if w == d.surface {
		d.active = nil
	} else {
		d.raise(w, now)
	}
	n, ok := d.under(d.pointer)
	if !ok {
		return
	}
	d.tell(n, e, count, now)
	if e.Button != wire.Left {
		return
	}
	switch n.Spec.Shape {
	case Icon:
		w.chosen = n.Spec.ID
		if count == 2 {
			d.last = press{} // what opens it is over: the next press is a first one
			d.happen(n.Spec, wire.Opened, "", now)
		} else {
			d.note(now, wire.Entry{Widget: n.Spec.ID, Effect: wire.Selected})
		}
	case Button:
		d.grip = n.Spec.ID
	case Editor:
		w.focus = n.Spec.ID
		d.note(now, wire.Entry{Widget: n.Spec.ID, Effect: wire.Focused})
	case Recorder:
		w.focus = n.Spec.ID
	}
}

func (d *Desktop) released(e wire.Event, now time.Time) {
	grip := d.grip
	if e.Button == wire.Left {
		d.grip = ""
	}
	n, ok := d.under(d.pointer)
	if !ok {
		return
	}
	d.tell(n, e, 0, now)
	if e.Button == wire.Left && n.Spec.Shape == Button && n.Spec.ID == grip {
		d.windowAt(d.pointer).chosen = grip
		d.happen(n.Spec, wire.Clicked, "", now)
	}
}

// happen notes an effect on a widget and does what the widget does.
func (d *Desktop) happen(w Widget, effect wire.Effect, detail string, now time.Time) {
	d.note(now, wire.Entry{Widget: w.ID, Effect: effect, Detail: detail})
	for _, deed := range w.Does {
		d.do(deed, now)
	}
}

func (d *Desktop) countPress(button string, now time.Time) int {
	away := d.pointer.Sub(d.last.where)
	again := button == d.last.button && d.last.count < 3 && now.Sub(d.last.at) <= cmp.Or(d.scene.DoubleClickTime, doubleClickTime) &&
		max(away.X, -away.X) <= doubleClickSpace && max(away.Y, -away.Y) <= doubleClickSpace
	count := 1
	if again {
		count = d.last.count + 1
	}
	d.last = press{now, d.pointer, button, count}
	return count
}

func (d *Desktop) wheel(e wire.Event, now time.Time) {
	n, ok := d.under(d.pointer)
	if !ok || d.swallows {
		return
	}
	switch n.Spec.Shape {
	case Recorder:
		d.tell(n, e, 0, now)
	case Editor:
		d.note(now, wire.Entry{Widget: n.Spec.ID, Effect: wire.Scrolled, Detail: strconv.Itoa(e.X) + "," + strconv.Itoa(e.Y)})
	}
}

// tell writes down what a recorder is told of the pointer.
func (d *Desktop) tell(n Node, e wire.Event, clicks int, now time.Time) {
	if n.Spec.Shape != Recorder {
		return
	}
	in := wire.Input{Event: e, At: d.pointer, Clicks: clicks, Modifiers: d.modifiers()}
	d.note(now, wire.Entry{Widget: n.Spec.ID, Effect: wire.Told, Input: &in})
}

func (d *Desktop) windowAt(at image.Point) *window {
	for _, w := range slices.Backward(d.windows) {
		if at.In(d.outer(w)) {
			return w
		}
	}
	return d.surface
}

// under is the widget that takes the pointer's events at a place.
func (d *Desktop) under(at image.Point) (Node, bool) {
	var hit Node
	for _, n := range d.nodes(d.windowAt(at)) {
		if at.In(n.Visible) {
			hit = n
		}
	}
	return hit, hit.Spec.Shape >= Icon
}
