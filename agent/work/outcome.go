package work

import (
	"slices"
	"time"
)

// Code is what kind of fault stopped an action, in the contract's words.
type Code string

// The codes.
const (
	TargetNotFound     Code = "target_not_found"
	SystemDialog       Code = "system_dialog"
	WrongWindow        Code = "wrong_window"
	VerifyFailed       Code = "verify_failed"
	DesktopUnavailable Code = "desktop_unavailable"
	InputBlocked       Code = "input_blocked"
	TargetOffScreen    Code = "target_off_screen"
	Timeout            Code = "timeout"
	Person             Code = "person"
	Interrupted        Code = "interrupted"
	OutcomeUnknown     Code = "outcome_unknown"
	InvalidAction      Code = "invalid_action"
	Unsupported        Code = "unsupported"
	Internal           Code = "internal"
)

// Warning is what was odd about an action, in the contract's words.
type Warning string

// The warnings.
const (
	NoScreenChange      Warning = "no_screen_change"
	PopupHandled        Warning = "popup_handled"
	PopupStayed         Warning = "popup_stayed"
	VisualResolveFailed Warning = "visual_resolve_failed"
	AlreadyExecuted     Warning = "already_executed"
)

// Completion is how far an action came.
type Completion string

// The completions.
const (
	NotStarted Completion = "not_started" // no input was sent
	Completed  Completion = "completed"   // all input was sent
	Unknown    Completion = "unknown"     // some input may have been sent
)

// Effect is what an action was seen to do.
type Effect string

// The effects.
const (
	Seen       Effect = "seen"
	NoneSeen   Effect = "none_seen"
	NotChecked Effect = "not_checked"
)

// Picture names a screenshot by its content.
type Picture struct {
	SHA256  string    `json:"sha256"`
	TakenAt time.Time `json:"taken_at"`
	Method  string    `json:"method,omitempty"`
	Settled bool      `json:"settled,omitempty"` // two frames in a row agreed before it
	Note    string    `json:"note,omitempty"`
	Masks   int       `json:"masks,omitempty"` // how many rectangles are blacked out in it
	// Origin is where its upper left corner lies on the virtual desktop.
	Origin   Position `json:"origin"`
	Width    int      `json:"width,omitempty"` // in its own pixels
	Height   int      `json:"height,omitempty"`
	Scale    float64  `json:"scale,omitempty"`    // pixels of the screen for one of its own; 1: not shrunk
	Geometry string   `json:"geometry,omitempty"` // fingerprint of the monitors at that moment
	Monitor  *int     `json:"monitor,omitempty"`  // the one that it shows; nil: all
}

// Dialog is a dialog of the system that only a person can answer.
type Dialog struct {
	Category string `json:"category"` // such as uac_consent, credential_prompt, smartscreen
	Signal   string `json:"matched_signal"`
	Value    string `json:"matched_value"`
	Reason   string `json:"reason"`            // why it stops the action, for people
	Context  string `json:"context,omitempty"` // what was on the screen around it
}

// Position is a place in physical pixels of the virtual desktop.
type Position struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// Outcome is how an action came out, with the evidence. It never holds typed
// text.
type Outcome struct {
	Code           Code          `json:"code,omitempty"` // empty: success
	Message        string        `json:"message,omitempty"`
	Warnings       []Warning     `json:"warnings,omitempty"`
	Completion     Completion    `json:"completion"`
	Effect         Effect        `json:"effect,omitempty"`
	Before         *Picture      `json:"before,omitempty"`
	After          *Picture      `json:"after,omitempty"`
	Position       *Position     `json:"position,omitempty"`
	Method         string        `json:"method,omitempty"` // how the target was found
	Score          float64       `json:"score,omitempty"`
	ResolveElapsed time.Duration `json:"resolve_elapsed,omitempty"`
	Description    string        `json:"target_description,omitempty"`
	Target         *Target       `json:"target,omitempty"`
	Dialog         *Dialog       `json:"system_dialog,omitempty"`
	NeedsHuman     bool          `json:"needs_human,omitempty"`
	StartedAt      time.Time     `json:"started_at,omitzero"`
	EndedAt        time.Time     `json:"ended_at,omitzero"`
}

// Success says whether the action did what it should, as far as the agent can
// tell.
func (o Outcome) Success() bool { return o.Code == "" }

// Failure is an outcome with a fault and no evidence.
func Failure(code Code, completion Completion, message string) Outcome {
	return Outcome{Code: code, Completion: completion, Effect: NotChecked, Message: message}
}

// Warned returns o with one more warning; a warning is named once.
func (o Outcome) Warned(w Warning) Outcome {
	if slices.Contains(o.Warnings, w) {
		return o
	}
	o.Warnings = append(slices.Clone(o.Warnings), w)
	return o
}
