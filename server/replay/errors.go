package replay

import (
	"errors"
	"fmt"
	"strings"
)

// What a command is refused for.
var (
	ErrEnded        = errors.New("the replay has ended")
	ErrNotPaused    = errors.New("the replay is not paused")
	ErrStillPausing = errors.New("the action in flight has not been reported yet; only a plain resume is possible")
	ErrNothingToDo  = errors.New("the pause has no action to decide on")
	ErrExclusive    = errors.New("skip, position and from exclude each other")
	ErrUnknownStep  = errors.New("the workflow has no such action")
	ErrNotOpen      = errors.New("the replay takes no more actions")
	ErrTooMany      = errors.New("the replay has too many actions")
)

// What the journal refuses, whatever engine it has.
var (
	// ErrStale says that a record's position is taken: somebody else wrote.
	ErrStale = errors.New("the position in the journal is taken")
	// ErrRequestIDTaken says that another replay has the request id.
	ErrRequestIDTaken = errors.New("the request id is taken")
	// ErrNoSpace says that the journal has no room.
	ErrNoSpace = errors.New("the journal has no room")
	// ErrNotFound says that the journal knows no such replay.
	ErrNotFound = errors.New("no such replay")
	// ErrPageToken says that a page token was not given out for this list.
	ErrPageToken = errors.New("the page token is not one of this list")
	// ErrEventID says that an event id is not one of this journal.
	ErrEventID = errors.New("the event id is not one of this journal")
	// ErrEventsForgotten says that events after an id are no longer kept.
	ErrEventsForgotten = errors.New("events after this one are no longer kept")
)

// ChecksError says which safety checks keep a replay paused.
type ChecksError struct {
	Missing []string // required and not acknowledged
	Unknown []string // acknowledged and not pending
}

func (e *ChecksError) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		parts = append(parts, "required safety checks are not acknowledged: "+strings.Join(e.Missing, ", "))
	}
	if len(e.Unknown) > 0 {
		parts = append(parts, "no such safety checks are pending: "+strings.Join(e.Unknown, ", "))
	}
	return strings.Join(parts, "; ")
}

func impossible(r *Replay, ev Event) error {
	return fmt.Errorf("replay %s at %d: %T does not fit its state %v", r.ID, r.Revision, ev, r.State)
}
