package replay

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAnOrphanGoesBackToTheHeadAndSpendsAResend(t *testing.T) {
	w := running(t, click, click)
	w.orphan()
	a := w.r.Find("r-1")
	if a.State != ActionQueued || a.Resent != 1 || a.Retries != 0 || !a.LastResentAt.After(a.FirstDispatchedAt) {
		t.Errorf("after its deadline the action is %+v", *a)
	}
	w.next()
	w.wantInFlight("r-1")
	if a := w.r.Find("r-1"); a.AttemptID != "r-1.2" || a.Reason != OrphanTimeout || !a.FirstDispatchedAt.Equal(began.Add(time.Second)) {
		t.Errorf("the redelivery is %+v", *a)
	}
}

func TestEachDeliveryIsAFreshAttempt(t *testing.T) {
	w := running(t, click)
	seen := map[string]bool{}
	for i := range 12 {
		a := w.r.Find("r-1")
		if seen[a.AttemptID] {
			t.Fatalf("attempt %s is not fresh", a.AttemptID)
		}
		seen[a.AttemptID] = true
		switch i % 3 {
		case 0:
			w.apply(w.r.DecideNotReceived("r-1", policy, false)...)
		case 1:
			w.apply(w.r.DecideReconnect(Session{BootID: "boot1"}, Reconnect, policy, false)...)
		case 2:
			w.take("r-1", failed(CodeDesktopUnavailable, CompletionNotStarted))
		}
		w.next()
	}
	if w.r.Find("r-1").Resent != 0 {
		t.Error("a resend was spent")
	}
}

func TestAnOrphanThatWasReportedMeanwhileIsLeftAlone(t *testing.T) {
	w := running(t, click, click)
	w.take("r-1", success)
	if events := w.r.DecideOrphan("r-1", policy, false); events != nil {
		t.Errorf("decided %v", events)
	}
	if events := w.r.DecideNotReceived("r-1", policy, false); events != nil {
		t.Errorf("decided %v", events)
	}
}

// What a give-up leads to, by kind and by what the step says.
func TestAGiveUpPausesForCriticalKindsAndGoesOnForOthers(t *testing.T) {
	kinds := map[string]Step{"critical": click, "not critical": scroll}
	for _, c := range []struct {
		name   string
		own    GiveUp
		dead   bool
		kind   string
		pause  string // its reason; empty: the replay goes on
		decide string
	}{
		{name: "by kind", kind: "critical", pause: "orphan_max_resends", decide: "r-1"},
		{name: "by kind", kind: "not critical"},
		{name: "the step says pause", own: GiveUpPause, kind: "not critical", pause: "orphan_max_resends", decide: "r-1"},
		{name: "the step says go on", own: GiveUpContinue, kind: "critical"},
		{name: "the agent is dead", dead: true, kind: "critical", pause: "dead_client", decide: "r-1"},
		{name: "the agent is dead", dead: true, kind: "not critical", pause: "dead_client"},
		{name: "the agent is dead and the step says go on", own: GiveUpContinue, dead: true, kind: "critical", pause: "dead_client"},
	} {
		t.Run(c.kind+" when "+c.name, func(t *testing.T) {
			w := running(t, with(kinds[c.kind], func(s *Step) { s.OnGiveUp = c.own }), click)
			for range policy.MaxResends {
				w.orphan()
				w.next()
			}
			w.apply(w.r.DecideOrphan("r-1", policy, c.dead)...)
			w.next()
			w.wantState("r-1", ActionAbandoned)
			if c.pause != "" {
				w.wantPaused(c.pause, c.decide)
				w.wantInFlight("")
				return
			}
			w.wantReplay(Running)
			w.wantInFlight("r-2")
		})
	}
}

func TestAGiveUpFailsTheReplayWhereTheStepSaysSo(t *testing.T) {
	w := running(t, with(scroll, func(s *Step) { s.OnGiveUp = GiveUpFail }), click)
	w.giveUp()
	w.wantReplay(Failed)
	w.wantState("r-2", ActionCancelled)
	if w.r.EndReason == "" || w.r.EndedAt.IsZero() {
		t.Error("the end has no reason or no time")
	}
}

