package cli

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// tally counts what became of a replay's steps, each by the decision that
// counts: the one that no other has taken the place of.
type tally struct {
	Done    int `json:"done"`    // the agent did it, or a resume completed it
	Skipped int `json:"skipped"` // a person did it by hand, or it was passed over
	GivenUp int `json:"givenUp"` // the agent never answered
	Failed  int `json:"failed"`  // it failed, and the replay with it
	Retried int `json:"retried"` // steps that were tried again after a failure
	Warned  int `json:"warned"`  // steps whose report has a warning

	lost []*reprisev1.ActionStatus // those given up, in the workflow's order
}

func count(decisions iter.Seq[*reprisev1.ActionStatus]) tally {
	var t tally
	retried := map[int32]bool{}
	for a := range decisions {
		if a.GetRetryCount() > 0 {
			retried[a.GetStep()] = true
		}
		if a.GetState() == reprisev1.ActionState_ACTION_STATE_SUPERSEDED {
			continue
		}
		if len(a.GetReport().GetWarnings()) > 0 {
			t.Warned++
		}
		switch a.GetState() {
		case reprisev1.ActionState_ACTION_STATE_ACKED:
			t.Done++
		case reprisev1.ActionState_ACTION_STATE_SKIPPED:
			t.Skipped++
		case reprisev1.ActionState_ACTION_STATE_FAILED:
			t.Failed++
		case reprisev1.ActionState_ACTION_STATE_ABANDONED:
			t.GivenUp++
			t.lost = append(t.lost, a)
		}
	}
	t.Retried = len(retried)
	slices.SortFunc(t.lost, func(a, b *reprisev1.ActionStatus) int { return cmp.Compare(a.GetStep(), b.GetStep()) })
	return t
}

// of says how much of so many actions is done, and what else became of them.
func (t tally) of(actions int32) string {
	return fmt.Sprintf("%d of %d actions done", t.Done, actions) +
		also(t.Skipped, "skipped") + also(t.GivenUp, "given up") + also(t.Failed, "failed")
}

// odd says what did not go smoothly, or nothing.
func (t tally) odd() string { return also(t.Retried, "retried") + also(t.Warned, "warned") }

func also(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d %s", n, what)
}

// maxNamed is how many steps one line names.
const maxNamed = 20

// givenUp names the steps that a completed replay went on without, or is empty:
// whether they were done only the screen can tell.
func (t tally) givenUp(r *reprisev1.Replay) string {
	if t.GivenUp == 0 || r.GetState() != reprisev1.ReplayState_REPLAY_STATE_COMPLETED {
		return ""
	}
	var names []string
	for _, a := range t.lost[:min(maxNamed, len(t.lost))] {
		names = append(names, fmt.Sprintf("%s (step %d, %s)", label(a), a.GetStep()+1, a.GetKind()))
	}
	if more := len(t.lost) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "GIVEN UP: the agent never answered for " + strings.Join(names, ", ") + "; whether that was done is not known\n"
}

// lostIDs are the ids of the actions given up.
func (t tally) lostIDs() []string {
	var ids []string
	for _, a := range t.lost {
		ids = append(ids, a.GetActionId())
	}
	return ids
}
