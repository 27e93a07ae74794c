package virtualdesktop

import (
	"image"
	"image/color"
	"time"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// Scene is what a desktop looks like at its start, and what its widgets do. It
// is data: it knows nothing of what has happened.
type Scene struct {
	Name     string
	Monitors []wire.Monitor // the primary one first
	Surface  Window         // the desktop itself, behind all windows; its bounds span the monitors
	Windows  []Window       // the lowest first
	Walk     []Step         // the way through the scene, as a workflow takes it
	// DoubleClickTime is the longest time between two presses that belong together;
	// 0 means 500 ms.
	DoubleClickTime time.Duration
}

// Window is a window of a scene.
type Window struct {
	ID, Title      string
	Class, Process string
	Bounds         image.Rectangle // with its frame, on the virtual desktop
	Closed         bool            // not open at the start
	FullScreenKey  string          // this key, with or without ctrl, fills the monitor and back
	Colour         color.RGBA
	Widgets        []Widget // a later one lies over an earlier one
}

// Shape is what kind of widget it is: how it looks and what it takes.
type Shape int

// The shapes.
const (
	Panel    Shape = iota + 1 // holds others and takes nothing
	Label                     // text or a picture; takes nothing
	Icon                      // a press selects it, a double click opens it
	Button                    // press and release click it
	Editor                    // a press focuses it; takes text
	Recorder                  // an Editor that also records all it is told
)

// Widget is a part of a window.
type Widget struct {
	ID       string
	Shape    Shape
	Bounds   image.Rectangle // within what it lies in
	Grows    bool            // reaches to the lower right corner of what it lies in
	Hidden   bool            // not shown at the start
	Text     string          // its inscription; of an Editor: its heading
	Glyph    string          // name of a small picture
	Zoom     int             // size of the glyph: 16 pixels times this
	Colour   color.RGBA
	Does     []Deed // when it is opened, clicked or executed
	Executes bool   // ctrl+enter executes an Editor's text
	Parts    []Widget
}

// Deed is what a widget does.
type Deed struct {
	Do    Doing
	ID    string // of a widget or window
	After time.Duration
}

// Doing is a kind of deed.
type Doing int

// The kinds of deeds. What is already so stays so.
const (
	Show Doing = iota + 1 // a widget, or a window, which also comes to the front
	Hide
)

// Step is one step of the way through a scene: what to look for, and what is
// counted when it is done.
type Step struct {
	Anchor string          // name of the picture; empty: the keyboard, no place
	Widget string          // what the anchor shows a part of
	Crop   image.Rectangle // that part, within the widget; empty: all of it
	Act    Act
	Keys   []string // of a Press
	Text   string   // of an Insert
	Effect wire.Effect
	On     string // id that the effect is counted for; empty: Widget
}

// Act is what is done in a step.
type Act int

// The acts.
const (
	Click Act = iota + 1
	DoubleClick
	Await  // nothing but looking
	Press  // a key combo
	Insert // the clipboard
)

// each calls f for every widget below these, parents first.
func each(widgets []Widget, f func(Widget)) {
	for _, w := range widgets {
		f(w)
		each(w.Parts, f)
	}
}

// growsFrom is the bounds of a widget that grows from a place.
func growsFrom(x, y int) image.Rectangle { return image.Rectangle{Min: image.Pt(x, y)} }
