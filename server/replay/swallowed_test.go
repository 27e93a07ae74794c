package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThreeActionsWithoutEffectPauseTheReplayAndRunAgain(t *testing.T) {
	w := running(t, click, wait, click, click, click)
	w.report("r-1", noChange)
	w.report("r-2", success) // a wait is seen on no screen
	w.report("r-3", noChange)
	w.report("r-4", noChange)
	w.wantPaused("input_swallowed", "r-1")
	if diff := cmp.Diff([]string{"r-3", "r-4"}, w.r.Pause.Again); diff != "" {
		t.Error(diff)
	}
	if w.r.Settled != 3 {
		t.Errorf("%d settled, want 3: the first is open again", w.r.Settled)
	}
	w.resume(ResumeCommand{})
	var order []string
	for w.r.State == Running {
		order = append(order, w.inFlight())
		w.report(w.inFlight(), success)
	}
	if diff := cmp.Diff([]string{"r-1_resume", "r-3_resume", "r-4_resume", "r-5"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestAnEffectInBetweenStartsTheCountAnew(t *testing.T) {
	w := running(t, click, click, click, click, click)
	for _, rep := range []Report{noChange, noChange, success, noChange, noChange} {
		w.report(w.inFlight(), rep)
	}
	w.wantReplay(Completed)
}

func TestAResumeStartsTheCountOfActionsWithoutEffectAnew(t *testing.T) {
	w := running(t, click, click, click, click)
	w.report("r-1", noChange)
	w.report("r-2", noChange)
	w.pause()
	w.resume(ResumeCommand{})
	w.report("r-3", noChange)
	w.wantReplay(Running)
}

func TestSkippingASwallowedActionRunsTheOthersAgain(t *testing.T) {
	w := running(t, click, click, click)
	for range 3 {
		w.report(w.inFlight(), noChange)
	}
	w.resume(ResumeCommand{Skip: true})
	w.wantState("r-1", ActionSkipped)
	w.wantInFlight("r-2_resume")
}
