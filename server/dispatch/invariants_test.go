package dispatch

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/server/replay"
)

// checkEffect checks one thing that leaves the machine.
func (w *world) checkEffect(e Effect) {
	w.t.Helper()
	session := reflect.ValueOf(e).FieldByName("SessionID")
	if _, welcome := e.(Welcome); welcome {
		w.welcomed[session.String()] = true
	}
	switch e := e.(type) {
	case Fault:
		w.t.Fatalf("an event did not fit: %v", e.Err)
	case Answer:
		w.checkAnswer(e)
		e.Reply(e)
		return // its session is a name for people
	case Deliver:
		w.checkDelivery(e)
	}
	if session.IsValid() && !w.welcomed[session.String()] {
		w.t.Fatalf("session %q got %T before its welcome", session, e)
	}
}

// checkAnswer checks that an answer shows the replay as its command left it.
func (w *world) checkAnswer(a Answer) {
	w.t.Helper()
	if a.Err != nil {
		if a.View != nil || a.Appended != nil {
			w.t.Fatalf("an answer has an error and shows something: %+v", a)
		}
		return
	}
	r := w.fold(a.Replay)
	want := ViewOf(r)
	want.AgentAway = w.m.session == nil && !r.State.Ended()
	if a.View == nil || !reflect.DeepEqual(*a.View, want) || a.Remaining != len(r.Steps)-r.Settled {
		w.t.Fatalf("the answer shows %+v, %d left; the journal has %+v", a.View, a.Remaining, want)
	}
}

func (w *world) checkDelivery(e Deliver) {
	w.t.Helper()
	d := e.Delivery
	r := w.fold(d.ReplayID)
	switch {
	case w.m.session == nil || w.m.session.ID != e.SessionID:
		w.t.Fatalf("%s goes to %q, which does not hold the machine", d.AttemptID, e.SessionID)
	case r.State != replay.Running || w.m.live[0].ID != r.ID:
		w.t.Fatalf("%s goes out while its replay is %v", d.AttemptID, r.State)
	case w.attempts[d.AttemptID]:
		w.t.Fatalf("attempt %s goes out twice", d.AttemptID)
	case d.Step.ServerSide:
		w.t.Fatalf("%s is the server's own", d.ActionID)
	case slices.Contains(d.Replaces, d.ActionID):
		w.t.Fatalf("%s replaces itself", d.ActionID)
	case !slices.Equal(d.Masks, r.Masks):
		w.t.Fatalf("%s goes out with the masks %v, its replay has %v", d.ActionID, d.Masks, r.Masks)
	}
	w.attempts[d.AttemptID] = true
	step := r.Find(d.ActionID).Step
	for before := 0; before < step && !w.cfg.Policy.RequeueAtTail; before++ {
		switch s := r.Current(before).State; s {
		case replay.ActionAcked, replay.ActionSkipped, replay.ActionAbandoned:
		default:
			w.t.Fatalf("%s goes out while step %d is %v", d.ActionID, before, s)
		}
	}
}

// check checks what holds between any two steps.
func (w *world) check() {
	w.t.Helper()
	if len(w.answered) != w.asked {
		w.t.Fatalf("%d answers for %d commands", len(w.answered), w.asked)
	}
	if err := w.m.Check(); err != nil {
		w.t.Fatalf("%v", err)
	}
	for _, r := range w.m.live {
		if folded := w.fold(r.ID); !reflect.DeepEqual(folded, r) {
			w.t.Fatalf("%s is not the fold of its journal:\n%s", r.ID, cmp.Diff(folded, r, cmp.AllowUnexported(replay.Replay{})))
		}
	}
	if len(w.m.live) != len(w.live()) {
		w.t.Fatalf("%d live replays, %d in the journal", len(w.m.live), len(w.live()))
	}
}

// checkJournal checks what holds of every replay from its first record on.
func (w *world) checkJournal() {
	w.t.Helper()
	for id, records := range w.journal {
		taken, ids := map[string]int{}, map[string]bool{}
		open, steps := false, 0
		for _, rec := range records {
			for _, ev := range rec.Events {
				switch ev := ev.(type) {
				case replay.Created:
					open, steps = ev.Open, len(ev.Steps)
				case replay.Appended:
					steps += len(ev.Steps)
				case replay.Closed:
					open = false
				case replay.Reported:
					taken[ev.ActionID]++
				}
			}
		}
		r := w.fold(id)
		if len(r.Steps) != steps || r.State == replay.Completed && open {
			w.t.Fatalf("%s is %v with %d steps; open %v with %d in the journal", id, r.State, len(r.Steps), open, steps)
		}
		for _, a := range r.Actions {
			if ids[a.ID] {
				w.t.Fatalf("the id %s was used twice", a.ID)
			}
			ids[a.ID] = true
			if taken[a.ID] > 1 {
				w.t.Fatalf("%d reports of %s were taken", taken[a.ID], a.ID)
			}
		}
		for step := range r.Steps {
			s := r.Current(step).State
			if settled := s == replay.ActionAcked || s == replay.ActionSkipped || s == replay.ActionAbandoned; r.State == replay.Completed && !settled {
				w.t.Fatalf("%s is completed and its step %d is %v", id, step, s)
			}
		}
		if r.State.Ended() && !w.m.ended[id] {
			w.t.Fatalf("%s has ended and a report of it would be unknown", id)
		}
	}
}

func (w *world) String() string { return fmt.Sprintf("%+v at %v", w.m.Status(), w.now.Sub(began)) }
