package dispatch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

var (
	success    = replay.Report{Success: true, Completion: replay.CompletionCompleted, SpoolID: "spool"}
	notFound   = replay.Report{Code: replay.CodeTargetNotFound, Completion: replay.CompletionNotStarted, SpoolID: "spool"}
	noDesktop  = replay.Report{Code: replay.CodeDesktopUnavailable, Completion: replay.CompletionNotStarted, SpoolID: "spool"}
	interrupts = replay.Report{Code: replay.CodeInterrupted, Completion: replay.CompletionUnknown, SpoolID: "spool"}
)

// started is a machine whose agent has the first action of the replay "r".
func started(t *testing.T, list ...replay.Step) *world {
	t.Helper()
	w := newWorld(t, config())
	w.submit("r", list...)
	w.open("s1", "boot", "spool")
	w.wantInFlight("r-1")
	return w
}

// orphaned lets the agent confirm the action in flight and then say no more.
func (w *world) orphaned(session string) {
	w.t.Helper()
	w.do(Progress{SessionID: session, ActionID: w.inFlight(), Phase: pending.Executing})
	w.pass(30 * time.Second)
}

// wantVerdict checks how the last report was answered.
func (w *world) wantVerdict(want replay.Verdict) {
	w.t.Helper()
	acks := sentOf[Ack](w)
	if len(acks) != 1 || acks[0].Verdict != want {
		w.t.Fatalf("answered %v, want %v", acks, want)
	}
}

func TestAReportIsAnsweredInOneRecordWithTheDispatchThatFollows(t *testing.T) {
	w := started(t, click, click)
	before := len(w.journal["r"])
	w.report("s1", "r-1", success)
	w.wantVerdict(replay.Accepted)
	if d := sentOf[Deliver](w); len(d) != 1 || d[0].Delivery.ActionID != "r-2" {
		t.Errorf("sent %v, want r-2", d)
	}
	if got := len(w.journal["r"]) - before; got != 1 {
		t.Errorf("%d records, want 1", got)
	}
}

func TestAMissedReceiptIsRedeliveredAtOnceAndTheSecondClosesTheStream(t *testing.T) {
	w := started(t, click)
	w.pass(5*time.Second - 1)
	if len(w.sent) != 0 {
		t.Fatalf("early: %v", w.sent)
	}
	w.pass(1)
	if d := sentOf[Deliver](w); len(d) != 1 || d[0].Delivery.Reason != replay.NotReceived || d[0].Delivery.Resent != 0 {
		t.Fatalf("sent %v, want one redelivery with no resend spent", d)
	}
	w.pass(5 * time.Second)
	if c := sentOf[CloseSession](w); len(c) != 1 || c[0].SessionID != "s1" {
		t.Fatalf("sent %v, want the stream closed", w.sent)
	}
	w.wantInFlight("")
	w.open("s2", "boot", "spool")
	w.wantInFlight("r-1")
}

func TestAnAgentThatAnswersIsNotDeaf(t *testing.T) {
	for name, answer := range map[string]func(*world){
		"with progress": func(w *world) {
			w.do(Progress{SessionID: "s1", ActionID: "r-1", Phase: pending.Received})
			w.orphaned("s1")
		},
		"with a locked desktop":    func(w *world) { w.report("s1", "r-1", noDesktop); w.do(Desktop{SessionID: "s1", Usable: true}) },
		"with an unknown report":   func(w *world) { w.report("s1", "r-9", success) },
		"with a report it retries": func(w *world) { w.report("s1", "r-1", notFound) },
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, click)
			w.pass(5 * time.Second)
			answer(w)
			w.pass(5 * time.Second)
			if c := sentOf[CloseSession](w); len(c) != 0 {
				t.Error("its stream was closed")
			}
		})
	}
}

func TestProgressMovesTheDeadline(t *testing.T) {
	w := started(t, click)
	for range 5 {
		w.now = w.now.Add(29 * time.Second)
		w.do(Progress{SessionID: "s1", ActionID: "r-1", Phase: pending.Executing})
		if c := sentOf[Changed](w); len(c) != 1 || c[0].View.Actions[0].Phase != pending.Executing {
			t.Fatalf("the watchers got %v", c)
		}
	}
	w.do(Progress{SessionID: "s0", ActionID: "r-1", Phase: pending.Executing}) // of an older stream
	w.pass(30*time.Second - 1)
	if len(w.sent) != 0 {
		t.Fatalf("early: %v", w.sent)
	}
	w.pass(1)
	if n := sentOf[Note](w); len(n) < 1 || n[0].Kind != NoteOrphanResent || n[0].Resent != 1 || n[0].Max != 2 || n[0].Session != "s1" {
		t.Errorf("noted %v", n)
	}
}

func TestDeadlinesStandStillWhileTheAgentIsAway(t *testing.T) {
	w := started(t, click)
	w.do(Closed{SessionID: "s1"})
	w.pass(80 * time.Second)
	w.wantInFlight("r-1")
	w.open("s2", "boot", "spool")
	if d := sentOf[Deliver](w); len(d) != 1 || d[0].Delivery.Resent != 0 || d[0].Delivery.Reason != replay.Reconnect {
		t.Errorf("sent %v", d)
	}
}

func TestAnAgentAwayPastTheGracePausesItsReplay(t *testing.T) {
	w := started(t, click)
	w.do(Closed{SessionID: "s1"})
	if at, ok := w.m.Next(); !ok || !at.Equal(w.now.Add(90*time.Second)) {
		t.Fatalf("the machine wakes at %v, %v", at, ok)
	}
	w.pass(90 * time.Second)
	w.wantState("r", replay.Paused, "dead_client")
}

