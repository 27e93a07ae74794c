package dispatch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/server/replay"
)

// hello is what an agent with a stored result, or an action in its hands, says.
func hello(session, boot, spool string, change func(*Open)) Open {
	in := Open{Session: Session{Session: replay.Session{ID: session, BootID: boot, SpoolID: spool}, Usable: true}}
	change(&in)
	return in
}

func (w *world) welcome() Welcome {
	w.t.Helper()
	if len(w.sent) == 0 {
		w.t.Fatalf("nothing was sent")
	}
	first, ok := w.sent[0].(Welcome)
	if !ok {
		w.t.Fatalf("the first thing sent is %T, want a welcome", w.sent[0])
	}
	return first
}

func TestAStoredResultIsTakenBeforeAnythingIsDispatched(t *testing.T) {
	w := started(t, click, click)
	w.do(Closed{SessionID: "s1"})
	before := len(w.journal["r"])
	w.do(hello("s2", "boot2", "spool", func(in *Open) {
		in.Results = []Result{{Ref: Ref{ActionID: "r-1"}, Report: success}, {Ref: Ref{ActionID: "r-1"}, Report: success}, {Ref: Ref{ActionID: "x-1"}}}
	}))
	want := []replay.Verdict{replay.Accepted, replay.Duplicate, replay.UnknownAction}
	if diff := cmp.Diff(want, w.welcome().Verdicts); diff != "" {
		t.Error(diff)
	}
	w.wantInFlight("r-2")
	if got := len(w.journal["r"]) - before; got != 1 {
		t.Errorf("%d records, want 1: all that the hello changed and the dispatch that follows", got)
	}
	if r := w.fold("r"); r.Find("r-1").Resent != 0 {
		t.Error("a resend was spent")
	}
}

// Two agents of one machine, by turns: what the first is still executing went to the
// second meanwhile. Nobody waits for it there, so it goes out again.
func TestWhatAnEarlierAgentStillExecutesIsDeliveredAgain(t *testing.T) {
	w := started(t, focus)
	w.open("s2", "twin", "spool2")
	w.wantInFlight("r-1")
	w.do(hello("s3", "boot", "spool", func(in *Open) { in.Executing = &Ref{ActionID: "r-1", AttemptID: "r-1.1"} }))
	if d := sentOf[Deliver](w); w.welcome().Executing != replay.Stop || len(d) != 1 || d[0].Delivery.AttemptID != "r-1.3" {
		t.Fatalf("sent %v, want a third attempt", w.sent)
	}
	w.pass(5 * time.Second)
	if d := sentOf[Deliver](w); len(d) != 1 || d[0].Delivery.Reason != replay.NotReceived {
		t.Errorf("sent %v, want another one: the third was not received", w.sent)
	}
	w.report("s3", "r-1", replay.Report{Success: true, SpoolID: "spool"})
	w.wantState("r", replay.Completed, "")
}

func TestWhatTheAgentExecutesIsNotDeliveredAgain(t *testing.T) {
	w := started(t, click)
	w.do(Closed{SessionID: "s1"})
	w.do(hello("s2", "boot", "spool", func(in *Open) { in.Executing = &Ref{ActionID: "r-1", AttemptID: "r-1.1"} }))
	if w.welcome().Executing != replay.GoOn || len(sentOf[Deliver](w)) != 0 {
		t.Errorf("sent %v", w.sent)
	}
	w.pass(30*time.Second - 1) // its receipt is not waited for
	w.wantInFlight("r-1")
	w.pass(1)
	if d := sentOf[Deliver](w); len(d) != 1 || d[0].Delivery.Reason != replay.OrphanTimeout {
		t.Errorf("sent %v, want a redelivery after the orphan timeout", w.sent)
	}
}

func TestWhatTheAgentExecutesWhilePausedCountsAsDispatched(t *testing.T) {
	w := started(t, click, click)
	w.do(Closed{SessionID: "s1"})
	w.pass(90 * time.Second)
	w.wantState("r", replay.Paused, "dead_client")
	w.do(hello("s2", "boot", "spool", func(in *Open) { in.Executing = &Ref{ActionID: "r-1", AttemptID: "r-1.1"} }))
	if w.welcome().Executing != replay.GoOn || len(sentOf[ShowPause](w)) != 1 {
		t.Errorf("sent %v", w.sent)
	}
	w.wantInFlight("r-1")
	w.report("s2", "r-1", success)
	w.wantState("r", replay.Paused, "dead_client")
	w.resume("r", replay.ResumeCommand{})
	w.wantInFlight("r-2")
}

