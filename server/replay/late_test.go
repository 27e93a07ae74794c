package replay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheSecondReportOfAnActionChangesNothing(t *testing.T) {
	for name, rep := range map[string]Report{
		"success": success, "retried": failed(CodeTargetNotFound, CompletionNotStarted), "needs a person": failed(CodeWrongWindow, CompletionUnknown),
	} {
		t.Run(name, func(t *testing.T) {
			w := running(t, click, click)
			w.report("r-1", rep)
			for _, second := range []Report{success, failed(CodeInternal, CompletionUnknown)} {
				before := len(w.records)
				if v := w.report("r-1", second); v != Duplicate {
					t.Errorf("verdict is %v, want DUPLICATE", v)
				}
				if len(w.records) != before {
					t.Error("something was recorded")
				}
			}
		})
	}
}

func TestAReportOfAnEndedReplayIsAnsweredSo(t *testing.T) {
	w := running(t, click)
	events, err := w.r.DecideCancel("alice", "enough")
	if err != nil {
		t.Fatal(err)
	}
	w.apply(events...)
	if v := w.report("r-1", success); v != NoActiveReplay {
		t.Errorf("verdict is %v, want NO_ACTIVE_REPLAY", v)
	}
	w.wantState("r-1", ActionCancelled)
}

func TestAReportOfWhatWasNeverSentIsUnknown(t *testing.T) {
	w := running(t, click, click)
	for _, id := range []string{"r-2", "r-3", "r-1_retry1", "wait-injected", ""} {
		if v := w.report(id, success); v != UnknownAction {
			t.Errorf("verdict of %q is %v, want UNKNOWN_ACTION", id, v)
		}
	}
	w.wantInFlight("r-1")
}

func TestALateReportTakesTheActionOutOfTheQueue(t *testing.T) {
	w := running(t, click, click)
	w.orphan()
	w.wantState("r-1", ActionQueued)
	if v := w.take("r-1", success); v != Accepted {
		t.Errorf("verdict is %v", v)
	}
	w.wantState("r-1", ActionAcked)
	w.next()
	w.wantInFlight("r-2")
}

func TestALateFailureOfAQueuedActionIsRetriedOnce(t *testing.T) {
	w := running(t, click)
	w.orphan()
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	w.wantState("r-1", ActionSuperseded)
	w.wantInFlight("r-1_retry1")
}

func TestALateReportOfAnAbandonedActionIsRecordedOnly(t *testing.T) {
	w := running(t, scroll, click)
	w.giveUp()
	w.next()
	w.wantInFlight("r-2")
	if v := w.report("r-1", success); v != Accepted {
		t.Errorf("verdict is %v", v)
	}
	w.wantState("r-1", ActionAbandoned)
	w.wantInFlight("r-2")
	if w.r.Find("r-1").Report == nil {
		t.Error("the report was not recorded")
	}
	if v := w.report("r-1", success); v != Duplicate {
		t.Errorf("the second one's verdict is %v", v)
	}
}

func TestALateSuccessSettlesTheActionThatTheReplayPausedFor(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	w.wantPaused("orphan_max_resends", "r-1")
	w.report("r-1", success)
	w.wantState("r-1", ActionAcked)
	w.wantPaused("orphan_max_resends", "") // the pause stays, and says that nothing is left to decide
	if got := w.r.Pause.Message; !strings.Contains(got, messages["orphan_max_resends"]) || !strings.Contains(got, messageReportedLate) {
		t.Errorf("the pause says %q, want why it began and that the action has been reported", got)
	}
	wantError(t, w.tryResume(ResumeCommand{Skip: true}), ErrNothingToDo)
	w.resume(ResumeCommand{})
	w.wantInFlight("r-2")
}

func TestALateFailureOfTheActionThatTheReplayPausedForQueuesItsRetry(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	w.wantPaused("orphan_max_resends", "")
	w.wantInFlight("")
	w.resume(ResumeCommand{})
	w.wantInFlight("r-1_retry1")
}