func TestASkippedKindIsGivenUpAtOnceAndNeverRedelivered(t *testing.T) {
	w := running(t, click, click)
	w.policy.SkipKinds = map[string]bool{"click": true}
	if events := w.r.DecideNotReceived("r-1", w.policy, false); events != nil {
		t.Errorf("no receipt: %v", events)
	}
	w.orphan()
	w.wantState("r-1", ActionAbandoned)
	w.wantPaused("orphan_max_resends", "r-1")
}

// An agent that opens a stream without executing the action and without its
// result will say nothing more about it: to wait for the deadline has no use.
func TestASkippedKindIsNotRedeliveredByAReconnect(t *testing.T) {
	w := running(t, click)
	w.policy.SkipKinds = map[string]bool{"click": true}
	w.apply(w.r.DecideReconnect(Session{BootID: "boot1"}, Reconnect, w.policy, false)...)
	w.wantState("r-1", ActionAbandoned)
	w.wantPaused("orphan_max_resends", "r-1")
}

func TestNoReceiptSpendsNoResend(t *testing.T) {
	w := running(t, click)
	for range 10 {
		w.apply(w.r.DecideNotReceived("r-1", policy, false)...)
		w.next()
	}
	a := w.r.Find("r-1")
	if a.Resent != 0 || a.Deliveries != 11 || a.Reason != NotReceived {
		t.Errorf("resent %d, deliveries %d, reason %v; want 0, 11, not_received", a.Resent, a.Deliveries, a.Reason)
	}
}

// Whatever used up the deliveries, and whatever the kind, a person has to look.
func TestUsedUpDeliveriesPauseTheReplay(t *testing.T) {
	small := Policy{MaxResends: 5, MaxDeliveries: 2}
	for name, again := range map[string]func(r *Replay) []Event{
		"orphans":      func(r *Replay) []Event { return r.DecideOrphan("r-1", small, false) },
		"not received": func(r *Replay) []Event { return r.DecideNotReceived("r-1", small, false) },
		"reconnects":   func(r *Replay) []Event { return r.DecideReconnect(Session{BootID: "boot1"}, Reconnect, small, false) },
	} {
		for kind, step := range map[string]Step{"click": click, "wait": wait} {
			t.Run(kind+" by "+name, func(t *testing.T) {
				w := running(t, step, click)
				w.apply(again(w.r)...)
				w.next()
				w.wantInFlight("r-1")
				w.apply(again(w.r)...)
				w.next()
				w.wantPaused("delivery_failed", "r-1")
				w.wantState("r-1", ActionAbandoned)
			})
		}
	}
}

func TestUsedUpDeliveriesGoOnWhereTheStepSaysSo(t *testing.T) {
	w := running(t, with(wait, func(s *Step) { s.OnGiveUp = GiveUpContinue }), click)
	w.apply(w.r.DecideNotReceived("r-1", Policy{MaxDeliveries: 1}, false)...)
	w.next()
	w.wantInFlight("r-2")
}

func TestAnAgentThatDiesWithTheActionSpendsAResend(t *testing.T) {
	w := running(t, click)
	for i, boot := range []string{"boot2", "boot3"} {
		w.apply(w.r.DecideReconnect(Session{BootID: boot}, Reconnect, policy, false)...)
		w.wantState("r-1", ActionQueued)
		w.apply(w.r.DecideNext(&Session{ID: "s", SpoolID: "spool1", BootID: boot})...)
		if got := w.r.Find("r-1").Resent; got != i+1 {
			t.Errorf("resent %d, want %d", got, i+1)
		}
	}
	w.apply(w.r.DecideReconnect(Session{BootID: "boot4"}, Reconnect, policy, false)...)
	w.wantState("r-1", ActionAbandoned)
	w.wantPaused("orphan_max_resends", "r-1")
}

