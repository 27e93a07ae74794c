// Package drivertest holds the promises that every desktop driver keeps, as one
// suite. It decides what a gesture must do; how a window is opened and what
// arrived in it, each desktop says through its Fixture. Only tests import it.
package drivertest

import (
	"image"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// Fixture is one desktop, fresh for one promise. Its methods fail the test by
// themselves when they cannot do what they are asked.
type Fixture interface {
	// Driver is the driver under test, connected to the desktop.
	Driver() driver.Driver
	// OpenWindow opens a window that records what it is told and gathers text.
	// On return it is shown, in front, empty and has the keyboard. Windows
	// opened one after another do not cover each other.
	OpenWindow(t *testing.T, title string) Window
	// Down names the keys and buttons that are down on the desktop now, sorted:
	// "left_button", "right_button", "middle_button", and keys by their names.
	Down(t *testing.T) []string
	// LeaveDown presses keys and the left button as a process that dies before
	// it lets go.
	LeaveDown(t *testing.T, keys ...string)
	// OffScreen is a place that is on no monitor.
	OffScreen() image.Point
	// Exceptions are the promises that this desktop cannot keep, each with the
	// reason, which the suite prints.
	Exceptions() map[Promise]string
}

// Locker is a fixture whose desktop can be locked. One that cannot names
// LockedDesktop among its exceptions.
type Locker interface {
	// Lock locks or unlocks the desktop and returns when it is so.
	Lock(t *testing.T, locked bool)
}

// OneCaller is a fixture on whose desktop some gestures reach the system in one call,
// so that they cannot be stopped between two of their events.
type OneCaller interface {
	// OneCall says whether a gesture is one.
	OneCall(in driver.Input) bool
}

// Window is one window of the desktop.
type Window interface {
	// Area is where the window takes clicks, in the virtual desktop's
	// coordinates: at least 200 by 100, all of it on a monitor.
	Area() image.Rectangle
	// Await returns what the window has seen since it was opened, as soon as
	// done says that this is all, or when a bound of some seconds has passed. It
	// asks done again and again, whether or not something new arrived, and does
	// not fail the test: the caller compares.
	Await(t *testing.T, done func(Seen) bool) Seen
}

// Seen is what a window was told.
type Seen struct {
	Text   string  // typed, and pasted with the system's paste key; enter is LF, tab is HT
	Events []Event // in order
}

// Event is one thing that a window was told.
type Event struct {
	Kind   Kind
	At     image.Point   // Press, Release, Move, Wheel: in the virtual desktop's coordinates
	Button driver.Button // Press, Release
	// Clicks says of a Press the how manieth in a row it is: 1, 2 for the second
	// half of a double click, 3. A system that does not count leaves the counting
	// to the fixture: 400 ms and 4 pixels apart at most.
	Clicks int
	// Notches of the wheel: right and up are positive.
	Notches image.Point
	// Key is the name of a KeyDown's or KeyUp's key: "ctrl", "f11", "a". What
	// keys a typed text comes as, each desktop decides.
	Key string
	// Modifiers that were down at a Press or Wheel, sorted: alt, ctrl, shift, win.
	Modifiers []string
}

// Kind is what a window was told.
type Kind int

// The kinds of events.
const (
	Press Kind = iota + 1
	Release
	Move
	Wheel
	KeyDown
	KeyUp
)

func (k Kind) String() string {
	names := [...]string{"none", "press", "release", "move", "wheel", "key down", "key up"}
	if k < 0 || int(k) >= len(names) {
		return "unknown"
	}
	return names[k]
}
