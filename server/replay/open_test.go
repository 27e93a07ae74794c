package replay

import "testing"

// open begins a replay that takes more steps.
func open(t testing.TB, steps ...Step) *world {
	return create(t, Created{MachineID: "m", Workflow: "w", Open: true, Steps: steps})
}

// feed appends steps and lets the replay go on.
func (w *world) feed(request string, steps ...Step) {
	w.t.Helper()
	w.append(AppendCommand{RequestID: request, RequestHash: "h", By: "alice", Steps: steps})
	w.next()
}

func (w *world) append(c AppendCommand) {
	w.t.Helper()
	events, err := w.r.DecideAppend(c)
	if err != nil {
		w.t.Fatalf("append: %v", err)
	}
	w.apply(events...)
}

func (w *world) close() {
	w.t.Helper()
	events, err := w.r.DecideClose("alice")
	if err != nil {
		w.t.Fatalf("close: %v", err)
	}
	w.apply(events...)
	w.next()
}

func (w *world) wantIdle(want bool) {
	w.t.Helper()
	if got := w.r.Idle(); got != want {
		w.t.Errorf("idle: %v, want %v", got, want)
	}
}

func TestAnOpenReplayWaitsForMoreAndGoesOnAtOnce(t *testing.T) {
	w := open(t, click)
	w.next()
	w.wantIdle(false)
	w.report("r-1", success)
	w.wantReplay(Running)
	w.wantIdle(true)
	w.feed("a", click, scroll)
	w.wantInFlight("r-2")
	w.feed("b", click) // while another one is in flight
	for _, id := range []string{"r-2", "r-3", "r-4"} {
		w.wantInFlight(id)
		w.report(id, success)
	}
	w.wantReplay(Running)
	w.close()
	w.wantReplay(Completed)
	w.wantIdle(false)
	if h := w.r.Head(); h.Open || h.Actions != 4 || h.Settled != 4 {
		t.Errorf("its head is %+v", h)
	}
}

func TestAnOpenReplayWithoutAnActionDoesNotStart(t *testing.T) {
	w := open(t)
	w.next()
	w.wantReplay(Queued)
	w.wantIdle(true)
	if events := w.r.DecideAgentAway(); events != nil {
		t.Errorf("it misses the agent: %v", events)
	}
	w.feed("a", click)
	w.wantReplay(Running)
	w.wantInFlight("r-1")
}

func TestAReplayThatIsClosedWithNothingToDoCompletesWithoutTheAgent(t *testing.T) {
	never, done := open(t), open(t, click)
	done.next()
	done.report("r-1", success)
	for name, w := range map[string]*world{"that never had an action": never, "whose actions are settled": done} {
		if events := w.r.DecideNext(nil); events != nil {
			t.Fatalf("one %s decided %v while it was open", name, events)
		}
		events, err := w.r.DecideClose("alice")
		if err != nil {
			t.Fatal(err)
		}
		w.apply(events...)
		w.apply(w.r.DecideNext(nil)...)
		w.wantReplay(Completed)
	}
}

func TestAReplayThatIsClosedGoesOnWithWhatItHas(t *testing.T) {
	w := open(t, click, click)
	w.next()
	w.close()
	w.wantInFlight("r-1")
	w.report("r-1", success)
	w.wantInFlight("r-2")
	w.report("r-2", success)
	w.wantReplay(Completed)
}

func TestTheLastAppendMayCloseTheReplay(t *testing.T) {
	w := open(t)
	w.append(AppendCommand{RequestID: "a", Steps: []Step{click}, Close: true})
	if len(w.records) != 2 {
		t.Errorf("%d records, want both in one after the first", len(w.records))
	}
	w.next()
	w.report("r-1", success)
	w.wantReplay(Completed)
}

