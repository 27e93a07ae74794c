package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// executing lets an agent say at its opening that it executes an action.
func (w *world) executing(id string) Executing {
	w.t.Helper()
	verdict, events := w.r.DecideExecuting(id, id+".agent")
	w.apply(events...)
	return verdict
}

func TestWhatAnAgentExecutesCountsAsDispatched(t *testing.T) {
	for name, prepare := range map[string]func(*world){
		"in flight":                        func(*world) {},
		"queued again":                     func(w *world) { w.orphan() },
		"given up, and the replay paused":  func(w *world) { w.giveUp() },
		"left to a person":                 func(w *world) { w.apply(w.r.DecideAgentAway()...) },
		"in flight, and the replay paused": func(w *world) { w.pause() },
		"queued again, then paused":        func(w *world) { w.orphan(); w.pause() },
	} {
		t.Run(name, func(t *testing.T) {
			w := running(t, click, click)
			prepare(w)
			paused := w.r.State == Paused
			if got := w.executing("r-1"); got != GoOn {
				t.Errorf("told %v, want to go on", got)
			}
			w.wantInFlight("r-1")
			w.wantState("r-1", ActionDispatched)
			if paused {
				w.wantReplay(Paused)
			}
			w.report("r-1", success)
			w.wantState("r-1", ActionAcked)
			if paused {
				if w.r.Pause == nil || w.r.Pause.Decide != "" {
					t.Errorf("the pause is %+v, want it to stay with nothing to decide on", w.r.Pause)
				}
				w.resume(ResumeCommand{})
			}
			w.wantInFlight("r-2")
		})
	}
}

func TestAnAgentIsStoppedWhenNobodyWaitsForWhatItExecutes(t *testing.T) {
	w := running(t, scroll, click)
	if got := w.executing("r-9"); got != Stop {
		t.Errorf("an unknown action: %v", got)
	}
	if got := w.executing("r-2"); got != Stop {
		t.Errorf("an action that was never delivered: %v", got)
	}
	w.giveUp()
	w.next()
	if got := w.executing("r-1"); got != Stop {
		t.Errorf("given up, and the replay went on: %v", got)
	}
	w.wantInFlight("r-2")
	w.report("r-2", success)
	if got := w.executing("r-1"); got != Stop {
		t.Errorf("of an ended replay: %v", got)
	}
}

func TestAnAgentGoesOnWithAnOlderIDWhoseResumeIsWaiting(t *testing.T) {
	w := running(t, click, click)
	w.giveUp()
	w.resume(ResumeCommand{})
	if got := w.executing("r-1"); got != GoOn {
		t.Errorf("told %v: its outcome answers the resume", got)
	}
	w.wantInFlight("r-1_resume")
	w.report("r-1_resume", success)
	if got := w.executing("r-1"); got != Stop {
		t.Errorf("told %v, though the step is settled", got)
	}
}

// The action at the tail turns out to be the one that the agent is executing:
// the one that was sent after it goes back to the head.
func TestAnExecutingActionTakesThePlaceOfALaterOne(t *testing.T) {
	w := running(t, click, click, click)
	w.policy.RequeueAtTail = true
	w.orphan()
	w.next()
	w.wantInFlight("r-2")
	if got := w.executing("r-1"); got != GoOn {
		t.Errorf("told %v", got)
	}
	w.wantInFlight("r-1")
	w.report("r-1", success)
	w.wantInFlight("r-2")
}

func TestAnotherMemoryMakesTheOutcomeOfWhatWasDeliveredUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*world)
		decide  string
	}{
		"in flight":    {func(*world) {}, "r-1"},
		"queued again": {func(w *world) { w.orphan() }, "r-1"},
		"pausing":      {func(w *world) { w.pause() }, "r-1"},
		"replaced by a resume in flight": {func(w *world) {
			w.giveUp()
			w.resume(ResumeCommand{})
		}, "r-1_resume"},
		"replaced by a resume in the queue": {func(w *world) {
			w.giveUp()
			events, _ := w.r.DecideResume(ResumeCommand{})
			w.apply(events...)
		}, "r-1_resume"},
	} {
		t.Run(name, func(t *testing.T) {
			w := running(t, click, click)
			c.prepare(w)
			w.apply(w.r.DecideOtherMemory("spool2")...)
			w.wantPaused("outcome_unknown", c.decide)
			w.wantState(c.decide, ActionNeedsHelp)
			w.wantInFlight("")
			if v := w.report("r-1", success); v != Duplicate {
				t.Errorf("a report from the old memory: %v", v)
			}
			if events := w.r.DecideOtherMemory("spool2"); len(events) != 0 {
				t.Errorf("a second time: %v", events)
			}
		})
	}
}

