package work

import (
	"fmt"
	"log/slog"
	"time"
	"unicode/utf8"
)

// Action is one step.
type Action struct {
	Kind         string  // its name in the schema, for people and logs
	Do           Gesture // what to do
	Intention    string  // what it is for, for people
	Target       *Target // where; nil: nowhere
	Corrected    *Point  // where a person showed it; wins over Target
	WindowBefore string  // title that must be active before; empty: not checked
	WindowAfter  string  // title that must be active after; empty: not checked
	Strict       bool    // titles are compared whole and to the letter
	Monitor      *int    // index of the monitor that fractions refer to; nil: the primary one
	Effect       Expectation
	Masks        []Mask  // what no picture of it shows
	Popups       []Popup // how windows that get in its way are closed
}

// Popup says how a window that gets in the way is closed: the keys are pressed while it
// is in front, or the point is clicked.
type Popup struct {
	Window WindowSelector
	Keys   []string
	Point  *Point // in fractions of the window; nil: the keys are meant
}

// Expectation is whether an action must be seen to change the screen.
type Expectation int

// The expectations.
const (
	ExpectNothing Expectation = iota // nothing is compared
	ExpectChange                     // no change is a warning
	RequireChange                    // no change is a failure
)

// Text is a text that is typed or pasted. It prints as its length, so that it
// can't get into logs, errors and messages by accident.
type Text string

// String gives the length.
func (t Text) String() string {
	return fmt.Sprintf("[%d characters]", utf8.RuneCountInString(string(t)))
}

// GoString gives the length.
func (t Text) GoString() string { return t.String() }

// LogValue gives the length.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// Gesture is what an action does: one of the types below.
type Gesture interface{ gesture() }

type (
	// Click presses and releases a button at the target.
	Click struct {
		Button    Button
		Count     int // 1 to 3
		Modifiers []string
	}
	// Move moves the pointer to the target.
	Move struct{}
	// Drag presses at the target and releases at To.
	Drag struct {
		To     Target
		Button Button
	}
	// Type types Text, or the secret of that name, into what has the focus; with
	// a target, clicks there first.
	Type struct {
		Text       Text
		Secret     string
		ClearFirst bool
		Mode       TypeMode
	}
	// Paste pastes a text through the clipboard.
	Paste struct {
		Text       Text
		ClearFirst bool
	}
	// Combo presses keys together.
	Combo struct{ Keys []string }
	// Scroll turns the wheel at the target, in notches.
	Scroll struct{ Vertical, Horizontal int }
	// Wait waits.
	Wait struct{ For time.Duration }
	// WaitForTarget waits until the target is on the screen.
	WaitForTarget struct{}
	// WaitForWindow waits until a window is there.
	WaitForWindow struct{ Window WindowSelector }
	// FocusWindow brings a window to the front.
	FocusWindow struct{ Window WindowSelector }
	// Screenshot takes a picture: of a window, or of the whole screen if Window is nil.
	Screenshot struct{ Window *WindowSelector }
)

func (Click) gesture()         {}
func (Move) gesture()          {}
func (Drag) gesture()          {}
func (Type) gesture()          {}
func (Paste) gesture()         {}
func (Combo) gesture()         {}
func (Scroll) gesture()        {}
func (Wait) gesture()          {}
func (WaitForTarget) gesture() {}
func (WaitForWindow) gesture() {}
func (FocusWindow) gesture()   {}
func (Screenshot) gesture()    {}

// TypeMode is how a text becomes input.
type TypeMode int

// The modes.
const (
	AsSetUp    TypeMode = iota // as the machine is set up
	Characters                 // whatever the layout
	ScanCodes                  // as keys of the layout
	Clipboard                  // pasted
)

// Button is a mouse button.
type Button int

// The buttons.
const (
	Left Button = iota
	Right
	Middle
)

// Point is a place in fractions of a rectangle, 0 to 1.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Target says where an action goes.
type Target struct {
	Order       []Way   `json:"order,omitempty"` // which ways to try; empty: all that are given
	ByText      string  `json:"by_text,omitempty"`
	Description string  `json:"vlm_description,omitempty"`
	Anchor      *Anchor `json:"anchor_image,omitempty"`
	Window      string  `json:"window_title,omitempty"` // contained in the title, ignoring case
	UIA         *UIA    `json:"uia_target,omitempty"`
	Point       *Point  `json:"point,omitempty"`
	// OnPicture is a place on a picture that the agent took, instead of Point.
	OnPicture *PicturePoint `json:"picture_point,omitempty"`
}

// PicturePoint is a pixel of a picture that the agent took, and where on the desktop the
// picture was taken from.
type PicturePoint struct {
	X        int      `json:"x"`
	Y        int      `json:"y"`
	Origin   Position `json:"origin"`
	Scale    float64  `json:"scale"` // pixels of the screen for one of the picture
	Geometry string   `json:"geometry"`
}

// Way is a way to find a target.
type Way string

// The ways, in the order in which they are tried by default.
const (
	WayUIA      Way = "uia"
	WayTemplate Way = "template"
	WayOCR      Way = "ocr"
	WayVLM      Way = "vlm"
)

// Anchor is a picture that is looked for on the screen.
type Anchor struct {
	SHA256   string  `json:"sha256"`
	Offset   *Point  `json:"offset,omitempty"`    // where to act within it; nil: its centre
	MinScore float64 `json:"min_score,omitempty"` // 0: by setting
	// RecordedScale is the scaling of the monitor that it was cut from, 1 for 100 %; 0: not known.
	RecordedScale float64 `json:"recorded_scale,omitempty"`
}

// UIA names an element of the UI Automation tree.
type UIA struct {
	Name         string `json:"name,omitempty"`
	AutomationID string `json:"automation_id,omitempty"`
	ControlType  string `json:"control_type,omitempty"`
}

// TitleMatch is how a title is compared.
type TitleMatch int

// The ways to compare.
const (
	Contains TitleMatch = iota // ignoring case
	Exact                      // to the letter
	Regexp                     // RE2, anywhere in the title
)

// WindowSelector says which window is meant. All that is set must match.
type WindowSelector struct {
	Title   string
	Match   TitleMatch
	Class   string
	Process string
}
