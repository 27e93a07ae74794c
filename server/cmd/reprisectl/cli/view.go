package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// view is a replay as the responses of a watch have told it so far.
type view struct {
	replay  *reprisev1.Replay // its actions are those of the last response
	actions map[string]*reprisev1.ActionStatus
	seen    *int64 // the last revision up to which all was told; nil: none
	// While a stream tells how things were when it began, in one response or several:
	beginning bool
	held      []*reprisev1.ReplayEvent // the events of the parts so far
}

// update is what one response of a watch changed.
type update struct {
	view     *view
	response *reprisev1.WatchReplayResponse
	// partial says that more of how things were follows; then nothing else is set.
	partial  bool
	snapshot bool // the view was made anew
	again    bool // it had been told before the connection was lost
	events   []*reprisev1.ReplayEvent
}

// begin prepares for a new stream: its first responses stand for all that was.
func (v *view) begin() { v.beginning, v.held = true, nil }

// take adds a response. What comes in several parts is one change.
func (v *view) take(resp *reprisev1.WatchReplayResponse) update {
	u := update{view: v, response: resp, partial: resp.GetSnapshotPending(), again: v.replay != nil}
	if v.beginning && v.held == nil {
		v.actions = make(map[string]*reprisev1.ActionStatus, len(resp.GetReplay().GetActions()))
		v.held = []*reprisev1.ReplayEvent{}
	}
	for _, a := range resp.GetReplay().GetActions() {
		v.actions[a.GetActionId()] = a
	}
	if u.partial {
		v.held = append(v.held, resp.GetEvents()...)
		return u
	}
	v.replay = resp.GetReplay()
	v.seen = new(v.replay.GetRevision())
	v.held = append(v.held, resp.GetEvents()...)
	u.snapshot, u.events = v.beginning, v.held
	v.beginning, v.held = false, nil
	return u
}

// label is what people call an action: its name, else what it is for, else its id.
func (v *view) label(actionID string) string {
	return or(label(v.actions[actionID]), actionID)
}

func label(a *reprisev1.ActionStatus) string {
	return or(or(firstLine(a.GetName()), clip(firstLine(a.GetIntention()), 60)), a.GetActionId())
}

// tally counts what became of the steps so far.
func (v *view) tally() tally { return count(maps.Values(v.actions)) }

// current is the action that is being done, or nil.
func (v *view) current() *reprisev1.ActionStatus {
	var active []*reprisev1.ActionStatus
	for _, a := range v.actions {
		switch a.GetState() {
		case reprisev1.ActionState_ACTION_STATE_DISPATCHED, reprisev1.ActionState_ACTION_STATE_NEEDS_HELP:
			active = append(active, a)
		}
	}
	if len(active) == 0 {
		return nil
	}
	return slices.MinFunc(active, func(a, b *reprisev1.ActionStatus) int {
		return cmp.Or(cmp.Compare(a.GetStep(), b.GetStep()), strings.Compare(a.GetActionId(), b.GetActionId()))
	})
}

func ended(r *reprisev1.Replay) bool {
	switch r.GetState() {
	case reprisev1.ReplayState_REPLAY_STATE_COMPLETED, reprisev1.ReplayState_REPLAY_STATE_FAILED, reprisev1.ReplayState_REPLAY_STATE_CANCELLED:
		return true
	}
	return false
}

// exitOfReplay is the exit code that a replay's state stands for.
func exitOfReplay(r *reprisev1.Replay) int {
	switch r.GetState() {
	case reprisev1.ReplayState_REPLAY_STATE_FAILED:
		return exitFailed
	case reprisev1.ReplayState_REPLAY_STATE_CANCELLED:
		return exitCancelled
	case reprisev1.ReplayState_REPLAY_STATE_PAUSED:
		return exitPaused
	}
	return exitOK
}

// word is an enum value for people: without its prefix, in lower case.
func word(value interface{ String() string }, prefix string) string {
	return strings.ToLower(strings.TrimPrefix(value.String(), prefix))
}

// stateWord is a replay's state for people, with what matters about it.
func stateWord(r *reprisev1.Replay) string {
	state := word(r.GetState(), "REPLAY_STATE_")
	switch {
	case r.GetPausing():
		state = "pausing"
	case r.GetAgentAway():
		state += ", agent away"
	}
	if r.GetOpen() && !ended(r) {
		state += ", open"
	}
	return state
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// clip makes a text printable and shortens it to so many characters.
func clip(s string, most int) string {
	s = printable(s)
	if r := []rune(s); len(r) > most {
		return string(r[:max(most-1, 0)]) + "…"
	}
	return s
}