func TestALateFailureThatNeedsAPersonGivesThePauseItsReason(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	w.report("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	w.wantPaused("wrong_window", "r-1")
	if strings.Contains(w.r.Pause.Message, messageReportedLate) {
		t.Errorf("the pause says %q: there is something to decide", w.r.Pause.Message)
	}
	w.resume(ResumeCommand{})
	w.wantInFlight("r-1_resume")
}

func TestALateSuccessReplacesAResumeThatWasNeverDelivered(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	events, err := w.r.DecideResume(ResumeCommand{})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(events...) // no stream: the resume stays in the queue
	if v := w.report("r-1", success); v != Accepted {
		t.Errorf("verdict is %v", v)
	}
	w.wantState("r-1", ActionAcked)
	w.wantState("r-1_resume", ActionSuperseded)
	w.wantInFlight("r-2")
	if w.r.Settled != 1 {
		t.Errorf("%d steps are settled, want 1", w.r.Settled)
	}
}

func TestALateFailureOfAnOlderIDIsRecordedOnly(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	events, _ := w.r.DecideResume(ResumeCommand{})
	w.apply(events...)
	w.take("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	w.wantReplay(Running)
	w.wantState("r-1_resume", ActionQueued)
}

func TestALateSuccessOfAnOlderIDIsRecordedOnlyOnceTheResumeWasDelivered(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	w.resume(ResumeCommand{})
	w.wantInFlight("r-1_resume")
	w.report("r-1", success)
	w.wantInFlight("r-1_resume")
	w.wantState("r-1", ActionSuperseded)

	w.orphan() // queued again, but it was delivered
	w.report("r-1", success)
	w.wantInFlight("r-1_resume")
}

func TestAResumeNamesTheUnansweredIDsThatItReplaces(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	w.resume(ResumeCommand{})
	if diff := cmp.Diff([]string{"r-1"}, w.r.Unsettled("r-1_resume")); diff != "" {
		t.Error(diff)
	}
	w.giveUp()
	w.resume(ResumeCommand{})
	if diff := cmp.Diff([]string{"r-1", "r-1_resume"}, w.r.Unsettled("r-1_resume2")); diff != "" {
		t.Error(diff)
	}
	w.report("r-1_resume2", failed(CodeTargetNotFound, CompletionNotStarted))
	if got := w.r.Unsettled("r-1_resume2_retry1"); len(got) != 0 {
		t.Errorf("a retry replaces %v, though the agent has answered for them", got)
	}
}

func TestARetryReplacesNothingThatWasAnswered(t *testing.T) {
	w := running(t, click)
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	if got := w.r.Unsettled("r-1_retry1"); len(got) != 0 {
		t.Errorf("replaces %v", got)
	}
	if got := w.r.Unsettled("no such action"); got != nil {
		t.Errorf("an unknown action replaces %v", got)
	}
}

// The report of the older id came while its resume was out. A redelivery of the
// resume must still name it, or an agent that never got the first delivery would
// carry the step out a second time.
func TestARedeliveredResumeStillNamesTheOlderIDThatRanMeanwhile(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	w.resume(ResumeCommand{})
	w.report("r-1", success)
	w.apply(w.r.DecideReconnect(Session{BootID: "boot1"}, Reconnect, policy, false)...)
	w.next()
	if diff := cmp.Diff([]string{"r-1"}, w.r.Unsettled("r-1_resume")); diff != "" {
		t.Error(diff)
	}
	w.giveUp()
	w.resume(ResumeCommand{}) // a new decision, made with that report at hand
	if diff := cmp.Diff([]string{"r-1_resume"}, w.r.Unsettled("r-1_resume2")); diff != "" {
		t.Error(diff)
	}
}

func TestAnOlderIDOfWhichNothingWasSentIsNoLongerNamed(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	w.resume(ResumeCommand{})
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	if got := w.r.Unsettled("r-1_resume"); len(got) != 0 {
		t.Errorf("replaces %v", got)
	}
}

func TestAReportFromAnOlderMemorySettlesNothing(t *testing.T) {
	w := running(t, click)
	rep := success
	rep.SpoolID = "spool0"
	if v := w.report("r-1", rep); v != Duplicate {
		t.Errorf("verdict is %v, want DUPLICATE", v)
	}
	w.wantInFlight("r-1")
}
