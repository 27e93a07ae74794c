package replay

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checked is a step with safety checks.
var checked = with(click, func(s *Step) {
	s.Checks = []Check{{ID: "saved", Label: "Is it saved?", Required: true}, {ID: "note", Label: "A note"}}
})

func TestAPauseForHumanIsDoneWhenItIsResumed(t *testing.T) {
	w := running(t, with(human, func(s *Step) { s.Message = "Insert the card." }), click)
	w.wantPaused("user_request", "")
	if want := "The workflow asks for a person. (Insert the card.)"; w.r.Pause.Message != want {
		t.Errorf("message is %q, want %q", w.r.Pause.Message, want)
	}
	w.resume(ResumeCommand{})
	w.wantState("r-1", ActionAcked)
	w.wantInFlight("r-2")
	if w.r.Find("r-1").Dispatches != 0 {
		t.Error("a pause for human was dispatched")
	}
}

func TestAnActionWithSafetyChecksPausesBeforeItRuns(t *testing.T) {
	w := running(t, checked)
	w.wantPaused("user_request", "")
	w.wantState("r-1", ActionQueued)
	for _, acked := range [][]string{nil, {"note"}, {"saved", "other"}, {"other"}} {
		var e *ChecksError
		if err := w.tryResume(ResumeCommand{Acked: acked}); !asChecks(err, &e) {
			t.Fatalf("resume with %v: %v", acked, err)
		}
	}
	w.wantReplay(Paused)
	w.resume(ResumeCommand{Acked: []string{"saved"}})
	w.wantInFlight("r-1")
	w.orphan()
	w.next()
	w.wantInFlight("r-1") // the checks were for the step, not for each delivery
}

func TestARefusedResumeNamesTheChecks(t *testing.T) {
	w := running(t, checked)
	var e *ChecksError
	if !asChecks(w.tryResume(ResumeCommand{Acked: []string{"note", "other"}}), &e) {
		t.Fatal("not refused")
	}
	if diff := cmp.Diff(&ChecksError{Missing: []string{"saved"}, Unknown: []string{"other"}}, e); diff != "" {
		t.Error(diff)
	}
	if e.Error() == "" || (&ChecksError{Missing: []string{"a"}}).Error() == (&ChecksError{Unknown: []string{"a"}}).Error() {
		t.Error("the error does not say what is wrong")
	}
}

func asChecks(err error, e **ChecksError) bool {
	return errors.As(err, e)
}

func TestSkippingAGateSkipsItsStep(t *testing.T) {
	for name, step := range map[string]Step{"pause for human": human, "safety checks": checked} {
		t.Run(name, func(t *testing.T) {
			w := running(t, step, click)
			var acked []string
			if len(step.Checks) > 0 {
				acked = []string{"saved"}
			}
			w.resume(ResumeCommand{Skip: true, Acked: acked})
			w.wantState("r-1", ActionSkipped)
			w.wantInFlight("r-2")
		})
	}
}

// An unattended replay passes a pause for human without a required check, and
// pauses for everything else all the same.
func TestUnattended(t *testing.T) {
	optional := []Check{{ID: "note", Label: "A note"}}
	required := []Check{{ID: "saved", Label: "Is it saved?", Required: true}}
	for _, c := range []struct {
		name   string
		step   Step
		passes bool
	}{
		{"a pause for human", human, true},
		{"a pause for human with an optional check", with(human, func(s *Step) { s.Checks = optional }), true},
		{"a pause for human with a required check", with(human, func(s *Step) { s.Checks = required }), false},
		{"an action with an optional check", with(click, func(s *Step) { s.Checks = optional }), false},
		{"an action with a required check", with(click, func(s *Step) { s.Checks = required }), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := create(t, Created{MachineID: "m", Unattended: true, Steps: []Step{c.step, click}})
			w.next()
			if !c.passes {
				w.wantPaused("user_request", "")
				return
			}
			w.wantState("r-1", ActionAcked)
			w.wantInFlight("r-2")
			passed := false
			for _, rec := range w.records {
				for _, ev := range rec.Events {
					_, is := ev.(GatePassed)
					passed = passed || is
				}
			}
			if !passed {
				t.Error("the passing is no event")
			}
		})
	}
	w := create(t, Created{MachineID: "m", Unattended: true, Steps: []Step{click}})
	w.next()
	w.report("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	w.wantPaused("wrong_window", "r-1")
}

func TestAPauseWhileAnActionRunsLetsItFinish(t *testing.T) {
	w := running(t, click, click)
	w.pause()
	w.wantPaused("operator", "")
	w.wantInFlight("r-1")
	if !w.r.Head().Pausing {
		t.Error("the replay is not pausing")
	}
	w.report("r-1", success)
	w.wantInFlight("")
	if w.r.Head().Pausing {
		t.Error("the replay is still pausing")
	}
	w.wantPaused("operator", "")
	w.resume(ResumeCommand{})
	w.wantInFlight("r-2")
}