func TestClosingAgainChangesNothingAndAnEndedReplayIsNotClosed(t *testing.T) {
	closed, completed, cancelled, failing := open(t, click), open(t), open(t), open(t, with(click, func(s *Step) { s.OnGiveUp = GiveUpFail }))
	closed.close()
	completed.close()
	cancelled.command(cancelled.r.DecideCancel("alice", ""))
	failing.next()
	failing.apply(failing.r.DecideOrphan("r-1", Policy{}, false)...)
	failing.wantReplay(Failed)
	for _, c := range []struct {
		w    *world
		want error
	}{{closed, nil}, {completed, nil}, {cancelled, ErrEnded}, {failing, ErrEnded}} {
		events, err := c.w.r.DecideClose("bob")
		wantError(t, err, c.want)
		if events != nil {
			t.Errorf("%v: decided %v", c.w.r.State, events)
		}
	}
}

func TestAPausedOpenReplayTakesActionsAndStaysPaused(t *testing.T) {
	w := open(t, click)
	w.next()
	w.pause()
	w.report("r-1", success)
	w.feed("a", click)
	w.wantPaused("operator", "")
	w.wantInFlight("")
	w.resume(ResumeCommand{})
	w.wantInFlight("r-2")
}

func TestAResumeAfterTheLastStepOfAnOpenReplayWaitsForMore(t *testing.T) {
	w := open(t, click, human)
	w.next()
	w.report("r-1", success)
	w.wantPaused("user_request", "")
	w.wantIdle(false)
	w.resume(ResumeCommand{})
	w.wantReplay(Running)
	w.wantIdle(true)
	w.pause()
	w.close()
	w.wantPaused("operator", "")
	w.resume(ResumeCommand{})
	w.wantReplay(Completed)
}

func TestAnAppendedStepAsksForAPersonLikeAnyOther(t *testing.T) {
	w := open(t)
	w.feed("a", checked)
	w.wantPaused("user_request", "")
	w.resume(ResumeCommand{Acked: []string{"saved"}})
	w.wantInFlight("r-1")

	w = create(t, Created{MachineID: "m", Open: true, Unattended: true})
	w.feed("a", human, click)
	w.wantInFlight("r-2")
	w.wantState("r-1", ActionAcked)
}

func TestARetryComesBeforeWhatIsAppendedMeanwhile(t *testing.T) {
	w := open(t, click)
	w.next()
	w.feed("a", click)
	w.report("r-1", failed(CodeTargetNotFound, CompletionNotStarted))
	w.wantInFlight("r-1_retry1")
	w.report("r-1_retry1", success)
	w.wantInFlight("r-2")
}

func TestWhatWasPutBackAtTheTailIsNotForgottenByAnAppend(t *testing.T) {
	w := open(t, click)
	w.policy.RequeueAtTail = true
	w.next()
	w.apply(w.r.DecideOrphan("r-1", w.policy, false)...)
	w.wantIdle(false)
	w.feed("a", click)
	w.wantInFlight("r-2")
	w.report("r-2", success)
	w.wantInFlight("r-1")
	w.report("r-1", success)
	w.wantIdle(true)
}

func TestAResumeGoesOnFromAnAppendedStepByItsName(t *testing.T) {
	named := func(name string) Step { return with(click, func(s *Step) { s.Name = name }) }
	w := open(t, named("login"))
	w.next()
	w.feed("a", named("save"), named("login")) // the first of a name counts
	w.report("r-1", failed(CodeWrongWindow, CompletionNotStarted))
	w.resume(ResumeCommand{From: "save"})
	w.wantInFlight("r-2")
	w.wantState("r-1", ActionSkipped)
	if step, ok := w.r.StepNamed("login"); step != 0 || !ok {
		t.Errorf("login is step %d, %v", step, ok)
	}
	if _, ok := w.r.StepNamed(""); ok {
		t.Error("a step without a name was found by none")
	}
}

func TestAnEventSaysWhoAskedForIt(t *testing.T) {
	for _, ev := range []Event{
		Created{By: "alice"}, Appended{By: "alice"}, Closed{By: "alice"}, PausedBy{By: "alice"}, Resumed{By: "alice"}, Ended{By: "alice"},
	} {
		if got := By(ev); got != "alice" {
			t.Errorf("%T: %q", ev, got)
		}
	}
	for _, ev := range []Event{Started{}, Dispatched{}, Reported{}, PausedBy{Reason: "wrong_window"}} {
		if got := By(ev); got != "" {
			t.Errorf("%T: %q", ev, got)
		}
	}
}
