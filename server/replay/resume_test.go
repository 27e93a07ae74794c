package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAResumeRunsTheActionToDecideOnAgainWithItsBudgetsAtZero(t *testing.T) {
	w := running(t, click, click)
	w.orphan()
	w.next()
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	w.report("r-1_retry1", failed(CodeWrongWindow, CompletionNotStarted))
	w.resume(ResumeCommand{By: "alice"})
	w.wantInFlight("r-1_resume")
	w.wantState("r-1_retry1", ActionSuperseded)
	a := *w.r.Find("r-1_resume")
	if a.Resent != 0 || a.Retries != 0 || a.Deliveries != 1 || a.Correction != nil {
		t.Errorf("it comes back as %+v", a)
	}
}

func TestIDsAreDerivedAndNeverUsedTwice(t *testing.T) {
	w := running(t, click)
	retry, help := failed(CodeTargetNotFound, CompletionNotStarted), failed(CodeWrongWindow, CompletionNotStarted)
	var order []string
	for _, rep := range []Report{retry, help, retry, retry, help, help, retry, success} {
		order = append(order, w.inFlight())
		w.report(w.inFlight(), rep)
		if w.r.State == Paused {
			w.resume(ResumeCommand{})
		}
	}
	want := []string{"r-1", "r-1_retry1", "r-1_resume", "r-1_resume_retry1", "r-1_resume_retry2", "r-1_resume2", "r-1_resume3", "r-1_resume3_retry1"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	w.wantReplay(Completed)
}

// A late success put an older decision back in its place; the next decision's id
// is still a new one.
func TestAnIDIsNotUsedAgainAfterALateSuccessTookTheNewerOnesPlace(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	events, err := w.r.DecideResume(ResumeCommand{})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(events...)
	w.report("r-1", success)
	w.pause()
	w.report("r-2", success)
	w.resume(ResumeCommand{From: "r-1"})
	w.wantInFlight("r-1_resume2")
}

func TestASkipCountsTheActionAsDone(t *testing.T) {
	w := running(t, click, click)
	w.report("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	w.resume(ResumeCommand{Skip: true})
	w.wantState("r-1", ActionSkipped)
	w.wantInFlight("r-2")
	if w.r.Settled != 1 {
		t.Errorf("settled %d", w.r.Settled)
	}
	if v := w.report("r-1", success); v != Duplicate {
		t.Errorf("its late report: %v", v)
	}
}

func TestACorrectionGoesWithTheResumeAndItsRetries(t *testing.T) {
	w := running(t, click)
	w.report("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	at := &Point{X: 0.25, Y: 0.75}
	w.resume(ResumeCommand{Position: at})
	w.report("r-1_resume", failed(CodeTargetNotFound, CompletionNotStarted))
	if diff := cmp.Diff(at, w.r.Find("r-1_resume_retry1").Correction); diff != "" {
		t.Error(diff)
	}
}

func TestAResumeFromAnEarlierActionRunsAllThatFollowsAgain(t *testing.T) {
	w := running(t, click, with(click, func(s *Step) { s.Name = "second" }), human, click, click)
	w.report("r-1", success)
	w.report("r-2", success)
	w.resume(ResumeCommand{})
	w.report("r-4", failed(CodeWrongWindow, CompletionNotStarted))
	w.resume(ResumeCommand{From: "second"})
	w.wantInFlight("r-2_resume")
	w.report("r-2_resume", success)
	w.wantPaused("user_request", "") // the step asks again
	w.resume(ResumeCommand{})
	w.report("r-4_resume", success)
	w.report("r-5", success) // it was never delivered, so it is the same decision
	w.wantReplay(Completed)
	w.wantState("r-1", ActionAcked)
}

func TestAResumeFromALaterActionPassesOverWhatIsOpen(t *testing.T) {
	w := running(t, click, click, click, click)
	w.report("r-1", success)
	w.report("r-2", failed(CodeWrongWindow, CompletionNotStarted))
	w.resume(ResumeCommand{From: "r-4"})
	w.wantState("r-1", ActionAcked)
	w.wantState("r-2", ActionSkipped)
	w.wantState("r-3", ActionSkipped)
	w.wantInFlight("r-4")
	w.report("r-4", success)
	w.wantReplay(Completed)
	if w.r.Settled != 4 {
		t.Errorf("settled %d of 4", w.r.Settled)
	}
}

func TestAResumeFromTheStepThatAskedForThePauseRunsIt(t *testing.T) {
	w := running(t, checked)
	w.resume(ResumeCommand{From: "r-1", Acked: []string{"saved"}})
	w.wantInFlight("r-1")
}

func TestAResumeFromAnOlderIDMeansItsStep(t *testing.T) {
	w := running(t, click, click)
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	w.report("r-1_retry1", success)
	w.report("r-2", failed(CodeWrongWindow, CompletionNotStarted))
	w.resume(ResumeCommand{From: "r-1"})
	w.wantInFlight("r-1_resume")
}

// A pause that was passed for a step comes again when the replay goes on from
// before it, though the step itself was never delivered.
func TestAResumeFromAsksAgainForAStepThatWasNeverDelivered(t *testing.T) {
	w := running(t, click, checked)
	w.report("r-1", success)
	events, err := w.r.DecideResume(ResumeCommand{Acked: []string{"saved"}})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(events...) // no stream: the step stays in the queue
	w.pause()
	w.resume(ResumeCommand{From: "r-1"})
	w.report("r-1_resume", success)
	w.wantPaused("user_request", "")
}

func TestAResumeThatContradictsItselfIsRefused(t *testing.T) {
	w := running(t, click, click)
	w.report("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	at := &Point{}
	for _, c := range []ResumeCommand{{Skip: true, From: "r-2"}, {Skip: true, Position: at}, {From: "r-2", Position: at}} {
		wantError(t, w.tryResume(c), ErrExclusive)
	}
	wantError(t, w.tryResume(ResumeCommand{From: "nowhere"}), ErrUnknownStep)
	w.wantPaused("wrong_window", "r-1")
}

func TestAResumeWithNothingToDecideOnRefusesASkip(t *testing.T) {
	w := running(t, click, click)
	w.pause()
	w.report("r-1", success)
	wantError(t, w.tryResume(ResumeCommand{Skip: true}), ErrNothingToDo)
	wantError(t, w.tryResume(ResumeCommand{Position: &Point{}}), ErrNothingToDo)
}

func TestOfTwoResumesOneWins(t *testing.T) {
	w := running(t, click)
	w.report("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	w.resume(ResumeCommand{})
	wantError(t, w.tryResume(ResumeCommand{}), ErrNotPaused)
}

func TestACancelEmptiesTheQueue(t *testing.T) {
	for name, w := range map[string]*world{
		"queued": begin(t, click, click), "running": running(t, click, click), "paused": running(t, human, click),
	} {
		t.Run(name, func(t *testing.T) {
			events, err := w.r.DecideCancel("alice", "enough")
			if err != nil {
				t.Fatal(err)
			}
			w.apply(events...)
			w.next()
			w.wantReplay(Cancelled)
			w.wantInFlight("")
			if _, ok := w.r.Next(); ok || w.r.Pause != nil {
				t.Error("something is still queued, or paused")
			}
			for _, a := range w.r.Actions {
				if a.State != ActionCancelled {
					t.Errorf("%s is %v", a.ID, a.State)
				}
			}
			if again, err := w.r.DecideCancel("bob", ""); err != nil || again != nil {
				t.Errorf("a second cancel: %v, %v", again, err)
			}
		})
	}
}

func TestAnEndedReplayTakesNoCommand(t *testing.T) {
	w := running(t, click)
	w.report("r-1", success)
	w.wantReplay(Completed)
	_, err := w.r.DecidePause("alice", "")
	wantError(t, err, ErrEnded)
	_, err = w.r.DecideResume(ResumeCommand{})
	wantError(t, err, ErrNotPaused)
	_, err = w.r.DecideCancel("alice", "")
	wantError(t, err, ErrEnded)
}
