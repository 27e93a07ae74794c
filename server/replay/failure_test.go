package replay

import (
	"fmt"
	"testing"
)

// allowed is a step whose workflow lets an executed failure be tried again.
var allowed = with(click, func(s *Step) { s.RetryExecuted = true })

// What each failed report leads to, for a click of which nothing was sent, for
// one that may have been carried out, for a kind that is safe to run twice, and
// for a click that the workflow lets be tried again. Empty: it is retried.
func TestWhatAFailedReportLeadsTo(t *testing.T) {
	for _, c := range []struct {
		code                           string
		notStarted, sent, safe, policy string
	}{
		{CodeTargetNotFound, "", "target_not_found", "", ""},
		{CodeTargetOffScreen, "", "target_off_screen", "", ""},
		{CodeVerifyFailed, "verify_failed", "verify_failed", "", ""},
		{CodeWrongWindow, "wrong_window", "wrong_window", "wrong_window", "wrong_window"},
		{CodeSystemDialog, "system_dialog", "system_dialog", "system_dialog", "system_dialog"},
		{CodeInputBlocked, "input_blocked", "input_blocked", "input_blocked", "input_blocked"},
		{CodeGuardRefused, "guard_refused", "guard_refused", "guard_refused", "guard_refused"},
		{CodePerson, "operator", "operator", "operator", "operator"},
		{CodeTimeout, "", "timeout", "", ""},
		{CodeInternal, "", "internal", "", ""},
		{CodeOther, "", "internal", "", ""},
		{CodeOutcomeUnknown, "outcome_unknown", "outcome_unknown", "", "outcome_unknown"},
		{CodeInvalidAction, "invalid_action", "invalid_action", "invalid_action", "invalid_action"},
		{CodeUnsupported, "invalid_action", "invalid_action", "invalid_action", "invalid_action"},
		{CodeInterrupted, "interrupted", "interrupted", "interrupted", "interrupted"},
	} {
		wants := map[string]struct {
			step       Step
			completion Completion
			reason     string
		}{
			"nothing was sent":         {click, CompletionNotStarted, c.notStarted},
			"input may have been sent": {click, CompletionUnknown, c.sent},
			"it was carried out":       {click, CompletionCompleted, c.sent},
			"it is safe to run twice":  {focus, CompletionUnknown, c.safe},
			"the workflow allows it":   {allowed, CompletionCompleted, c.policy},
		}
		for name, want := range wants {
			t.Run(c.code+" when "+name, func(t *testing.T) {
				w := running(t, want.step)
				if v := w.report("r-1", failed(c.code, want.completion)); v != Accepted {
					t.Errorf("verdict is %v", v)
				}
				if want.reason == "" {
					w.wantState("r-1", ActionSuperseded)
					w.wantInFlight("r-1_retry1")
					return
				}
				w.wantPaused(want.reason, "r-1")
				w.wantState("r-1", ActionNeedsHelp)
				w.wantInFlight("")
			})
		}
	}
}

func TestADesktopThatIsAwaySpendsNothing(t *testing.T) {
	w := running(t, click)
	w.policy.MaxDeliveries = 2
	for range 5 {
		if v := w.take("r-1", failed(CodeDesktopUnavailable, CompletionNotStarted)); v != Accepted {
			t.Fatalf("verdict is %v", v)
		}
		w.wantState("r-1", ActionQueued)
		w.wantReplay(Running)
		w.next()
	}
	a := w.r.Find("r-1")
	if a.Resent != 0 || a.Retries != 0 || a.Deliveries != 1 || a.Reported {
		t.Errorf("resent %d, retries %d, deliveries %d, reported %v; want 0, 0, 1, false", a.Resent, a.Retries, a.Deliveries, a.Reported)
	}
	if a.AttemptID != "r-1.6" {
		t.Errorf("attempt is %s, want the sixth", a.AttemptID)
	}
	if v := w.report("r-1", success); v != Accepted {
		t.Errorf("verdict of the result is %v: a desktop that was away is no result", v)
	}
	w.wantReplay(Completed)
}

