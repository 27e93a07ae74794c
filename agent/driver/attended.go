package driver

import (
	"context"
	"errors"
	"image"
	"time"
)

// Attended is a desktop at which a person may sit, who can stop the work, take it
// over and be told of it. A driver may be one; at one that is not, nobody is asked
// and nobody is told. One that learns only later that nobody sits there answers
// ErrUnsupported.
type Attended interface {
	// Attend tells what the person does, in order, until ctx ends or the desktop goes
	// away; it returns why. Told must not block. It is called once at a time. A stop
	// that nobody has taken back is told again first.
	Attend(ctx context.Context, told func(Act)) error
	// Hold keeps gestures back as the stop key does, because of a stop that was made before: at
	// a desktop that has gone since, or in a process before this one. One that stands
	// already stays as it is.
	Hold(ctx context.Context, stop Act) error
	// GoOn takes a stop back: gestures are done again.
	GoOn(ctx context.Context) error
	// ShowPause shows a pause, once: one that is shown already stays as it is. No picture shows it,
	// and it takes no focus.
	ShowPause(ctx context.Context, n Notice) error
	// HidePause takes the pause of that id away, if it is shown.
	HidePause(ctx context.Context, pauseID string) error
	// ShowServer shows whether the agent has its server; at first it has.
	ShowServer(ctx context.Context, connected bool) error
	// Announce outlines a place on the screen for d, so that a person sees where the
	// next gesture goes. It returns when the outline is gone again.
	Announce(ctx context.Context, around image.Rectangle, d time.Duration) error
}

// ErrStopped says that the person at the machine has stopped the agent: no input
// event left since, and none leaves before GoOn.
var ErrStopped = errors.New("the person at the machine has stopped the agent")

// ErrPerson says that somebody's own mouse was in the way of a gesture, which did not
// come to its end.
var ErrPerson = errors.New("somebody moves the mouse")

// ActKind is what a person did.
type ActKind int

// The kinds.
const (
	// Stopped is the stop key, or "stop now" of the tray icon. From now on every gesture fails
	// with ErrStopped, the one being done at its next input event.
	Stopped ActKind = iota + 1
	// Used is a mouse or keyboard that the person used. Gestures go on.
	Used
	// WantsOn is "go on" of the tray icon.
	WantsOn
)

func (k ActKind) String() string {
	switch k {
	case Stopped:
		return "stopped"
	case Used:
		return "used"
	case WantsOn:
		return "wants on"
	}
	return "unknown"
}

// Act is something that the person at the machine did.
type Act struct {
	Kind ActKind
	By   string    // with what, for people: "stop key", "tray icon", "mouse", "keyboard". Never which key.
	At   time.Time // when, by the clock of the desktop's machine
}

// Notice is a pause as the person at the machine is told of it.
type Notice struct {
	PauseID string
	Reason  string   // in the contract's words
	Message string   // for the person
	Checks  []string // what the person is to look at before the work goes on
}