func TestAResumeWhileTheAgentIsAwayStartsTheGraceAnew(t *testing.T) {
	w := started(t, click)
	w.do(Closed{SessionID: "s1"})
	w.pass(90 * time.Second)
	w.resume("r", replay.ResumeCommand{})
	w.wantState("r", replay.Running, "")
	w.pass(90*time.Second - 1)
	w.wantState("r", replay.Running, "")
	w.pass(1)
	w.wantState("r", replay.Paused, "dead_client")
}

func TestGiveUpsWithNoReportBetweenAreADeadAgent(t *testing.T) {
	w := started(t, scroll, scroll, click)
	w.m.cfg.Policy.MaxResends = 0
	w.orphaned("s1")
	w.wantInFlight("r-2")
	w.orphaned("s1")
	w.wantState("r", replay.Paused, "dead_client")
	found := false
	for _, n := range sentOf[Note](w) {
		found = found || n.Kind == NoteDeadClient && n.Count == 2 && n.Age == 5*time.Minute && n.Session == "s1"
	}
	if !found {
		t.Errorf("noted %v", sentOf[Note](w))
	}
}

func TestGiveUpsCountAcrossTheStreamsOfAMachine(t *testing.T) {
	w := started(t, scroll, scroll, click)
	w.m.cfg.Policy.MaxResends = 0
	w.open("s2", "boot2", "spool") // the process died with the action
	w.wantInFlight("r-2")
	w.open("s3", "boot3", "spool")
	w.wantState("r", replay.Paused, "dead_client")
}

func TestAReportOrTimeBetweenGiveUpsIsNoDeadAgent(t *testing.T) {
	for name, between := range map[string]func(*world){
		"a late report":      func(w *world) { w.report("s1", "r-1", success) },
		"an unknown report":  func(w *world) { w.report("s1", "x", success) },
		"more than a window": func(w *world) { w.now = w.now.Add(5*time.Minute + 1) },
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, scroll, scroll, click)
			w.m.cfg.Policy.MaxResends = 0
			w.orphaned("s1")
			between(w)
			w.orphaned("s1")
			w.wantInFlight("r-3")
		})
	}
}

func TestALockedDesktopIsNotDispatchedTo(t *testing.T) {
	w := started(t, click)
	w.report("s1", "r-1", noDesktop)
	w.wantVerdict(replay.Accepted)
	w.wantInFlight("")
	w.pass(time.Hour)
	w.wantState("r", replay.Running, "")
	w.do(Desktop{SessionID: "s0", Usable: true}) // of an older stream
	w.wantInFlight("")
	w.do(Desktop{SessionID: "s1", Usable: true})
	w.wantInFlight("r-1")
	if d := sentOf[Deliver](w); d[0].Delivery.Reason != replay.DesktopUnavailable || d[0].Delivery.Resent != 0 {
		t.Errorf("sent %v", d)
	}
}

func TestADrainingMachineDispatchesNothingAndSettlesWhatIsInFlight(t *testing.T) {
	w := started(t, click, click)
	w.do(Drain{})
	w.pass(time.Minute)
	w.wantInFlight("r-1")
	w.report("s1", "r-1", success)
	w.wantVerdict(replay.Accepted)
	w.wantInFlight("")
}

func TestTheWatchersAreToldWhenTheAgentComesAndGoes(t *testing.T) {
	w := started(t, click)
	w.do(Closed{SessionID: "s1"})
	if c := sentOf[Changed](w); len(c) != 1 || !c[0].View.AgentAway {
		t.Errorf("told %v", c)
	}
	w.do(Closed{SessionID: "s1"})
	if len(w.sent) != 0 {
		t.Errorf("told again: %v", w.sent)
	}
	w.open("s2", "boot", "spool")
	c := sentOf[Changed](w)
	if len(c) == 0 || c[len(c)-1].View.AgentAway {
		t.Errorf("told %v", c)
	}
}

// Deadlines fire when they are due, so a sweep itself finds next to nothing: it
// tells what they led to since the one before, once, and nothing of a step that was
// not written.
func TestASweepTellsWhatDeadlinesLedToSinceTheOneBefore(t *testing.T) {
	w := started(t, scroll, click)
	w.do(Progress{SessionID: "s1", ActionID: "r-1", Phase: pending.Received})
	w.now = w.now.Add(30 * time.Second)
	w.fail = true
	w.do(Tick{})
	w.fail = false
	w.do(Progress{SessionID: "s1", ActionID: "r-1", Phase: pending.Received})
	w.now = w.now.Add(30 * time.Second)
	w.do(Tick{})
	for _, want := range []Swept{{Orphans: 1, Resent: 1, InFlight: 1}, {InFlight: 1}} {
		w.do(Sweep{})
		if diff := cmp.Diff([]Swept{want}, sentOf[Swept](w)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestASweepSaysWhatItFound(t *testing.T) {
	w := started(t, scroll, click)
	w.m.cfg.Policy.MaxResends = 0
	w.do(Progress{SessionID: "s1", ActionID: "r-1", Phase: pending.Received})
	w.now = w.now.Add(30 * time.Second)
	w.do(Sweep{})
	want := []Swept{{Orphans: 1, GaveUp: 1, InFlight: 1}}
	if diff := cmp.Diff(want, sentOf[Swept](w)); diff != "" {
		t.Error(diff)
	}
}