func TestAnotherMemoryLeavesThePauseOfAPausedAction(t *testing.T) {
	w := running(t, click)
	w.giveUp()
	id := w.r.Pause.ID
	w.apply(w.r.DecideOtherMemory("spool2")...)
	w.wantPaused("orphan_max_resends", "r-1")
	if w.r.Pause.ID != id {
		t.Error("it was paused again")
	}
	if v := w.report("r-1", success); v != Duplicate {
		t.Errorf("its late report: %v", v)
	}
}

func TestAnotherMemoryRedeliversWhatIsSafeToRunTwice(t *testing.T) {
	w := running(t, focus)
	w.apply(w.r.DecideOtherMemory("spool2")...)
	w.apply(w.r.DecideReconnect(Session{BootID: "boot2"}, Reconnect, policy, false)...)
	w.wantReplay(Running)
	w.apply(w.r.DecideNext(&Session{ID: "s2", SpoolID: "spool2", BootID: "boot2"})...)
	w.wantInFlight("r-1")
	rep := success
	rep.SpoolID = "spool2"
	if v := w.report("r-1", rep); v != Accepted {
		t.Errorf("its report: %v", v)
	}
}

func TestAnotherMemoryMatchesTheSameOneNever(t *testing.T) {
	w := running(t, click)
	if events := w.r.DecideOtherMemory("spool1"); len(events) != 0 {
		t.Errorf("the same memory: %v", events)
	}
	w.report("r-1", success)
	w = running(t, click, click)
	w.report("r-1", success)
	w.take("r-2", success)
	if events := w.r.DecideOtherMemory("spool2"); len(events) != 0 {
		t.Errorf("all is settled: %v", events)
	}
}

// Both had been delivered to the lost memory. The person is asked about each.
func TestAnotherMemoryAsksAboutEachActionThatIsOpen(t *testing.T) {
	w := running(t, click, click, click)
	w.policy.RequeueAtTail = true
	w.orphan()
	w.next()
	w.wantInFlight("r-2")
	w.apply(w.r.DecideOtherMemory("spool2")...)
	w.wantPaused("outcome_unknown", "r-1")
	w.resume(ResumeCommand{Skip: true})
	w.wantPaused("outcome_unknown", "r-2")
	w.resume(ResumeCommand{})
	w.wantInFlight("r-2_resume")
}

func TestTheServerExpectsWhatItWillStillAskFor(t *testing.T) {
	w := running(t, click, click)
	want := map[string]bool{"r-1": true, "r-2": false, "r-9": false}
	for id, want := range want {
		if got := w.r.Expects(id); got != want {
			t.Errorf("%s is expected: %v", id, got)
		}
	}
	w.giveUp()
	w.resume(ResumeCommand{})
	if !w.r.Expects("r-1") || !w.r.Expects("r-1_resume") {
		t.Error("an older id that may answer its resume is not expected")
	}
	w.report("r-1_resume", success)
	if w.r.Expects("r-1") || w.r.Expects("r-1_resume") {
		t.Error("a settled step is still expected")
	}
	w.report("r-2", success)
	if w.r.Expects("r-2") {
		t.Error("an ended replay expects something")
	}
}

func TestAnEventThatDoesNotFitIsAnErrorAndNoPanic(t *testing.T) {
	inFlight, queued := running(t, click), begin(t, click)
	for name, c := range map[string]struct {
		w  *world
		ev Event
	}{
		"created twice":                  {queued, Created{}},
		"an unknown action":              {queued, GaveUp{ActionID: "x"}},
		"dispatched before it started":   {queued, Dispatched{ActionID: "r-1"}},
		"dispatched twice":               {inFlight, Dispatched{ActionID: "r-1"}},
		"queued again while it is":       {queued, Requeued{ActionID: "r-1"}},
		"resumed while it runs":          {inFlight, Resumed{From: -1}},
		"a report taken in no known way": {inFlight, Reported{ActionID: "r-1"}},
		"no event at all":                {inFlight, nil},
	} {
		if err := c.w.r.ApplyEvent("r", c.ev, began); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (&Replay{}).ApplyEvent("r", Started{}, began); err == nil {
		t.Error("started before it was created: no error")
	}
	if _, err := Fold([]Record{{ReplayID: "r", Seq: 2}}); err == nil {
		t.Error("a gap in the records: no error")
	}
	if diff := cmp.Diff("UNKNOWN", State(99).String()); diff != "" {
		t.Error(diff)
	}
}