func TestACutLinkSpendsNothing(t *testing.T) {
	w := running(t, click)
	for _, reason := range []Reason{Reconnect, ServerRestart} {
		w.apply(w.r.DecideReconnect(Session{BootID: "boot1"}, reason, policy, false)...)
		w.next()
		if a := w.r.Find("r-1"); a.Resent != 0 || a.Reason != reason {
			t.Errorf("resent %d, reason %v; want 0, %v", a.Resent, a.Reason, reason)
		}
	}
}

func TestNothingIsDispatchedWithoutASessionOrWhilePaused(t *testing.T) {
	w := begin(t, click, click)
	if events := w.r.DecideNext(nil); events != nil {
		t.Errorf("without a session: %v", events)
	}
	w.next()
	w.pause()
	w.report("r-1", success)
	w.wantInFlight("")
	w.wantReplay(Paused)
}

func TestAReplayWithNothingLeftCompletesWithoutAnAgent(t *testing.T) {
	w := running(t, click)
	w.take("r-1", success)
	w.apply(w.r.DecideNext(nil)...)
	w.wantReplay(Completed)
	if w.r.Settled != 1 || w.r.EndedAt.IsZero() {
		t.Errorf("settled %d, ended at %v", w.r.Settled, w.r.EndedAt)
	}
}

func TestATailRedeliveryGivesUpTheOrderForThatActionAlone(t *testing.T) {
	w := running(t, click, click, click)
	w.policy.RequeueAtTail = true
	w.orphan()
	w.next()
	var order []string
	for w.r.State == Running {
		order = append(order, w.inFlight())
		w.report(w.inFlight(), success)
	}
	if diff := cmp.Diff([]string{"r-2", "r-3", "r-1"}, order); diff != "" {
		t.Error(diff)
	}
	w.wantReplay(Completed)
}

func TestATailRedeliveryIsTakenFromTheTailByALateReport(t *testing.T) {
	w := running(t, click, click)
	w.policy.RequeueAtTail = true
	w.orphan()
	w.next()
	w.report("r-1", success)
	w.wantInFlight("r-2")
	w.report("r-2", success)
	w.wantReplay(Completed)
}

func TestARetryOfATailRedeliveryEntersAtTheHead(t *testing.T) {
	w := running(t, click, click, click)
	w.policy.RequeueAtTail = true
	w.orphan()
	w.next()
	w.take("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	w.report("r-2", success)
	w.wantInFlight("r-1_retry1")
}

// With redeliveries at the tail two actions may end at a person at once. Neither
// is lost: the second pause comes when the first one is over.
func TestTwoActionsThatNeedAPersonAreAskedAboutOneAfterTheOther(t *testing.T) {
	w := running(t, click, click)
	w.policy.RequeueAtTail = true
	w.orphan()
	w.next()
	w.wantInFlight("r-2")
	w.report("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	w.report("r-2", failed(CodeInputBlocked, CompletionNotStarted))
	w.wantPaused("input_blocked", "r-2")
	w.resume(ResumeCommand{Skip: true})
	w.wantPaused("wrong_window", "r-1")
	w.resume(ResumeCommand{})
	w.wantInFlight("r-1_resume")
	w.report("r-1_resume", success)
	w.wantReplay(Completed)
}

func TestAnAgentThatWasStoppedInOrderSpendsNoResend(t *testing.T) {
	r, err := Fold([]Record{{ReplayID: "r", Seq: 1, Events: []Event{Created{MachineID: "m", Steps: []Step{{Kind: "wait", Safe: true, MaxRetries: -1}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	apply := func(events ...Event) {
		t.Helper()
		for _, ev := range events {
			if err := r.ApplyEvent("r", ev, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, boot := range []string{"1", "2", "3", "4", "5"} {
		s := Session{SpoolID: "spool", BootID: boot, Clean: true}
		apply(r.DecideReconnect(s, Reconnect, Policy{MaxResends: 2, MaxDeliveries: 20}, false)...)
		apply(r.DecideNext(&s)...)
	}
	if a := r.Actions[0]; a.State != ActionDispatched || a.Resent != 0 {
		t.Errorf("after five restarts in order the action is %v with %d resends spent", a.State, a.Resent)
	}
}
