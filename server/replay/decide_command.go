package replay

import (
	"fmt"
	"slices"
)

// ResumeCommand is what a person says to a paused replay.
type ResumeCommand struct {
	By       string
	Acked    []string // ids of the safety checks that the person confirmed
	Skip     bool     // the action to decide on counts as done
	From     string   // the action to go on from: its id, or its step's own name
	Position *Point   // where to act instead
}

// DecidePause stops dispatching. An action in flight finishes. Pausing a paused
// replay changes nothing, but where a person paused it and now says something
// else: that is another pause, shown with the new words, and all that waits for a
// decision still does.
func (r *Replay) DecidePause(by, text string) ([]Event, error) {
	switch {
	case r.State.Ended():
		return nil, fmt.Errorf("%w: it is %v", ErrEnded, r.State)
	case r.State == Paused && (r.Pause.Reason != "operator" || text == "" || text == r.Pause.Message):
		return nil, nil
	case r.State == Paused:
		p := r.Pause
		return []Event{PausedBy{Reason: p.Reason, Message: text, Checks: p.Checks, Decide: p.Decide, Again: p.Again, Gate: p.Gate, By: by}}, nil
	}
	if text == "" {
		text = message("operator", "")
	}
	return []Event{PausedBy{Reason: "operator", Message: text, Gate: -1, By: by}}, nil
}

// DecideResume lets a paused replay go on.
func (r *Replay) DecideResume(c ResumeCommand) ([]Event, error) {
	if r.State != Paused {
		return nil, fmt.Errorf("%w: it is %v", ErrNotPaused, r.State)
	}
	if err := r.checkAcked(c.Acked); err != nil {
		return nil, err
	}
	ev := Resumed{By: c.By, Acked: c.Acked, Skip: c.Skip, From: -1, Position: c.Position}
	special := 0
	for _, set := range []bool{c.Skip, c.From != "", c.Position != nil} {
		if set {
			special++
		}
	}
	switch {
	case special == 0:
		return []Event{ev}, nil
	case special > 1:
		return nil, ErrExclusive
	case r.InFlight >= 0:
		return nil, ErrStillPausing
	case c.From != "":
		step, ok := r.StepOf(c.From)
		if !ok {
			return nil, fmt.Errorf("%w: %q", ErrUnknownStep, c.From)
		}
		ev.From = step
	case r.Pause.Decide == "" && (c.Position != nil || r.Pause.Gate < 0):
		return nil, ErrNothingToDo
	}
	return []Event{ev}, nil
}

func (r *Replay) checkAcked(acked []string) error {
	var e ChecksError
	for _, c := range r.Pause.Checks {
		if c.Required && !slices.Contains(acked, c.ID) {
			e.Missing = append(e.Missing, c.ID)
		}
	}
	for _, id := range acked {
		if !slices.ContainsFunc(r.Pause.Checks, func(c Check) bool { return c.ID == id }) {
			e.Unknown = append(e.Unknown, id)
		}
	}
	if len(e.Missing)+len(e.Unknown) > 0 {
		return &e
	}
	return nil
}

// StepOf finds a step by the id of one of its actions or by its own name.
func (r *Replay) StepOf(idOrName string) (int, bool) {
	if a := r.Find(idOrName); a != nil {
		return a.Step, true
	}
	return r.StepNamed(idOrName)
}

// DecideCancel ends a live replay. Cancelling a cancelled one changes nothing.
func (r *Replay) DecideCancel(by, reason string) ([]Event, error) {
	switch {
	case r.State == Cancelled:
		return nil, nil
	case r.State.Ended():
		return nil, fmt.Errorf("%w: it is %v", ErrEnded, r.State)
	}
	return []Event{Ended{State: Cancelled, Reason: reason, By: by}}, nil
}
