// Package virtualdesktop is the model of a desktop: windows, widgets, a
// clipboard, and a ledger of what happened to each of them. It decides what an
// input event does. It holds no clock, lock or connection: callers pass the time
// in, and package serve puts it on the network. It knows nothing of actions; it
// sees only the events of a hand.
package virtualdesktop

import (
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// Two presses belong together within these.
const (
	doubleClickTime  = 500 * time.Millisecond // unless the scene says otherwise
	doubleClickSpace = 4                      // pixels, in each direction
)

// Desktop is the state of one desktop. Its zero value is of no use; see New.
type Desktop struct {
	scene   Scene
	surface *window
	windows []*window // open ones, the lowest first
	closed  map[string]*window
	widgets map[string]*widget
	active  *window // has the keyboard; nil: none
	coming  []coming
	ledger  []wire.Entry
	opened  int // windows that control has opened, for their ids

	pointer   image.Point
	buttons   map[string]bool
	keys      map[string]bool
	clipboard string
	last      press
	grip      string // button widget that the left button went down on

	swallows, locked, disconnected bool
}

type window struct {
	spec   Window
	bounds image.Rectangle
	full   bool
	focus  string // id of the widget that takes its keys
	chosen string // id of the widget that was clicked last
}

type widget struct {
	spec   Widget
	hidden bool
	text   buffer
	runs   int // how often its text was executed
}

type coming struct {
	at   time.Time
	deed Deed
}

type press struct {
	at     time.Time
	where  image.Point
	button string
	count  int
}

// New is a desktop at a scene's start.
func New(s Scene) *Desktop {
	d := &Desktop{
		scene: s, surface: &window{spec: s.Surface, bounds: s.Surface.Bounds},
		closed: map[string]*window{}, widgets: map[string]*widget{},
		buttons: map[string]bool{}, keys: map[string]bool{},
	}
	d.know(s.Surface.Widgets)
	for _, spec := range s.Windows {
		w := &window{spec: spec, bounds: spec.Bounds}
		d.know(spec.Widgets)
		if spec.Closed {
			d.closed[spec.ID] = w
			continue
		}
		d.windows, d.active = append(d.windows, w), w
	}
	return d
}

func (d *Desktop) know(widgets []Widget) {
	each(widgets, func(w Widget) { d.widgets[w.ID] = &widget{spec: w, hidden: w.Hidden} })
}

// Advance lets everything happen that was due by now. Every question about the
// desktop is asked after it.
func (d *Desktop) Advance(now time.Time) {
	due := slices.DeleteFunc(slices.Clone(d.coming), func(c coming) bool { return c.at.After(now) })
	d.coming = slices.DeleteFunc(d.coming, func(c coming) bool { return !c.at.After(now) })
	slices.SortStableFunc(due, func(a, b coming) int { return a.at.Compare(b.at) })
	for _, c := range due {
		d.do(c.deed, c.at)
	}
}

// Apply takes one input event. An error is a *wire.Error and says that nothing
// happened. A desktop that takes no input still notices what is let go, so that
// nothing stays down behind its back.
func (d *Desktop) Apply(e wire.Event, now time.Time) error {
	d.Advance(now)
	if d.locked || d.disconnected {
		return d.applyAway(e)
	}
	switch e.Kind {
	case wire.Move:
		return d.move(image.Pt(e.X, e.Y), now)
	case wire.ButtonDown, wire.ButtonUp:
		return d.button(e, now)
	case wire.Wheel:
		d.wheel(e, now)
	case wire.KeyDown, wire.KeyUp:
		return d.key(e, now)
	case wire.Char:
		return d.char(e.Text, now)
	case wire.Clipboard:
		d.clipboard = e.Text
	case wire.Activate:
		return d.activate(e.Window, now)
	default:
		return refuse(wire.ErrBadRequest, "no such event: %q", e.Kind)
	}
	return nil
}

func (d *Desktop) applyAway(e wire.Event) error {
	switch {
	case e.Kind == wire.KeyUp:
		delete(d.keys, e.Key)
		return nil
	case e.Kind == wire.ButtonUp:
		delete(d.buttons, e.Button)
		d.grip = ""
		return nil
	case d.disconnected:
		return wire.ErrDisconnected
	}
	return wire.ErrLocked
}

func (d *Desktop) activate(id string, now time.Time) error {
	i := slices.IndexFunc(d.windows, func(w *window) bool { return w.spec.ID == id })
	if i < 0 {
		return refuse(wire.ErrNoWindow, "there is no window %q", id)
	}
	if !d.swallows {
		d.raise(d.windows[i], now)
	}
	return nil
}

// raise brings a window to the front and gives it the keyboard.
func (d *Desktop) raise(w *window, now time.Time) {
	if i := slices.Index(d.windows, w); i != len(d.windows)-1 {
		d.windows = append(slices.Delete(d.windows, i, i+1), w)
		d.note(now, wire.Entry{Widget: w.spec.ID, Effect: wire.Raised})
	}
	d.active = w
}

func (d *Desktop) do(deed Deed, now time.Time) {
	if deed.After > 0 {
		d.coming = append(d.coming, coming{now.Add(deed.After), Deed{Do: deed.Do, ID: deed.ID}})
		return
	}
	if w, ok := d.widgets[deed.ID]; ok {
		if was := w.hidden; was != (deed.Do == Hide) {
			w.hidden = !was
			d.noteShown(deed, now)
		}
		return
	}
	if w, ok := d.closed[deed.ID]; ok && deed.Do == Show {
		delete(d.closed, deed.ID)
		d.windows, d.active = append(d.windows, w), w
		d.noteShown(deed, now)
		return
	}
	if i := slices.IndexFunc(d.windows, func(w *window) bool { return w.spec.ID == deed.ID }); i >= 0 {
		if deed.Do == Show {
			d.raise(d.windows[i], now)
			return
		}
		d.hideWindow(i)
		d.noteShown(deed, now)
	}
}

func (d *Desktop) hideWindow(i int) {
	w := d.windows[i]
	d.windows = slices.Delete(d.windows, i, i+1)
	d.closed[w.spec.ID] = w
	if d.active != w {
		return
	}
	d.active = nil
	if n := len(d.windows); n > 0 {
		d.active = d.windows[n-1]
	}
}

func (d *Desktop) noteShown(deed Deed, now time.Time) {
	effect := wire.Shown
	if deed.Do == Hide {
		effect = wire.Hidden
	}
	d.note(now, wire.Entry{Widget: deed.ID, Effect: effect})
}

func (d *Desktop) note(now time.Time, e wire.Entry) {
	e.Seq, e.Time = len(d.ledger)+1, now
	d.ledger = append(d.ledger, e)
}

func refuse(kind *wire.Error, format string, args ...any) error {
	return &wire.Error{Code: kind.Code, Message: fmt.Sprintf(format, args...)}
}
