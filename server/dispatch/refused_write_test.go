package dispatch

import (
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// refused takes a step whose write fails.
func (w *world) refused(f func()) {
	w.t.Helper()
	w.fail = true
	f()
	if w.fail {
		w.t.Fatalf("the step wrote nothing")
	}
	if len(w.sent) != 0 {
		w.t.Fatalf("sent %v though nothing is durable", w.sent)
	}
}

func TestAReportThatWasNotWrittenIsNotAnswered(t *testing.T) {
	w := started(t, click, click)
	w.refused(func() { w.report("s1", "r-1", success) })
	w.wantInFlight("r-1")
	w.report("s1", "r-1", success)
	w.wantVerdict(replay.Accepted)
	w.wantInFlight("r-2")
}

func TestACommandThatWasNotWrittenIsRefused(t *testing.T) {
	w := started(t, click)
	for _, command := range []func(string){w.pause, w.cancel, func(string) { w.submit("q", click) }} {
		w.refused(func() { command("r") })
		if a := w.answered[len(w.answered)-1]; a.Err == nil {
			t.Error("answered as if it were durable")
		}
	}
	w.wantState("r", replay.Running, "")
	w.checkMemory(1)
}

// A replay that ends in the step that creates it, and whose record is refused, was
// never there: the same request, made again, ends it again.
func TestAReplayThatWasNotWrittenDoesNotCountAsEnded(t *testing.T) {
	w := newWorld(t, config())
	w.open("s1", "boot", "spool")
	create := func() { w.create("r", replay.Created{Unattended: true, Steps: steps(human)}) }
	w.refused(create)
	w.report("s1", "r-1", success)
	w.wantVerdict(replay.UnknownAction)
	create()
	w.wantState("r", replay.Completed, "")
}

func TestAGraceThatWasNotWrittenRunsAgain(t *testing.T) {
	w := started(t, click)
	w.do(Closed{SessionID: "s1"})
	w.refused(func() { w.pass(90 * time.Second) })
	w.pass(time.Second)
	w.wantState("r", replay.Paused, "dead_client")
}

func TestAGiveUpThatWasNotWrittenCountsOnce(t *testing.T) {
	w := started(t, scroll, click)
	w.m.cfg.Policy.MaxResends = 0
	w.refused(func() { w.orphaned("s1") })
	w.pass(30 * time.Second)
	w.wantInFlight("r-2") // and no dead agent
}

func TestADeafAgentsStreamIsClosedOnlyOnceThatIsWritten(t *testing.T) {
	w := started(t, click)
	w.pass(5 * time.Second)
	w.refused(func() { w.pass(5 * time.Second) })
	if w.m.Status().SessionID != "s1" {
		t.Fatal("the machine takes its agent to be away, though the stream is open")
	}
	w.wantInFlight("r-1")
	w.report("s1", "r-1", success)
	w.wantState("r", replay.Completed, "")
}

func TestAnOpeningThatWasNotWrittenLeavesNoSession(t *testing.T) {
	w := started(t, click)
	w.refused(func() { w.open("s2", "boot", "spool") })
	if got := w.m.Status().SessionID; got != "" {
		t.Fatalf("the machine is held by %q", got)
	}
	w.submit("q", click)
	w.pass(time.Minute) // nothing goes to a stream that had no welcome
	w.open("s3", "boot", "spool")
	w.wantInFlight("r-1")
}

// What the agent said of itself stays so, written or not.
func TestWhatTheAgentSaidOutlivesARefusedWrite(t *testing.T) {
	w := started(t, click)
	w.refused(func() { w.report("s1", "r-1", noDesktop) })
	w.orphaned("s1") // the report never counted, so its action is still in flight
	w.wantInFlight("")
	w.refused(func() { w.do(Desktop{SessionID: "s1", Usable: true}) })
	w.pass(time.Second)
	w.wantInFlight("r-1")
}

func TestAMachineThatCannotBeReadHearsWhatNeedsNoWriting(t *testing.T) {
	w := started(t, click)
	w.m.Hear(w.now, Desktop{SessionID: "s1"})
	w.m.Hear(w.now, Closed{SessionID: "s1"})
	w.m.Hear(w.now, Drain{})
	w.m.Hear(w.now, Report{Result: Result{Ref: Ref{ActionID: "r-1"}, Report: success}})
	w.m.Reset(w.live())
	if w.m.session != nil || !w.m.draining {
		t.Error("it has forgotten that the agent is away, or that it drains")
	}
	w.wantInFlight("r-1")
}
