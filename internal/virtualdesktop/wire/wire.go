// Package wire holds the words that are spoken with a virtual desktop, and a
// client for each of its two doors: input, which a driver uses, and control,
// which belongs to tests and demonstrations. It decides nothing about what an
// event does.
//
// Both doors speak lines of JSON over loopback: a request, then its reply. A
// picture's pixels follow their reply as raw bytes.
package wire

import (
	"image"
	"time"
)

// Kind is what an input event is.
type Kind string

// The kinds of input events. There is nothing else that a desktop takes.
const (
	Move       Kind = "move"        // the pointer is at X, Y
	ButtonDown Kind = "button_down" // Button goes down where the pointer is
	ButtonUp   Kind = "button_up"
	Wheel      Kind = "wheel"     // X notches right, Y notches up, where the pointer is
	KeyDown    Kind = "key_down"  // Key, by its name: a character, ctrl, enter, f11
	KeyUp      Kind = "key_up"    //
	Char       Kind = "char"      // Text is one character, whatever the keyboard's layout
	Clipboard  Kind = "clipboard" // Text is the clipboard's new content
	Activate   Kind = "activate"  // Window is asked to come to the front
)

// The buttons of the mouse, named apart from the arrow keys.
const (
	Left   = "left_button"
	Right  = "right_button"
	Middle = "middle_button"
)

// Event is one input event.
type Event struct {
	Kind   Kind   `json:"kind"`
	X      int    `json:"x,omitempty"` // pixels of the virtual desktop, or notches
	Y      int    `json:"y,omitempty"`
	Button string `json:"button,omitempty"`
	Key    string `json:"key,omitempty"`
	Text   string `json:"text,omitempty"`
	Window string `json:"window,omitempty"`
}

// Monitor is one monitor; the first one of a list is the primary one.
type Monitor struct {
	Bounds image.Rectangle `json:"bounds"`
	Scale  float64         `json:"scale"`
}

// Window is one top-level window.
type Window struct {
	ID      string          `json:"id"`
	Title   string          `json:"title"`
	Class   string          `json:"class,omitempty"`
	Process string          `json:"process,omitempty"`
	Bounds  image.Rectangle `json:"bounds"`
	Active  bool            `json:"active,omitempty"` // has the keyboard
}

// Condition is whether the desktop takes input.
type Condition string

// The conditions.
const (
	Active       Condition = "active"
	Locked       Condition = "locked"
	Disconnected Condition = "disconnected"
)

// Effect is what happened to a widget.
type Effect string

// The effects.
const (
	Selected       Effect = "selected"         // an icon, by a single press
	Opened         Effect = "opened"           // an icon, by a double click
	Clicked        Effect = "clicked"          // a button or list entry, by press and release
	Focused        Effect = "focused"          // a text area, by a press in it: each one counts
	Typed          Effect = "typed"            // detail: the text; what follows without a break is one entry
	Pasted         Effect = "pasted"           // detail: the text
	SelectedAll    Effect = "selected_all"     // a text area's whole text
	Erased         Effect = "erased"           // by backspace or delete; detail: what went
	Executed       Effect = "executed"         // detail: the text area's whole text
	Scrolled       Effect = "scrolled"         // detail: "right,up" in notches
	Shown          Effect = "shown"            // a window or panel that was hidden
	Hidden         Effect = "hidden"           // a window or panel that was shown
	Raised         Effect = "raised"           // a window that was not in front
	FullScreen     Effect = "full_screen"      // a window that was not
	FullScreenLeft Effect = "full_screen_left" // a window that was
	Told           Effect = "told"             // a recording area; Input says what
)

// Entry is one line of the ledger.
type Entry struct {
	Seq    int       `json:"seq"` // from 1
	Time   time.Time `json:"time"`
	Widget string    `json:"widget"` // the widget's or window's id
	Effect Effect    `json:"effect"`
	Detail string    `json:"detail,omitempty"`
	Input  *Input    `json:"input,omitempty"` // of a recording area only
}

// Input is what a recording area was told.
type Input struct {
	Event
	At        image.Point `json:"at"`                  // of the pointer
	Clicks    int         `json:"clicks,omitempty"`    // of a ButtonDown: the how manieth in a row
	Modifiers []string    `json:"modifiers,omitempty"` // down meanwhile, sorted
}

// Dialog is a window that pops up over all others.
type Dialog struct {
	Title   string `json:"title"`
	Text    string `json:"text"`
	Class   string `json:"class,omitempty"`
	Process string `json:"process,omitempty"`
}

// GenericDialog is a message of some program.
func GenericDialog() Dialog {
	return Dialog{Title: "Notice", Text: "An update was installed.", Class: "#32770", Process: "updater.exe"}
}

// SystemDialog is a question of the system itself, which only a person may answer.
func SystemDialog() Dialog {
	return Dialog{
		Title: "User Account Control", Text: "Do you want to allow this app to make changes?",
		Class: "Credential Dialog Xaml Host", Process: "consent.exe",
	}
}

// Error is a request that the desktop refused.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// Is compares codes, so that a sentinel is found behind its own message.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// What a desktop refuses; nothing happened then.
var (
	ErrLocked       = &Error{Code: "locked", Message: "the desktop is locked"}
	ErrDisconnected = &Error{Code: "disconnected", Message: "the display is disconnected"}
	ErrOffScreen    = &Error{Code: "off_screen", Message: "the place is on no monitor"}
	ErrNoWindow     = &Error{Code: "no_window", Message: "there is no such window"}
	ErrBadRequest   = &Error{Code: "bad_request", Message: "the request makes no sense"}
)
