// Package driver says what the agent needs of a desktop: hands that send
// gestures and eyes that look. The desktops themselves live in the packages
// below it; drivertest holds the suite that all of them pass.
//
// Every place is in physical pixels of the virtual desktop, the one coordinate
// space that spans all monitors; it may be negative.
package driver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
)

// Hands send input.
type Hands interface {
	// Do performs one gesture and returns when the desktop has taken all of its
	// input events. Between two events it looks at ctx. Whatever happens, no key
	// or button that it pressed is down when it returns. An error is an
	// *InputError that says how much was sent.
	Do(ctx context.Context, in Input) error
	// Release lets go of every modifier key and mouse button that is down.
	Release(ctx context.Context) error
}

// Eyes look at the desktop and change nothing.
type Eyes interface {
	// State says whether the desktop can take input now.
	State(ctx context.Context) (desktop.State, error)
	// Monitors returns the monitors, the primary one first.
	Monitors(ctx context.Context) ([]Monitor, error)
	// Windows returns the visible windows, the topmost first.
	Windows(ctx context.Context) ([]Window, error)
	// Capture takes a picture of the whole virtual desktop.
	Capture(ctx context.Context) (Picture, error)
}

// WindowEyes look at one window by itself. Every driver has them beside its Eyes.
type WindowEyes interface {
	// CaptureWindow takes a picture of one window, whose id is that of Windows: as
	// the window draws itself, or else cut from the screen; the picture's method says
	// which. A window that is not there any more, or not shown, is ErrGone; one that
	// lies on no monitor, such as an icon, is ErrOffScreen.
	CaptureWindow(ctx context.Context, id string) (Picture, error)
}

// Elements find what windows are made of by what the system tells of it to people who
// can't see it. A driver may have them; one that has none has no such tree to ask.
type Elements interface {
	// Elements returns the elements below one window, whose id is that of Windows, or
	// below all of them if the id is empty, that match all that is set in e. They come
	// in the order of the windows and of the tree, each once. A window that is not there
	// any more is ErrGone, one that does not answer ErrHung, one that the system keeps
	// from the agent ErrBlocked; where all are asked, these are passed over.
	// ErrUnsupported: this desktop has no tree of elements, or no such control type.
	Elements(ctx context.Context, windowID string, e Element) ([]Found, error)
}

// Element says which elements of the UI Automation tree are meant.
type Element struct {
	Name         string // equal, letter by letter; empty: any
	AutomationID string // equal, letter by letter; empty: any
	ControlType  string // Microsoft's name for it, such as Button, in any case; empty: any
}

// Found is an element as it was when it was looked for.
type Found struct {
	Element
	Bounds    image.Rectangle // empty: it shows nowhere
	Clickable *image.Point    // where it wants to be clicked; nil: it does not say
	// OnScreen says that a person sees its place: it is neither scrolled away nor part
	// of an icon, and no window but its own lies over the place.
	OnScreen bool
	Enabled  bool
}

// Place is where a click goes to the element: its clickable point if that lies within
// its bounds, else their middle.
func (f Found) Place() image.Point {
	if f.Clickable != nil && f.Clickable.In(f.Bounds) {
		return *f.Clickable
	}
	return f.Bounds.Min.Add(f.Bounds.Size().Div(2))
}

// Driver is one desktop.
type Driver interface {
	Hands
	Eyes
	WindowEyes
}

// Input is one gesture: a Click, Move, Drag, Type, Paste, Combo, Scroll or Focus.
type Input interface{ input() }

// Button is a mouse button.
type Button int

// The buttons.
const (
	Left Button = iota
	Right
	Middle
)

type (
	// Click presses and releases a button, Count times as one gesture.
	Click struct {
		At        image.Point
		Button    Button
		Count     int      // 1 to 3; any other is ErrUnsupported
		Modifiers []string // held meanwhile: ctrl, shift, alt, win
		// On is the id of the window that must be the topmost at the place; empty:
		// whichever is. If another one is, it is ErrOffScreen, and nothing is sent.
		On string
	}
	// Move moves the pointer.
	Move struct{ At image.Point }
	// Drag presses at From, moves in steps, releases at To.
	Drag struct {
		From, To image.Point
		Button   Button
		On       string // as of a Click, for From
	}
	// Type types text as characters, whatever the keyboard's layout. LF is
	// Enter, HT is Tab; any other control character, CR too, is ErrUnsupported
	// before anything is typed (see keyname.CheckText).
	Type struct {
		Text string
		Mode TypeMode // how; a desktop whose only way is by keys takes any
	}
	// Paste puts text on the clipboard and presses the system's paste key.
	Paste struct{ Text string }
	// Combo presses the keys in order and releases them in reverse. Names are
	// the schema's: a character, or ctrl, enter, f11 and so on (see package
	// keyname). No key, a key named twice or an unknown one is ErrUnsupported.
	Combo struct {
		Keys []string
		// Front is the id of the window that must have the keyboard when they are
		// pressed; empty: whichever has it. If another one has, it is ErrNotInFront,
		// and nothing is sent.
		Front string
	}
	// Scroll turns the wheel in notches at a place; up and right are positive.
	Scroll struct {
		At                   image.Point
		Vertical, Horizontal int
		On                   string // as of a Click
	}
	// Focus brings a window to the front and gives it the keyboard, and checks
	// that it came.
	Focus struct{ WindowID string }
)

