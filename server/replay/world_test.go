package replay

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	began  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	policy = Policy{MaxResends: 2, MaxRetries: 3, MaxDeliveries: 20, SwallowedInput: 3}
	there  = &Session{ID: "s1", SpoolID: "spool1", BootID: "boot1"}
)

// The kinds of steps that the tests use.
var (
	click  = Step{Kind: "click", Critical: true, ChangesScreen: true, Visual: true, MaxRetries: -1}
	scroll = Step{Kind: "scroll", ChangesScreen: true, MaxRetries: -1}
	wait   = Step{Kind: "wait", Safe: true, MaxRetries: -1}
	focus  = Step{Kind: "focus_window", Safe: true, Critical: true, MaxRetries: -1}
	human  = Step{Kind: "pause_for_human", ServerSide: true, Safe: true, MaxRetries: -1}
)

func with(s Step, change func(*Step)) Step {
	change(&s)
	return s
}

// The reports that the tests use.
var (
	success  = Report{Success: true, Completion: CompletionCompleted, SpoolID: "spool1"}
	noChange = Report{Success: true, Completion: CompletionCompleted, NoChange: true, SpoolID: "spool1"}
)

func failed(code string, c Completion) Report {
	return Report{Code: code, Completion: c, SpoolID: "spool1"}
}

// world is one replay and all that was recorded of it.
type world struct {
	t       testing.TB
	r       *Replay
	records []Record
	policy  Policy
}

// begin creates the replay "r" and records it.
func begin(t testing.TB, steps ...Step) *world {
	return create(t, Created{MachineID: "m", Workflow: "w", Steps: steps})
}

func create(t testing.TB, c Created) *world {
	w := &world{t: t, r: &Replay{}, policy: policy}
	w.apply(c)
	return w
}

// running starts the replay and delivers its first action.
func running(t testing.TB, steps ...Step) *world {
	w := begin(t, steps...)
	w.next()
	return w
}

// apply records events, as one record, and checks that the replay is still the
// fold of its records.
func (w *world) apply(events ...Event) {
	w.t.Helper()
	if len(events) == 0 {
		return
	}
	rec := Record{
		ReplayID: "r", Seq: int64(len(w.records)) + 1, Events: events,
		At: began.Add(time.Duration(len(w.records)) * time.Second),
	}
	if err := w.r.Apply(rec); err != nil {
		w.t.Fatalf("%#v: %v", events, err)
	}
	w.records = append(w.records, rec)
	folded, err := Fold(w.records)
	if err != nil {
		w.t.Fatal(err)
	}
	if !reflect.DeepEqual(folded, w.r) {
		diff := cmp.Diff(folded, w.r, cmp.AllowUnexported(Replay{}))
		w.t.Fatalf("the replay is not the fold of its records (-fold +replay):\n%s", diff)
	}
}

// next lets the replay go on as far as it does by itself.
func (w *world) next() {
	w.t.Helper()
	for range 20 {
		events := w.r.DecideNext(there)
		if len(events) == 0 {
			return
		}
		w.apply(events...)
	}
	w.t.Fatal("the replay goes on by itself for ever")
}

// report takes a report of an action and lets the replay go on.
func (w *world) report(id string, rep Report) Verdict {
	w.t.Helper()
	v := w.take(id, rep)
	w.next()
	return v
}

// take takes a report of an action.
func (w *world) take(id string, rep Report) Verdict {
	w.t.Helper()
	v, events := w.r.DecideReport(id, "", rep, w.policy)
	w.apply(events...)
	return v
}

// orphan lets the deadline of the action in flight pass.
func (w *world) orphan() {
	w.t.Helper()
	w.apply(w.r.DecideOrphan(w.inFlight(), w.policy, false)...)
}

// giveUp lets the deadlines of the action in flight pass until it is given up.
func (w *world) giveUp() {
	w.t.Helper()
	for id := w.inFlight(); ; w.next() {
		w.orphan()
		if w.state(id) == ActionAbandoned {
			return
		}
	}
}

func (w *world) pause() {
	w.t.Helper()
	events, err := w.r.DecidePause("alice", "")
	if err != nil {
		w.t.Fatal(err)
	}
	w.apply(events...)
}

func (w *world) resume(c ResumeCommand) {
	w.t.Helper()
	if err := w.tryResume(c); err != nil {
		w.t.Fatalf("resume: %v", err)
	}
}

func (w *world) tryResume(c ResumeCommand) error {
	events, err := w.r.DecideResume(c)
	if err == nil {
		w.apply(events...)
		w.next()
	}
	return err
}

// inFlight returns the action in flight; empty: there is none.
func (w *world) inFlight() string {
	if w.r.InFlight < 0 {
		return ""
	}
	return w.r.Actions[w.r.InFlight].ID
}

func (w *world) state(id string) ActionState {
	w.t.Helper()
	a := w.r.Find(id)
	if a == nil {
		w.t.Fatalf("no action %s", id)
	}
	return a.State
}

// wantState checks an action's state.
func (w *world) wantState(id string, want ActionState) {
	w.t.Helper()
	if got := w.state(id); got != want {
		w.t.Errorf("%s is %v, want %v", id, got, want)
	}
}

// wantInFlight checks which action is in flight; empty: none.
func (w *world) wantInFlight(want string) {
	w.t.Helper()
	if got := w.inFlight(); got != want {
		w.t.Errorf("in flight is %q, want %q", got, want)
	}
}

// wantPaused checks the pause's reason and the action to decide on.
func (w *world) wantPaused(reason, decide string) {
	w.t.Helper()
	if w.r.State != Paused || w.r.Pause == nil {
		w.t.Fatalf("the replay is %v, want PAUSED for %s", w.r.State, reason)
	}
	if p := w.r.Pause; p.Reason != reason || p.Decide != decide {
		w.t.Errorf("paused for %s, to decide on %q; want %s, %q", p.Reason, p.Decide, reason, decide)
	}
	if w.r.Pause.Message == "" {
		w.t.Error("the pause says nothing to a person")
	}
}

// wantReplay checks the replay's state.
func (w *world) wantReplay(want State) {
	w.t.Helper()
	if w.r.State != want {
		w.t.Errorf("the replay is %v, want %v", w.r.State, want)
	}
}

func wantError(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("error is %v, want %v", got, want)
	}
}
