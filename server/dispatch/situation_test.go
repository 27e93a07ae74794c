package dispatch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// wantSituation checks what holds a replay up; the views are checked apart.
func (w *world) wantSituation(t *testing.T, replayID string, want Situation) *Situation {
	t.Helper()
	s := w.m.situation(w.now, replayID)
	if s == nil {
		t.Fatalf("the machine does not hold %s", replayID)
	}
	if diff := cmp.Diff(want, *s, cmpopts.IgnoreFields(Situation{}, "View", "Ahead")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", replayID, diff)
	}
	if s.View.Head.ReplayID != replayID || len(s.View.Actions) != 0 {
		t.Errorf("it shows %s with %d actions", s.View.Head.ReplayID, len(s.View.Actions))
	}
	return s
}

func TestWhatHoldsAReplayUp(t *testing.T) {
	sent := InFlight{ReplayID: "r", ActionID: "r-1", Kind: "click", Since: began, Phase: pending.Sent, Deliveries: 1}
	with := func(change func(*InFlight)) *InFlight {
		f := sent
		change(&f)
		return &f
	}
	for name, c := range map[string]struct {
		prepare func(*world)
		want    Situation
	}{
		"it was sent and its receipt is waited for": {
			func(w *world) { w.pass(2 * time.Second) },
			Situation{SessionID: "s1", Usable: true, InFlight: with(func(f *InFlight) { f.Deadline, f.DueIn = pending.Receipt, 3*time.Second })},
		},
		"the agent is at it": {
			func(w *world) {
				w.do(Progress{SessionID: "s1", ActionID: "r-1", Phase: pending.Executing, Doing: "looking"})
				w.pass(10 * time.Second)
			},
			Situation{SessionID: "s1", Usable: true, InFlight: with(func(f *InFlight) {
				f.Phase, f.Doing, f.Deadline, f.DueIn = pending.Executing, "looking", pending.Orphan, 20*time.Second
			})},
		},
		"it was sent again": {
			func(w *world) { w.orphaned("s1"); w.pass(time.Second) },
			Situation{SessionID: "s1", Usable: true, InFlight: with(func(f *InFlight) {
				f.Since, f.Deliveries, f.Resent, f.Deadline, f.DueIn = began.Add(30*time.Second), 2, 1, pending.Receipt, 4*time.Second
			})},
		},
		"the agent is away and the grace runs": {
			func(w *world) { w.do(Closed{SessionID: "s1"}); w.pass(30 * time.Second) },
			Situation{AwaySince: began, PausesIn: time.Minute, Usable: true, InFlight: &sent},
		},
		"the grace is over and is acted on at any moment": {
			func(w *world) { w.do(Closed{SessionID: "s1"}); w.now = w.now.Add(time.Hour) },
			Situation{AwaySince: began, PausesIn: 1, Usable: true, InFlight: &sent},
		},
		"the grace was acted on": {
			func(w *world) { w.do(Closed{SessionID: "s1"}); w.pass(90 * time.Second) },
			Situation{AwaySince: began, Usable: true},
		},
		"it is paused and the agent is away": {
			func(w *world) { w.pause("r"); w.do(Closed{SessionID: "s1"}) },
			Situation{AwaySince: began, Usable: true, InFlight: &sent},
		},
		"the desktop cannot take input": {
			func(w *world) { w.report("s1", "r-1", noDesktop) },
			Situation{SessionID: "s1"},
		},
		"the server goes away": {
			func(w *world) { w.do(Drain{}) },
			Situation{SessionID: "s1", Usable: true, Draining: true, InFlight: &sent},
		},
		"an older stream has ended": {
			func(w *world) { w.do(Closed{SessionID: "s0"}) },
			Situation{SessionID: "s1", Usable: true, InFlight: with(func(f *InFlight) { f.Deadline, f.DueIn = pending.Receipt, 5*time.Second })},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, click)
			c.prepare(w)
			if s := w.wantSituation(t, "r", c.want); len(s.Ahead) != 0 {
				t.Errorf("ahead are %v", s.Ahead)
			}
		})
	}
}

func TestWithTheWatchdogOffNoDeadlineIsShown(t *testing.T) {
	cfg := config()
	cfg.Timeouts.Off = true
	w := newWorld(t, cfg)
	w.submit("r", click)
	w.open("s1", "boot", "spool")
	w.pass(time.Hour)
	w.wantSituation(t, "r", Situation{SessionID: "s1", Usable: true, InFlight: &InFlight{
		ReplayID: "r", ActionID: "r-1", Kind: "click", Since: began, Phase: pending.Sent, Deliveries: 1,
	}})
}

func TestAReplayThatWaitsShowsWhatHoldsUpTheOneThatHoldsTheMachine(t *testing.T) {
	w := started(t, click, click)
	w.submit("p", click)
	w.submit("q", click)
	w.pause("r")
	w.report("s1", "r-1", success)
	s := w.wantSituation(t, "q", Situation{SessionID: "s1", Usable: true})
	if s.View.Head.State != replay.Queued || len(s.Ahead) != 2 {
		t.Fatalf("it is %v behind %d", s.View.Head.State, len(s.Ahead))
	}
	for i, id := range []string{"r", "p"} {
		if a := s.Ahead[i]; a.Head.ReplayID != id || a.Actions != nil {
			t.Errorf("ahead is %s with %d actions, want %s", a.Head.ReplayID, len(a.Actions), id)
		}
	}
	if p := s.Ahead[0].Pause; p == nil || p.By != "alice" || s.Ahead[1].Pause != nil {
		t.Errorf("the pauses ahead are %v and %v", p, s.Ahead[1].Pause)
	}
}

func TestAReplayThatHasNotStartedHasNoGrace(t *testing.T) {
	w := newWorld(t, config())
	w.submit("r", click)
	w.pass(time.Minute)
	w.wantSituation(t, "r", Situation{AwaySince: began, Usable: true})
}

func TestAnOpenReplayThatWaitsForActionsIsIdle(t *testing.T) {
	w := newWorld(t, config())
	w.submitOpen("r")
	w.submit("q", click)
	w.wantSituation(t, "r", Situation{AwaySince: began, Usable: true, Idle: true})
	w.open("s1", "boot", "spool")
	w.wantSituation(t, "q", Situation{SessionID: "s1", Usable: true, Idle: true})
	w.feed("r", appendOf("a", click))
	w.report("s1", "r-1", success)
	w.wantSituation(t, "r", Situation{SessionID: "s1", Usable: true, Idle: true})
	w.close("r")
	w.report("s1", "q-1", success)
	if s := w.m.situation(w.now, "r"); s != nil {
		t.Errorf("an ended replay is held: %+v", s)
	}
}

func TestTheLoopTellsWhatHoldsAReplayUp(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		f.submit("m", "r", click)
		f.open("m", "s1")
		time.Sleep(2 * time.Second)
		s, found, err := f.Loop("m").Situation(f.ctx, "r")
		if err != nil || !found || s.InFlight == nil || s.InFlight.DueIn != 3*time.Second {
			t.Errorf("%+v, %v, %v", s, found, err)
		}
		if _, found, err := f.Loop("m").Situation(f.ctx, "x"); err != nil || found {
			t.Errorf("an unknown replay: %v, %v", found, err)
		}
		f.end()
		if _, _, err := f.Loop("m").Situation(f.t.Context(), "r"); err == nil {
			t.Error("a loop that has ended answers")
		}
	})
}