func (Click) input()  {}
func (Move) input()   {}
func (Drag) input()   {}
func (Type) input()   {}
func (Paste) input()  {}
func (Combo) input()  {}
func (Scroll) input() {}
func (Focus) input()  {}

// TypeMode is how a text becomes input.
type TypeMode int

// The modes.
const (
	AsSetUp    TypeMode = iota // as the driver is set up
	Characters                 // as characters, whatever the layout
	ScanCodes                  // as keys of the layout; what it has no key for is ErrUnsupported
)

// Monitor is one monitor of the virtual desktop.
type Monitor struct {
	Index   int
	Bounds  image.Rectangle
	Scale   float64 // 1.0 is 100 %
	Primary bool
}

// Geometry is a fingerprint of the monitors, 16 hexadecimal digits: the same for the
// same monitors in any order, another one as soon as a monitor comes, goes, moves, or
// changes its index, size, scale or part as the primary one. A place that was planned
// on one geometry means another place, or none, on another. It is the beginning of
// the SHA-256 of a line per monitor, sorted. No monitors, no geometry: it is empty.
func Geometry(monitors []Monitor) string {
	if len(monitors) == 0 {
		return ""
	}
	lines := make([]string, len(monitors))
	for i, m := range monitors {
		lines[i] = fmt.Sprintln(m.Index, m.Bounds.Min.X, m.Bounds.Min.Y, m.Bounds.Max.X, m.Bounds.Max.Y, m.Scale, m.Primary)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:8])
}

// Window is one visible top-level window.
type Window struct {
	ID      string // opaque, the driver's own
	Title   string
	Class   string
	Process string // name of its executable; empty when not known
	Bounds  image.Rectangle
	Active  bool // has the keyboard
}

// Picture is what the desktop looked like at one moment.
type Picture struct {
	Image  *image.RGBA // its bounds are in the virtual desktop's coordinates
	Taken  time.Time
	Method string // how it was taken: one of the methods below
	Note   string // what is odd about it, for people; parts by "; "; empty: nothing was noticed
}

// How a picture was taken.
const (
	// MethodScreen is the virtual desktop as a person sees it, all monitors.
	MethodScreen = "screen"
	// MethodWindow is a window that drew itself: what lies in front of it does not
	// show, and parts of it may lie on no monitor.
	MethodWindow = "window"
	// MethodScreenCrop is the part of the screen where a window lies: what lies in
	// front of it shows.
	MethodScreenCrop = "screen_crop"
)

// NoteOneColour is the note of a picture that is of one colour throughout, as one
// is that the system did not really take: it is no evidence of anything.
const NoteOneColour = "one colour only"

// Errors that callers branch on, wrapped in an *InputError by Do.
var (
	// ErrUnavailable says that the desktop cannot take input; nothing was sent.
	ErrUnavailable = errors.New("the desktop cannot take input")
	// ErrBlocked says that the system refused the input.
	ErrBlocked = errors.New("the system refused the input")
	// ErrOffScreen says that a place is on no monitor; nothing was sent.
	ErrOffScreen = errors.New("the place is on no monitor")
	// ErrNotInFront says that a window did not come to the front.
	ErrNotInFront = errors.New("the window did not come to the front")
	// ErrGone says that there is no such window any more.
	ErrGone = errors.New("the window is gone")
	// ErrHung says that a window's program does not answer.
	ErrHung = errors.New("the window does not answer")
	// ErrUnsupported says that this desktop has no such gesture, key or character.
	ErrUnsupported = errors.New("not possible on this desktop")
)

// InputError is a gesture that did not come to its end.
type InputError struct {
	Sent int   // input events that the desktop took before the fault
	Err  error // what happened
}

func (e *InputError) Error() string {
	return fmt.Sprintf("after %d input events: %v", e.Sent, e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

// tellable is an error that may be told.
type tellable struct{ error }

func (t tellable) Unwrap() error { return t.error }

// Tellable marks an error of a gesture that types or pastes as holding nothing of the
// text, so that it may be told to people and logged.
func Tellable(err error) error {
	if err == nil {
		return nil
	}
	return tellable{err}
}

// Telling returns the part of err that a driver has marked as Tellable; false: there is
// none, and nothing of err's message may be told where a text was typed or pasted.
func Telling(err error) (string, bool) {
	var t tellable
	if !errors.As(err, &t) {
		return "", false
	}
	return t.Error(), true
}

// NothingSent says whether err proves that no input event left.
func NothingSent(err error) bool {
	var in *InputError
	return errors.As(err, &in) && in.Sent == 0
}
