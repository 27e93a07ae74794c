package servertest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
)

// Each reaction leads where the contract says, and touches the desktop as often as
// it says.
func TestEachReactionLeadsWhereTheContractSays(t *testing.T) {
	type outcome struct {
		name      string
		reactions []servertest.Reaction
		pause     reprisev1.PauseReason // unspecified: the replay completes by itself
		executed  []string
	}
	verify := servertest.Fail(reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, "the title is another")
	cases := []outcome{
		{"success", nil, 0, []string{"first", "second"}},
		{"a failure before anything was sent is retried", []servertest.Reaction{servertest.NotFound("OK"), servertest.Succeed()}, 0, []string{"first", "second"}},
		{"and goes to a person when the retries are used up", []servertest.Reaction{servertest.NotFound("OK")},
			reprisev1.PauseReason_PAUSE_REASON_TARGET_NOT_FOUND, nil},
		{"a failure after something was sent is not retried", []servertest.Reaction{verify},
			reprisev1.PauseReason_PAUSE_REASON_VERIFY_FAILED, []string{"first"}},
		{"a dialog of the system", []servertest.Reaction{servertest.SystemDialog("uac_consent")},
			reprisev1.PauseReason_PAUSE_REASON_SYSTEM_DIALOG, nil},
		{"a person is asked for", []servertest.Reaction{servertest.NeedHuman("no card")},
			reprisev1.PauseReason_PAUSE_REASON_NEEDS_HUMAN, nil},
		{"the outcome is unknown", []servertest.Reaction{servertest.UnknownOutcome()},
			reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN, []string{"first"}},
		{"the result comes from memory", []servertest.Reaction{servertest.DieBeforeReport()}, 0, []string{"first", "second"}},
		{"silence once", []servertest.Reaction{servertest.Silent(), servertest.Succeed()}, 0, []string{"first", "second"}},
		{"silence for ever", []servertest.Reaction{servertest.Silent()},
			reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS, nil},
		{"the machine dies", []servertest.Reaction{servertest.Die()}, reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, nil},
		{"it takes long", []servertest.Reaction{servertest.Succeed().After(50 * time.Second)}, 0, []string{"first", "second"}},
		{"it takes longer than it may", []servertest.Reaction{servertest.Succeed().After(2 * time.Minute)},
			reprisev1.PauseReason_PAUSE_REASON_TIMEOUT, []string{"first"}},
	}
	bubble(t, func(t *testing.T, all *world) {
		for i, c := range cases {
			w := all.at(fmt.Sprintf("machine-%d", i))
			w.desk.On("first", c.reactions...)
			id := w.create("first", "second")
			want := completed
			if c.pause != 0 {
				want = paused
			}
			if r := w.await(id, want); r.GetPause().GetReason() != c.pause {
				t.Errorf("%s: paused for %v, want %v", c.name, r.GetPause().GetReason(), c.pause)
			}
			if diff := cmp.Diff(c.executed, w.desk.Executed()); diff != "" {
				t.Errorf("%s: executed (-want +got):\n%s", c.name, diff)
			}
		}
	})
}

// What pauses for one step alone pauses for three in a row here.
func TestThreeActionsWithoutEffectPauseAsSwallowed(t *testing.T) {
	w := newMachine(t, func(servertest.Call) servertest.Reaction { return servertest.NoEffect() })
	w.pausedFor(w.create("one", "two", "three", "four"), reprisev1.PauseReason_PAUSE_REASON_INPUT_SWALLOWED)
	w.executed("one", "two", "three")
}

func TestALockedDesktopSpendsNothingAndGoesOnWhenUnlocked(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.desk.On("first", servertest.DesktopLocked(), servertest.Succeed())
		id := w.create("first")
		time.Sleep(5 * time.Minute)
		w.executed()
		w.desk.Unlock()
		r := w.await(id, completed)
		w.executed("first")
		if a := r.GetActions()[0]; a.GetResentCount() != 0 || a.GetRetryCount() != 0 {
			t.Errorf("%d resends and %d retries were spent", a.GetResentCount(), a.GetRetryCount())
		}
	})
}

// A script is told how often it was asked for a step.
func TestTheScriptIsToldWhichTryItIs(t *testing.T) {
	w := newMachine(t, func(c servertest.Call) servertest.Reaction {
		if c.Kind == "click" && c.Step == "save" && c.Try < 3 {
			return servertest.NotFound("Save")
		}
		return servertest.Succeed()
	})
	id := w.create("save")
	r := w.await(id, completed)
	w.executed("save")
	if n := len(w.desk.Calls()); n != 3 {
		t.Errorf("the script was asked %d times, want 3", n)
	}
	last := r.GetActions()[len(r.GetActions())-1]
	if last.GetActionId() != r.GetActions()[0].GetActionId()+"_retry2" || last.GetRetryCount() != 2 {
		t.Errorf("the last decision is %v", last)
	}
}

func TestAReportIsWhatItsReactionSays(t *testing.T) {
	w := newMachine(t, nil)
	w.desk.On("where", servertest.Succeed().
		Edit(func(r *reprisev1.Report) { r.ResolutionMethod = "template" }).
		Edit(func(r *reprisev1.Report) { r.ResolutionMethod += "!" }))
	r := w.await(w.create("where"), completed)
	if got := r.GetActions()[0].GetReport().GetResolutionMethod(); got != "template!" {
		t.Errorf("the method is %q", got)
	}
}