func TestACancelWhileTheAgentWasAwayStopsWhatItExecutes(t *testing.T) {
	w := started(t, click)
	w.do(Closed{SessionID: "s1"})
	w.cancel("r")
	w.do(hello("s2", "boot", "spool", func(in *Open) { in.Executing = &Ref{ActionID: "r-1"} }))
	if got := w.welcome().Executing; got != replay.Stop {
		t.Errorf("told %v, want to stop", got)
	}
	w.report("s2", "r-1", interrupts)
	w.wantVerdict(replay.NoActiveReplay)
}

func TestAnAgentWithAnotherMemoryIsNotLetGoOn(t *testing.T) {
	w := started(t, click)
	w.do(hello("s2", "boot2", "spool2", func(in *Open) { in.Executing = &Ref{ActionID: "r-1"} }))
	if got := w.welcome().Executing; got != replay.Stop {
		t.Errorf("told %v, want to stop", got)
	}
	w.wantState("r", replay.Paused, "outcome_unknown")
}

func TestTheServerClosesWhatItWillNotAskForAgain(t *testing.T) {
	w := started(t, click, click)
	w.report("s1", "r-1", success)
	w.do(hello("s2", "boot2", "spool", func(in *Open) {
		in.Unfinished = []Ref{{ActionID: "r-1"}, {ActionID: "r-2"}, {ActionID: "gone-1"}}
	}))
	if diff := cmp.Diff([]string{"r-1", "gone-1"}, w.welcome().Closed); diff != "" {
		t.Error(diff)
	}
	if d := sentOf[Deliver](w); len(d) != 1 || d[0].Delivery.ActionID != "r-2" || d[0].Delivery.Resent != 1 {
		t.Errorf("sent %v", d)
	}
}

func TestAPauseIsToldAtEveryOpening(t *testing.T) {
	w := newWorld(t, config())
	w.submit("r", human)
	var id string
	for _, session := range []string{"s1", "s2", "s3"} {
		w.open(session, "boot", "spool")
		p := sentOf[ShowPause](w)
		if len(p) != 1 || p[0].SessionID != session || id != "" && p[0].Pause.ID != id {
			t.Fatalf("sent %v, want the same pause", p)
		}
		id = p[0].Pause.ID
	}
}

func TestAnOlderStreamsEndChangesNothing(t *testing.T) {
	w := started(t, click)
	w.open("s2", "boot", "spool")
	w.do(Closed{SessionID: "s1"})
	if w.m.Status().SessionID != "s2" {
		t.Errorf("the machine is held by %q", w.m.Status().SessionID)
	}
	w.report("s1", "r-1", success) // a report counts from any stream
	w.wantVerdict(replay.Accepted)
	w.wantState("r", replay.Completed, "")
}

func TestARestartDeliversWhatWasInFlightAgain(t *testing.T) {
	w := started(t, click, click)
	w.restart()
	w.wantInFlight("r-1")
	w.open("s2", "boot", "spool")
	d := sentOf[Deliver](w)
	if len(d) != 1 || d[0].Delivery.Reason != replay.ServerRestart || d[0].Delivery.AttemptID != "r-1.2" || d[0].Delivery.Resent != 0 {
		t.Errorf("sent %v", d)
	}
	w.checkMemory(1)
}

func TestAResumedActionNamesWhatItReplaces(t *testing.T) {
	w := started(t, click)
	w.m.cfg.Policy.MaxResends = 0
	w.orphaned("s1")
	w.resume("r", replay.ResumeCommand{Position: &replay.Point{X: 0.5}})
	d := sentOf[Deliver](w)
	if len(d) != 1 || d[0].Delivery.ActionID != "r-1_resume" || d[0].Delivery.Correction == nil {
		t.Fatalf("sent %v", d)
	}
	if diff := cmp.Diff([]string{"r-1"}, d[0].Delivery.Replaces); diff != "" {
		t.Error(diff)
	}
}