func TestAFailureWhilePausingQueuesItsRetryForTheResume(t *testing.T) {
	w := running(t, click)
	w.pause()
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	w.wantPaused("operator", "")
	w.wantInFlight("")
	w.resume(ResumeCommand{})
	w.wantInFlight("r-1_retry1")
}

func TestAFailureWhilePausingThatNeedsAPersonIsTheOneToDecideOn(t *testing.T) {
	w := running(t, click)
	w.pause()
	w.report("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	w.wantPaused("wrong_window", "r-1")
}

func TestAnInterruptedActionKeepsThePauseThatStoppedIt(t *testing.T) {
	w := running(t, click)
	w.pause()
	w.report("r-1", failed(CodeInterrupted, CompletionUnknown))
	w.wantPaused("operator", "r-1")
	w.resume(ResumeCommand{})
	w.wantInFlight("r-1_resume")
}

func TestAnOrphanWhilePausingIsDeliveredOnceThePauseIsOver(t *testing.T) {
	w := running(t, click)
	w.pause()
	w.orphan()
	w.next()
	w.wantState("r-1", ActionQueued)
	w.wantInFlight("")
	w.resume(ResumeCommand{})
	w.wantInFlight("r-1")
}

func TestAResumeWhilePausingIsPlainOrRefused(t *testing.T) {
	w := running(t, click, click)
	w.pause()
	for _, c := range []ResumeCommand{{Skip: true}, {From: "r-2"}, {Position: &Point{}}} {
		wantError(t, w.tryResume(c), ErrStillPausing)
	}
	w.resume(ResumeCommand{})
	w.wantReplay(Running)
	w.wantInFlight("r-1")
}

func TestPausingAPausedReplayChangesNothing(t *testing.T) {
	asked, dialog := running(t, click), running(t, click)
	asked.pause()
	dialog.report("r-1", failed(CodeSystemDialog, CompletionNotStarted))
	for _, c := range []struct {
		w    *world
		text string
	}{{asked, ""}, {asked, asked.r.Pause.Message}, {dialog, "I am on it"}} {
		if events, err := c.w.r.DecidePause("bob", c.text); err != nil || events != nil {
			t.Errorf("%s, %q: decided %v, %v", c.w.r.Pause.Reason, c.text, events, err)
		}
	}
}

func TestOtherWordsOfAPersonAreAnotherPauseThatAsksForTheSame(t *testing.T) {
	w := running(t, click, click)
	w.report("r-1", failed(CodePerson, CompletionUnknown))
	w.wantPaused("operator", "r-1")
	old := *w.r.Pause
	events, err := w.r.DecidePause("bob", "wait for the backup")
	if err != nil {
		t.Fatal(err)
	}
	w.apply(events...)
	w.wantPaused("operator", "r-1")
	if p := w.r.Pause; p.Message != "wait for the backup" || p.By != "bob" || p.ID == old.ID {
		t.Errorf("the pause is %+v, was %+v", *p, old)
	}
	w.wantState("r-1", ActionNeedsHelp)
	w.resume(ResumeCommand{})
	w.wantInFlight("r-1_resume")
}

func TestEachPauseHasAnIDOfItsOwn(t *testing.T) {
	w := running(t, click)
	seen := map[string]bool{}
	for range 3 {
		w.pause()
		if seen[w.r.Pause.ID] {
			t.Errorf("pause %s was there before", w.r.Pause.ID)
		}
		seen[w.r.Pause.ID] = true
		w.resume(ResumeCommand{})
	}
}

func TestAQueuedReplayThatWasPausedWaitsForTheMachineAgain(t *testing.T) {
	w := begin(t, click)
	w.pause()
	events, err := w.r.DecideResume(ResumeCommand{})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(events...)
	w.wantReplay(Queued)
	w.next()
	w.wantInFlight("r-1")
}

func TestAnAgentThatIsAwayTooLongPausesItsReplay(t *testing.T) {
	w := running(t, click, click)
	w.apply(w.r.DecideAgentAway()...)
	w.wantPaused("dead_client", "r-1")
	w.wantInFlight("")
	if events := w.r.DecideAgentAway(); events != nil {
		t.Errorf("a second time: %v", events)
	}
	w.report("r-1", success) // late, and it still settles the action
	w.wantPaused("dead_client", "")
	w.wantState("r-1", ActionAcked)
}

func TestAnAgentThatIsAwayWhilePausingLeavesItsActionToAPerson(t *testing.T) {
	w := running(t, click)
	w.pause()
	w.apply(w.r.DecideAgentAway()...)
	w.wantPaused("dead_client", "r-1")
}

func TestAReplayThatWaitsForTheMachineOrAPersonDoesNotMissTheAgent(t *testing.T) {
	for name, w := range map[string]*world{"queued": begin(t, click), "paused": running(t, human)} {
		if events := w.r.DecideAgentAway(); events != nil {
			t.Errorf("%s: decided %v", name, events)
		}
	}
}
