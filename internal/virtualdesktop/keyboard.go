package virtualdesktop

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

const maxKeyName = 20

func isModifier(key string) bool {
	return key == "ctrl" || key == "shift" || key == "alt" || key == "win"
}

func (d *Desktop) modifiers() []string {
	var down []string
	for key := range d.keys {
		if isModifier(key) {
			down = append(down, key)
		}
	}
	slices.Sort(down)
	return down
}

func (d *Desktop) key(e wire.Event, now time.Time) error {
	if e.Key == "" || len(e.Key) > maxKeyName {
		return refuse(wire.ErrBadRequest, "no such key: %q", e.Key)
	}
	if e.Kind == wire.KeyUp {
		delete(d.keys, e.Key)
	} else {
		d.keys[e.Key] = true
	}
	w := d.active
	if w == nil || d.swallows {
		return nil
	}
	d.tellFocus(wire.Event{Kind: e.Kind, Key: e.Key}, now)
	if e.Kind == wire.KeyUp {
		return nil
	}
	if e.Key == w.spec.FullScreenKey && !d.keys["alt"] && !d.keys["shift"] && !d.keys["win"] {
		d.toggleFull(w, now)
		return nil
	}
	if focus := d.focus(); focus != nil {
		d.edit(focus, e.Key, now)
	}
	return nil
}

func (d *Desktop) toggleFull(w *window, now time.Time) {
	w.full = !w.full
	effect := wire.FullScreenLeft
	if w.full {
		effect = wire.FullScreen
	}
	d.note(now, wire.Entry{Widget: w.spec.ID, Effect: effect})
}

// focus is the shown widget that takes the keys, or nil.
func (d *Desktop) focus() *widget {
	if d.active == nil || d.active.focus == "" {
		return nil
	}
	shown := slices.ContainsFunc(d.nodes(d.active), func(n Node) bool { return n.Spec.ID == d.active.focus })
	if !shown {
		return nil
	}
	return d.widgets[d.active.focus]
}

func (d *Desktop) char(text string, now time.Time) error {
	if utf8.RuneCountInString(text) != 1 || !utf8.ValidString(text) {
		return refuse(wire.ErrBadRequest, "a char event takes one character, not %d bytes", len(text))
	}
	if focus := d.focus(); focus != nil && !d.swallows {
		d.tellFocus(wire.Event{Kind: wire.Char, Text: text}, now)
		d.typed(focus, text, now)
	}
	return nil
}

// tellFocus writes down what a recorder is told of the keyboard.
func (d *Desktop) tellFocus(e wire.Event, now time.Time) {
	if focus := d.focus(); focus != nil && focus.spec.Shape == Recorder {
		in := wire.Input{Event: e, At: d.pointer}
		d.note(now, wire.Entry{Widget: focus.spec.ID, Effect: wire.Told, Input: &in})
	}
}

// edit is what a key does to a text area.
func (d *Desktop) edit(w *widget, key string, now time.Time) {
	if d.keys["alt"] || d.keys["win"] {
		return
	}
	if d.keys["ctrl"] {
		d.command(w, key, now)
		return
	}
	switch {
	case key == "enter":
		d.typed(w, "\n", now)
	case key == "tab":
		d.typed(w, "\t", now)
	case key == "space":
		d.typed(w, " ", now)
	case key == "backspace" || key == "delete":
		if gone := w.text.erase(key == "backspace"); gone != "" {
			d.note(now, wire.Entry{Widget: w.spec.ID, Effect: wire.Erased, Detail: gone})
		}
	case utf8.RuneCountInString(key) == 1:
		if d.keys["shift"] {
			key = strings.ToUpper(key)
		}
		d.typed(w, key, now)
	default:
		w.text.move(key)
	}
}

// command is what a key does together with ctrl.
func (d *Desktop) command(w *widget, key string, now time.Time) {
	switch strings.ToLower(key) {
	case "a":
		w.text.all = len(w.text.runes) > 0
		d.note(now, wire.Entry{Widget: w.spec.ID, Effect: wire.SelectedAll})
	case "c":
		if w.text.all {
			d.clipboard = w.text.String()
		}
	case "v":
		if d.clipboard != "" {
			w.text.insert(d.clipboard)
			d.note(now, wire.Entry{Widget: w.spec.ID, Effect: wire.Pasted, Detail: d.clipboard})
		}
	case "enter":
		if w.spec.Executes {
			w.runs++
			d.happen(w.spec, wire.Executed, w.text.String(), now)
		}
	}
}

// typed inserts text. What is typed without a break is one entry of the ledger;
// a recorder has an entry for each event as it is.
func (d *Desktop) typed(w *widget, text string, now time.Time) {
	w.text.insert(text)
	if w.spec.Shape == Recorder {
		return
	}
	if n := len(d.ledger); n > 0 && d.ledger[n-1].Effect == wire.Typed && d.ledger[n-1].Widget == w.spec.ID {
		d.ledger[n-1].Detail += text
		return
	}
	d.note(now, wire.Entry{Widget: w.spec.ID, Effect: wire.Typed, Detail: text})
}

// Down names the buttons and keys that are down, sorted.
func (d *Desktop) Down() []string {
	down := slices.Collect(maps.Keys(d.keys))
	for button, is := range d.buttons {
		if is {
			down = append(down, button)
		}
	}
	slices.Sort(down)
	return down
}
