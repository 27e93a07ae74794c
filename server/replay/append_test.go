package replay

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARepeatedAppendIsTakenOnceWhateverBecameOfTheReplay(t *testing.T) {
	repeated := AppendCommand{RequestID: "a", RequestHash: "h", Steps: []Step{click}, Close: true}
	other := AppendCommand{RequestID: "a", RequestHash: "other", Steps: []Step{click}}
	for name, then := range map[string]func(*world){
		"open":      func(*world) {},
		"paused":    (*world).pause,
		"closed":    (*world).close,
		"completed": func(w *world) { w.close(); w.report("r-1", success); w.report("r-2", success) },
		"cancelled": func(w *world) { w.command(w.r.DecideCancel("alice", "")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, click)
			w.feed("a", click)
			then(w)
			if events, err := w.r.DecideAppend(repeated); err != nil || events != nil {
				t.Errorf("decided %v, %v", events, err)
			}
			_, err := w.r.DecideAppend(other)
			wantError(t, err, ErrRequestIDTaken)
			first, count, ok := w.r.AppendedBy("a")
			if diff := cmp.Diff([]string{"r-2"}, w.r.StepActionIDs(first, count)); diff != "" || !ok {
				t.Error(ok, diff)
			}
		})
	}
}

func TestAppendsWithoutAnIDAreEachAnother(t *testing.T) {
	w := open(t)
	w.feed("", click)
	w.feed("", click)
	if len(w.r.Steps) != 2 {
		t.Errorf("%d steps, want 2", len(w.r.Steps))
	}
	if _, _, ok := w.r.AppendedBy(""); ok {
		t.Error("no id is remembered as an id")
	}
}

func TestAnAppendIsRefusedByAReplayThatTakesNoMore(t *testing.T) {
	closed, cancelled, never := open(t, click), open(t, click), begin(t, click)
	closed.close()
	cancelled.command(cancelled.r.DecideCancel("alice", ""))
	for _, c := range []struct {
		w    *world
		want error
	}{{closed, ErrNotOpen}, {never, ErrNotOpen}, {cancelled, ErrEnded}} {
		_, err := c.w.r.DecideAppend(AppendCommand{RequestID: "a", Steps: []Step{click}})
		wantError(t, err, c.want)
	}
}

// long is an open replay with so many steps.
func long(t testing.TB, n int) *Replay {
	t.Helper()
	r, err := Fold([]Record{{ReplayID: "r", Seq: 1, At: began, Events: []Event{Created{Open: true, Steps: slices.Repeat([]Step{click}, n)}}}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAReplayHasAtMostAHundredThousandSteps(t *testing.T) {
	r := long(t, MaxSteps-1)
	_, err := r.DecideAppend(AppendCommand{RequestID: "a", Steps: []Step{click, click}})
	wantError(t, err, ErrTooMany)
	if events, err := r.DecideAppend(AppendCommand{RequestID: "a", Steps: []Step{click}}); err != nil || len(events) != 1 {
		t.Errorf("the last one: decided %v, %v", events, err)
	}
}

// Two folds of the same records share the events, and nothing else.
func TestAppendedStepsDoNotGrowIntoTheEventThatCreatedTheReplay(t *testing.T) {
	spare := append(make([]Step, 0, 8), click)
	w := open(t, spare...)
	w.feed("a", scroll)
	if got := spare[:2][1].Kind; got != "" {
		t.Errorf("the event's steps were written to: %s", got)
	}
}

func TestAnAppendToALongReplayCostsWhatItAdds(t *testing.T) {
	const more = 1000
	r := long(t, 10_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range more {
		events, err := r.DecideAppend(AppendCommand{RequestID: fmt.Sprint(i), Steps: []Step{click}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Apply(Record{ReplayID: "r", Seq: int64(i) + 2, At: began, Events: events}); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	// A copy of the steps alone would be two million bytes.
	if each := (after.TotalAlloc - before.TotalAlloc) / more; each > 100_000 {
		t.Errorf("%d bytes for each append", each)
	}
}

// A journal may be damaged: what does not fit is an error and no panic, now or later.
func TestAnEventThatNamesWhatTheReplayDoesNotHaveIsAnError(t *testing.T) {
	for _, ev := range []Event{
		GatePassed{Step: 1}, GatePassed{Step: -1}, PausedBy{Gate: 1}, PausedBy{Gate: -1, Decide: "r-2"}, PausedBy{Gate: -1, Again: []string{"r-2"}},
		GaveUp{ActionID: "r-2"}, Reported{ActionID: "r-2", Outcome: OutcomeAcked},
	} {
		if err := running(t, click).r.ApplyEvent("r", ev, began); err == nil {
			t.Errorf("%#v was taken", ev)
		}
	}
	w := running(t, click)
	w.pause()
	if err := w.r.ApplyEvent("r", Resumed{From: 1}, began); err == nil {
		t.Error("it goes on from a step that it does not have")
	}
}

func TestAnOpenReplayThatHasToAskAPersonIsNotIdle(t *testing.T) {
	w := open(t, click)
	w.next()
	w.apply(LostMemory{ActionID: "r-1"})
	w.wantReplay(Running)
	w.wantIdle(false)
	w.next()
	w.wantPaused("outcome_unknown", "r-1")
}
