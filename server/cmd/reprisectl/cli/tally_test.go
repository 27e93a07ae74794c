package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

const (
	skipped   = reprisev1.ActionState_ACTION_STATE_SKIPPED
	abandoned = reprisev1.ActionState_ACTION_STATE_ABANDONED
	failedOne = reprisev1.ActionState_ACTION_STATE_FAILED
)

// retried is a decision that so many retries came before.
func retried(step, n int, state reprisev1.ActionState) *reprisev1.ActionStatus {
	a := action(step, state)
	a.ActionId, a.RetryCount = fmt.Sprintf("%s_retry%d", a.GetActionId(), n), int32(n)
	return a
}

func warned(a *reprisev1.ActionStatus) *reprisev1.ActionStatus {
	a.Report = &reprisev1.Report{Success: true, Warnings: []reprisev1.Warning{
		reprisev1.Warning_WARNING_NO_SCREEN_CHANGE, reprisev1.Warning_WARNING_POPUP_HANDLED,
	}}
	return a
}

func TestStepsAreCountedByTheDecisionThatCounts(t *testing.T) {
	type statuses = []*reprisev1.ActionStatus
	tests := []struct {
		name      string
		decisions statuses
		want      string
	}{
		{"all done", statuses{action(0, acked), action(1, acked), action(2, acked)}, "3 of 3 actions done"},
		{"skipped and given up are not done", statuses{action(0, acked), action(1, skipped), action(2, abandoned)}, "1 of 3 actions done, 1 skipped, 1 given up"},
		{"what is open counts as nothing", statuses{action(0, dispatched), action(1, needsHelp), action(2, waiting)}, "0 of 3 actions done"},
		{"the step that failed", statuses{action(0, acked), action(1, failedOne), action(2, waiting)}, "1 of 3 actions done, 1 failed"},
		{"a step tried twice again is one step", statuses{action(0, superseded), retried(0, 1, superseded), retried(0, 2, acked)}, "1 of 3 actions done, 1 retried"},
		{"retries that a resume replaced still count", statuses{action(0, superseded), retried(0, 1, superseded), action(0, acked)}, "1 of 3 actions done, 1 retried"},
		{"a late success takes the place of the newer decision", statuses{action(0, acked), retried(0, 1, superseded)}, "1 of 3 actions done, 1 retried"},
		{"warnings of one report are one warning", statuses{warned(action(0, acked)), warned(action(1, superseded))}, "1 of 3 actions done, 1 warned"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := count(slices.Values(tt.decisions))
			if diff := cmp.Diff(tt.want, got.of(3)+got.odd()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// mixed is a replay that completed without two of its steps.
func mixed() *reprisev1.Replay {
	return replay(completed, 3, action(0, superseded), warned(retried(0, 1, acked)), action(1, abandoned), action(2, skipped))
}

func TestTheEndSaysWhatBecameOfTheStepsAndNamesThoseGivenUp(t *testing.T) {
	f := &fake{watch: script(tell(replay(runs, 0, action(0, dispatched), action(1, waiting), action(2, waiting))), tell(mixed()))}
	got := ctl(t, f, "watch", "r-1")
	wantExit(t, got, exitOK)
	want := "GIVEN UP: the agent never answered for do the step (step 2, click); whether that was done is not known\n" +
		"replay r-1 completed: 1 of 3 actions done, 1 skipped, 1 given up, 1 retried, 1 warned in 4.2s\n"
	if !strings.HasSuffix(got.stdout, want) {
		t.Errorf("stdout: %s\nwant at its end: %s", got.stdout, want)
	}
	f.watches = 0
	got = ctl(t, f, "watch", "r-1", "-o", "json")
	wantExit(t, got, exitOK)
	want = `{"type":"end","replayId":"r-1","state":"REPLAY_STATE_COMPLETED","counts":{"done":1,"skipped":1,"givenUp":1,"failed":0,"retried":1,"warned":1},` +
		`"givenUpActions":["r-1/b"],"exitCode":0}` + "\n"
	if !strings.HasSuffix(got.stdout, want) {
		t.Errorf("stdout: %s\nwant at its end: %s", got.stdout, want)
	}
	got = ctl(t, &fake{get: func(string) (*reprisev1.Replay, error) { return mixed(), nil }}, "get", "r-1")
	if !strings.Contains(got.stdout, "\nprogress  1 of 3 actions done, 1 skipped, 1 given up\n") {
		t.Errorf("get: %s", got.stdout)
	}
}

func TestManyStepsGivenUpAreNamedInPart(t *testing.T) {
	var lost []*reprisev1.ActionStatus
	for i := range maxNamed + 5 {
		lost = append(lost, &reprisev1.ActionStatus{ActionId: fmt.Sprintf("r-1-%d", i+1), Step: int32(i), Name: fmt.Sprintf("s%d.", i+1), State: abandoned})
	}
	slices.Reverse(lost)
	got := count(slices.Values(lost)).givenUp(replay(completed, maxNamed+5))
	if !strings.Contains(got, "for s1. (") || strings.Contains(got, "s21.") || !strings.Contains(got, ", and 5 more;") {
		t.Errorf("%s", got)
	}
	if paused := count(slices.Values(lost)).givenUp(replay(runs, 0)); paused != "" {
		t.Errorf("a replay that goes on: %s", paused)
	}
}
