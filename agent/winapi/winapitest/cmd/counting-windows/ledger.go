package main

import (
	"slices"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// kind is what a window counts.
type kind int

const (
	text   kind = iota // a press gives it the keyboard; it gathers what is typed
	button             // a press and its release are a click
	icon               // two presses in time open it
)

// ledger is what happened to the windows, by the ids of their widgets. Its methods may
// be called from any goroutine; those that take input say whether the window has
// something new to show.
type ledger struct {
	mu       sync.Mutex
	entries  []wire.Entry
	swallows bool
	pressed  map[string]bool
	units    []uint16             // of the last entry, if it is of typing
	contents map[string]*contents // of texts
}

// contents is a text as its window shows it.
type contents struct {
	units []uint16
	all   bool // all of it is selected
}

func newLedger() *ledger {
	return &ledger{pressed: map[string]bool{}, contents: map[string]*contents{}}
}

// swallow makes clicks and keys have no effect, or ends that.
func (l *ledger) swallow(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.swallows = on
}

// list is all that has happened so far.
func (l *ledger) list() []wire.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// press is a button that goes down; again: Windows takes it for the second press of a
// double click.
func (l *ledger) press(widget string, k kind, again bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.swallows:
		return false
	case k == text:
		l.note(widget, wire.Focused, "")
	case k == button:
		l.pressed[widget] = true
		return false
	case again:
		l.note(widget, wire.Opened, "")
	default:
		l.note(widget, wire.Selected, "")
	}
	return true
}

// release is a button that goes up, inside the window or out of it.
func (l *ledger) release(widget string, inside bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	pressed := l.pressed[widget]
	delete(l.pressed, widget)
	if l.swallows || !pressed || !inside {
		return false
	}
	l.note(widget, wire.Clicked, "")
	return true
}

// The characters that ctrl and a letter make: WM_CHAR of winuser.h.
const (
	ctrlA = 0x01
	ctrlV = 0x16
)

// char is one UTF-16 unit that a text gets; clipboard is what ctrl+V would paste.
func (l *ledger) char(widget string, unit uint16, clipboard string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.swallows {
		return false
	}
	c := l.contents[widget]
	if c == nil {
		c = &contents{}
		l.contents[widget] = c
	}
	switch {
	case unit == ctrlA:
		c.all = true
		l.note(widget, wire.SelectedAll, "")
	case unit == ctrlV:
		c.insert(utf16.Encode([]rune(clipboard))...)
		l.note(widget, wire.Pasted, clipboard)
	case unit == '\r':
		c.insert('\n')
		l.typed(widget, '\n')
	case unit == '\t' || unit >= ' ':
		c.insert(unit)
		l.typed(widget, unit)
	default:
		return false
	}
	return true
}

// insert puts units at the end, or in place of all when all is selected.
func (c *contents) insert(units ...uint16) {
	if c.all {
		*c = contents{}
	}
	c.units = append(c.units, units...)
}

// typed notes a unit of a text. What is typed without a break is one entry; so the
// halves of a surrogate pair meet there.
func (l *ledger) typed(widget string, unit uint16) {
	last := len(l.entries) - 1
	if last < 0 || l.entries[last].Effect != wire.Typed || l.entries[last].Widget != widget {
		l.note(widget, wire.Typed, "")
		last++
	}
	l.units = append(l.units, unit)
	l.entries[last].Detail = string(utf16.Decode(l.units))
}

func (l *ledger) note(widget string, effect wire.Effect, detail string) {
	l.units = nil
	l.entries = append(l.entries, wire.Entry{Seq: len(l.entries) + 1, Time: time.Now(), Widget: widget, Effect: effect, Detail: detail})
}

// shows is what a window shows: how often something happened to it, and its text.
func (l *ledger) shows(widget string) (effects int, text []uint16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.Widget == widget {
			effects++
		}
	}
	if c := l.contents[widget]; c != nil {
		text = slices.Clone(c.units)
	}
	return effects, text
}
