package dispatch

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/server/replay"
)

func appendOf(request string, list ...replay.Step) replay.AppendCommand {
	return replay.AppendCommand{RequestID: request, RequestHash: "h", By: "alice", Steps: list}
}

func TestAnAppendGoesOutInTheSameStep(t *testing.T) {
	w := newWorld(t, config())
	w.submitOpen("r", click)
	w.open("s1", "boot", "spool")
	w.report("s1", "r-1", success)
	w.wantInFlight("")
	a := w.feed("r", appendOf("q", click, click))
	w.wantInFlight("r-2")
	if d := sentOf[Deliver](w); len(d) != 1 || d[0].Delivery.ActionID != "r-2" {
		t.Errorf("sent %v, want r-2", d)
	}
	if a.Err != nil || a.Remaining != 2 || a.SessionID != "s1" || !a.View.Head.Open || a.View.Head.Actions != 3 {
		t.Errorf("answered %+v", a)
	}
}

func TestAnAppendShowsItsOwnActionsAndNoOthers(t *testing.T) {
	w := newWorld(t, config())
	w.submitOpen("r", click, click)
	a := w.feed("r", appendOf("q", click, scroll))
	changed := sentOf[Changed](w)
	if len(changed) != 1 {
		t.Fatalf("%d views, want 1", len(changed))
	}
	v := changed[0].View
	var ids []string
	for _, shown := range v.Actions {
		ids = append(ids, shown.ID)
	}
	if diff := cmp.Diff(a.Appended, ids); diff != "" || v.All {
		t.Errorf("all: %v, actions (-appended +shown):\n%s", v.All, diff)
	}
	if len(v.Events) != 1 || replay.By(v.Events[0]) != "alice" {
		t.Errorf("events %v", v.Events)
	}
	w.close("r")
	v = sentOf[Changed](w)[0].View
	if v.All || len(v.Actions) != 0 || v.Head.Open {
		t.Errorf("a close shows %d actions, open %v", len(v.Actions), v.Head.Open)
	}
}

func TestAnOpenReplayWithNothingToDoKeepsItsPlace(t *testing.T) {
	w := newWorld(t, config())
	w.submitOpen("r")
	w.submit("q", click)
	w.open("s1", "boot", "spool")
	w.wantInFlight("")
	w.wantState("r", replay.Queued, "")
	w.feed("r", appendOf("a", click))
	w.wantInFlight("r-1")
	w.report("s1", "r-1", success)
	w.wantInFlight("")
	w.close("r")
	w.wantState("r", replay.Completed, "")
	w.wantInFlight("q-1")
}

func TestAnOpenReplayGoesOnAfterARestart(t *testing.T) {
	w := newWorld(t, config())
	w.submitOpen("r", click)
	w.open("s1", "boot", "spool")
	w.report("s1", "r-1", success)
	first := w.feed("r", appendOf("a", click))
	w.restart()
	again := w.feed("r", appendOf("a", click))
	if diff := cmp.Diff(first.Appended, again.Appended); diff != "" || len(again.Appended) != 1 {
		t.Errorf("the repeated append (-first +again):\n%s", diff)
	}
	if got := len(w.fold("r").Steps); got != 2 {
		t.Errorf("%d steps, want 2", got)
	}
	w.feed("r", appendOf("b", click))
	w.open("s2", "boot", "spool")
	w.report("s2", "r-2", success)
	w.wantInFlight("r-3")
}

func TestAnAnswerShowsThePauseInFull(t *testing.T) {
	w := started(t, click, click)
	w.do(Closed{SessionID: "s1"})
	for range 2 { // the second one changes nothing
		w.pause("r")
		v := w.answered[len(w.answered)-1].View
		if v.Pause == nil || v.Pause.By != "alice" || !v.Head.Pausing || !v.AgentAway || v.Head.Revision != int64(len(w.journal["r"])) {
			t.Errorf("answered %+v", v)
		}
	}
	w.resume("r", replay.ResumeCommand{})
	if v := w.answered[len(w.answered)-1].View; v.Pause != nil || v.Head.State != replay.Running {
		t.Errorf("answered %+v", v)
	}
}

func TestOtherWordsAreShownOnTheScreenThatIsPaused(t *testing.T) {
	w := started(t, click)
	w.pause("r")
	old := sentOf[ShowPause](w)[0].Pause
	say := func(r *replay.Replay) ([]replay.Event, error) { return r.DecidePause("bob", "wait for the backup") }
	w.command("r", say)
	p := sentOf[ShowPause](w)
	if len(p) != 1 || p[0].Pause.Message != "wait for the backup" || p[0].Pause.ID == old.ID {
		t.Fatalf("sent %v after %v", p, old)
	}
	w.command("r", say)
	if p := sentOf[ShowPause](w); len(p) != 0 {
		t.Errorf("shown again: %v", p)
	}
}

func TestAnAnswerThatWasNotWrittenShowsNothing(t *testing.T) {
	j := newFakeJournal()
	inBubble(t, j, func(f *fleet) {
		j.set(replay.ErrNoSpace, nil)
		if a := f.submit("m", "r", click); !errors.Is(a.Err, replay.ErrNoSpace) || a.View != nil || a.Replay != "r" {
			t.Errorf("answered %+v", a)
		}
	})
}

func TestMasksGoWithEachDeliveryAndAreShownWhileTheirReplayHoldsTheMachine(t *testing.T) {
	masks := []replay.Mask{{Monitor: 1, Left: 0.1, Top: 0.2, Width: 0.3, Height: 0.4}}
	w := newWorld(t, config())
	w.create("r", replay.Created{Steps: steps(click), Masks: masks})
	w.submit("q", click)
	w.open("s1", "boot", "spool")
	w.restart()
	w.open("s2", "boot", "spool")
	if d := sentOf[Deliver](w); len(d) != 1 || !cmp.Equal(d[0].Delivery.Masks, masks) {
		t.Errorf("sent %v", d)
	}
	if diff := cmp.Diff(masks, w.m.Status().Masks); diff != "" {
		t.Error(diff)
	}
	w.report("s2", "r-1", success)
	if d := sentOf[Deliver](w); len(d) != 1 || d[0].Delivery.Masks != nil || w.m.Status().Masks != nil {
		t.Errorf("the next replay has the masks of the one before: %v", d)
	}
}

func TestAMachineShowsWhatHoldsIt(t *testing.T) {
	w := newWorld(t, config())
	if diff := cmp.Diff(Status{ID: "m"}, w.m.Status()); diff != "" {
		t.Error(diff)
	}
	w.submit("r", click)
	w.submit("q", click)
	w.open("s1", "boot", "spool")
	want := Status{ID: "m", SessionID: "s1", CurrentReplay: "r", CurrentWorkflow: "w", CurrentState: replay.Running, InFlight: "r-1", Queued: 1}
	if diff := cmp.Diff(want, w.m.Status()); diff != "" {
		t.Error(diff)
	}
	w.pause("r")
	want.CurrentState, want.PauseReason = replay.Paused, "operator"
	if diff := cmp.Diff(want, w.m.Status()); diff != "" {
		t.Error(diff)
	}
}
