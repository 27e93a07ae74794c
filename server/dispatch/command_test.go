package dispatch

import (
	"slices"
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

func TestACancelPurgesAndAsksTheAgentToStop(t *testing.T) {
	w := started(t, click)
	w.submit("q", click)
	w.cancel("r")
	if c := sentOf[CancelAction](w); len(c) != 1 || c[0].ReplayID != "r" || c[0].ActionID != "r-1" {
		t.Errorf("sent %v", c)
	}
	w.wantInFlight("q-1")
	w.report("s1", "r-1", interrupts)
	w.wantVerdict(replay.NoActiveReplay)
	w.do(Forget{ReplayIDs: []string{"r"}})
	w.report("s1", "r-1", interrupts)
	w.wantVerdict(replay.UnknownAction)
	w.checkMemory(1)
}

// checkMemory checks that a machine holds what is live and nothing else.
func (w *world) checkMemory(live int) {
	w.t.Helper()
	if len(w.m.live) != live || w.m.pending.Len() > 1 || len(w.m.fromRecovery) > 1 {
		w.t.Fatalf("%d live, %d pending, %d recovered; want %d live", len(w.m.live), w.m.pending.Len(), len(w.m.fromRecovery), live)
	}
}

func TestAReplayThatIsCancelledWhileItWaitsIsDroppedAtOnce(t *testing.T) {
	w := started(t, click)
	w.submit("q", click)
	w.cancel("q")
	w.checkMemory(1)
	if c := sentOf[CancelAction](w); len(c) != 0 {
		t.Errorf("the agent was asked to stop: %v", c)
	}
	w.wantInFlight("r-1")
}

func TestThePauseOfAWaitingReplayIsShownWhenItsTurnComes(t *testing.T) {
	w := started(t, click)
	w.submit("q", click)
	w.pause("q")
	if p := sentOf[ShowPause](w); len(p) != 0 {
		t.Errorf("shown over the running replay: %v", p)
	}
	w.open("s2", "boot", "spool")
	if p := sentOf[ShowPause](w); len(p) != 0 {
		t.Errorf("shown over the running replay: %v", p)
	}
	w.report("s2", "r-1", success)
	if p := sentOf[ShowPause](w); len(p) != 1 || p[0].ReplayID != "q" {
		t.Errorf("sent %v, want the pause of q", p)
	}
	w.resume("q", replay.ResumeCommand{})
	if p := sentOf[EndPause](w); len(p) != 1 || p[0].ReplayID != "q" {
		t.Errorf("sent %v, want the end of that pause", p)
	}
	w.wantInFlight("q-1")
}

func TestAReplayThatFailsStopsWhatElseIsInFlight(t *testing.T) {
	w := newWorld(t, config())
	w.cfg.Policy.RequeueAtTail = true
	w.m.cfg.Policy.RequeueAtTail = true
	strict := click
	strict.FailExhausted, strict.MaxRetries = true, 0
	w.submit("r", strict, click)
	w.open("s1", "boot", "spool")
	w.orphaned("s1")
	w.wantInFlight("r-2")
	w.report("s1", "r-1", notFound)
	w.wantState("r", replay.Failed, "")
	if c := sentOf[CancelAction](w); len(c) != 1 || c[0].ActionID != "r-2" {
		t.Errorf("sent %v", c)
	}
}

// What was given up may still wait at the agent. It must not be carried out behind a
// later step, or after a person has seen to it; while somebody waits for it, it may.
func TestWhatNobodyWaitsForAnyMoreIsWithdrawn(t *testing.T) {
	careless, strict := scroll, click
	careless.OnGiveUp, strict.OnGiveUp = replay.GiveUpContinue, replay.GiveUpFail
	giveUp := func(list ...replay.Step) *world {
		w := newWorld(t, config())
		w.m.cfg.Policy.MaxResends = 0
		w.submit("r", list...)
		w.open("s1", "boot", "spool")
		w.orphaned("s1")
		return w
	}
	withdrawn := func(w *world, want ...CancelAction) {
		t.Helper()
		if c := sentOf[CancelAction](w); !slices.Equal(c, want) {
			t.Errorf("withdrawn: %v, want %v", c, want)
		}
	}
	first := CancelAction{SessionID: "s1", ReplayID: "r", ActionID: "r-1"}

	w := giveUp(careless, click)
	w.wantInFlight("r-2")
	withdrawn(w, first)
	w = giveUp(careless)
	w.wantState("r", replay.Completed, "")
	withdrawn(w, first)
	w = giveUp(careless, human)
	w.wantState("r", replay.Paused, "user_request")
	withdrawn(w, first)
	w = giveUp(strict)
	w.wantState("r", replay.Failed, "")
	withdrawn(w, first)

	w = giveUp(click, click)
	w.wantState("r", replay.Paused, "orphan_max_resends")
	withdrawn(w)
	w.resume("r", replay.ResumeCommand{Skip: true})
	w.wantInFlight("r-2")
	withdrawn(w, first)
	w = giveUp(click, click)
	w.resume("r", replay.ResumeCommand{From: "r-2"})
	w.wantInFlight("r-2")
	withdrawn(w, first)
	w = giveUp(click, click)
	w.resume("r", replay.ResumeCommand{}) // the new one names the old one
	w.wantInFlight("r-1_resume")
	withdrawn(w)
	w = giveUp(click, click)
	w.report("s1", "r-1", success) // settled, if late
	w.resume("r", replay.ResumeCommand{})
	w.wantInFlight("r-2")
	withdrawn(w)
}

// A caller waits for the journal and for nothing else: not for what a delivery may
// wait for.
func TestWhoeverAsksIsAnsweredBeforeAnythingElseLeaves(t *testing.T) {
	w := newWorld(t, config())
	w.open("s1", "boot", "spool")
	w.submit("r", click)
	w.wantAnswerFirst()
	w.pause("r")
	w.report("s1", "r-1", notFound)
	w.resume("r", replay.ResumeCommand{})
	w.wantAnswerFirst()
	if count[Deliver](w.sent) != 1 {
		t.Errorf("the resume sent %v, want a delivery behind the answer", w.sent)
	}
}

func (w *world) wantAnswerFirst() {
	w.t.Helper()
	if len(w.sent) == 0 {
		w.t.Fatalf("nothing was sent")
	}
	if _, ok := w.sent[0].(Answer); !ok {
		w.t.Fatalf("%T left first, want the answer", w.sent[0])
	}
}