func TestDesktopUnavailableConcernsItsOwnAttemptOnly(t *testing.T) {
	w := running(t, click)
	w.orphan()
	w.next()
	v, events := w.r.DecideReport("r-1", "r-1.1", failed(CodeDesktopUnavailable, CompletionNotStarted), policy)
	if v != Accepted || len(events) != 0 {
		t.Errorf("the first attempt's: %v, %v; want it accepted and nothing changed", v, events)
	}
	w.wantInFlight("r-1")
}

func TestRetriesAreBoundedByTheStepElseByTheSetting(t *testing.T) {
	for limit, want := range map[int]int{-1: 3, 0: 0, 1: 1, 5: 5} {
		w := running(t, with(click, func(s *Step) { s.MaxRetries = limit }))
		retries := 0
		for w.r.State == Running {
			w.report(w.inFlight(), failed(CodeTargetNotFound, CompletionNotStarted))
			retries++
		}
		if retries-1 != want {
			t.Errorf("limit %d: %d retries, want %d", limit, retries-1, want)
		}
		last := "r-1"
		if want > 0 {
			last = fmt.Sprintf("r-1_retry%d", want)
		}
		w.wantPaused("target_not_found", last)
	}
}

func TestAUsedUpRetryBudgetFailsTheReplayWhereTheWorkflowSaysSo(t *testing.T) {
	w := running(t, with(click, func(s *Step) { s.FailExhausted, s.MaxRetries = true, 1 }), click)
	w.report("r-1", failed(CodeTimeout, CompletionNotStarted))
	w.report("r-1_retry1", Report{Code: CodeTimeout, Message: "too slow", Completion: CompletionNotStarted})
	w.wantReplay(Failed)
	w.wantState("r-1_retry1", ActionFailed)
	w.wantState("r-2", ActionCancelled)
	if want := "r-1_retry1: timeout: too slow"; w.r.EndReason != want {
		t.Errorf("reason is %q, want %q", w.r.EndReason, want)
	}
}

func TestAFailureThatNeedsAPersonNeverFailsTheReplay(t *testing.T) {
	w := running(t, with(click, func(s *Step) { s.FailExhausted, s.MaxRetries = true, 0 }))
	w.report("r-1", failed(CodeSystemDialog, CompletionNotStarted))
	w.wantPaused("system_dialog", "r-1")
}

func TestAReportThatNeedsAHumanSpendsNoRetry(t *testing.T) {
	w := running(t, click)
	w.report("r-1", Report{Code: CodeTargetNotFound, Completion: CompletionNotStarted, NeedsHuman: true})
	w.wantPaused("needs_human", "r-1")
}

func TestASuccessThatNeedsAHumanIsSettledAndPauses(t *testing.T) {
	w := running(t, click, click)
	w.report("r-1", Report{Success: true, NeedsHuman: true})
	w.wantState("r-1", ActionAcked)
	w.wantPaused("needs_human", "")
	w.resume(ResumeCommand{})
	w.wantInFlight("r-2")
}

func TestALostMessageSpendsNoRetryAndAFailureSpendsNoResend(t *testing.T) {
	w := running(t, click)
	w.orphan()
	w.next()
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	a := w.r.Find("r-1_retry1")
	if a.Resent != 0 || a.Retries != 1 || a.Deliveries != 1 {
		t.Errorf("resent %d, retries %d, deliveries %d; want 0, 1, 1", a.Resent, a.Retries, a.Deliveries)
	}
	if old := w.r.Find("r-1"); old.Resent != 1 || old.Retries != 0 {
		t.Errorf("of the first decision: resent %d, retries %d; want 1, 0", old.Resent, old.Retries)
	}
}

// Every pause reason that a report can lead to says something to a person.
func TestEveryReasonHasAMessage(t *testing.T) {
	for _, code := range []string{
		CodeTargetNotFound, CodeSystemDialog, CodeWrongWindow, CodeVerifyFailed, CodeInputBlocked, CodeTargetOffScreen,
		CodeGuardRefused, CodePerson, CodeTimeout, CodeInterrupted, CodeOutcomeUnknown, CodeInvalidAction, CodeUnsupported,
		CodeInternal, CodeOther, "",
	} {
		if messages[reasonOf(code)] == "" {
			t.Errorf("%q ends at the reason %q, which says nothing", code, reasonOf(code))
		}
	}
}
