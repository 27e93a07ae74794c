package dispatch

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

var (
	began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	click  = replay.Step{Kind: "click", Critical: true, ChangesScreen: true, Visual: true, MaxRetries: -1}
	scroll = replay.Step{Kind: "scroll", ChangesScreen: true, MaxRetries: -1}
	focus  = replay.Step{Kind: "focus_window", Safe: true, Critical: true, MaxRetries: -1}
	human  = replay.Step{Kind: "pause_for_human", ServerSide: true, Safe: true, MaxRetries: -1}
	asks   = replay.Step{Kind: "click", Critical: true, ChangesScreen: true, MaxRetries: -1, Checks: []replay.Check{{ID: "sure", Required: true}}}
)

func config() Config {
	return Config{
		Policy:       replay.Policy{MaxResends: 2, MaxRetries: 3, MaxDeliveries: 20, SwallowedInput: 3},
		Timeouts:     pending.Timeouts{Receipt: 5 * time.Second, Orphan: 30 * time.Second},
		OfflineGrace: 90 * time.Second, DeadClientGiveUps: 2, DeadClientWindow: 5 * time.Minute,
	}
}

func steps(list ...replay.Step) []replay.Step { return list }

// fataler is a test or a property.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

var errDiskFull = errors.New("no space left")

// world is a machine, what its journal holds, and all that has ever left it. It
// checks the contract's invariants after every step.
type world struct {
	t       fataler
	cfg     Config
	m       *Machine
	now     time.Time
	journal map[string][]replay.Record
	order   []string // of the replays' creation
	fail    bool     // the next write fails

	welcomed map[string]bool // sessions
	attempts map[string]bool // that have left
	sent     []Effect        // of the last step
	asked    int             // commands and submissions
	answered []Answer
	deliver  func(Effect) // gets what is sent to a session
}

func newWorld(t fataler, cfg Config) *world {
	w := &world{
		t: t, cfg: cfg, now: began, journal: map[string][]replay.Record{},
		welcomed: map[string]bool{}, attempts: map[string]bool{}, deliver: func(Effect) {},
	}
	w.m = NewMachine("m", cfg, w.now, nil, nil)
	return w
}

// do lets the machine take one step, and makes what it wrote durable or refuses it.
func (w *world) do(in Input) {
	w.t.Helper()
	out := w.m.Step(w.now, in)
	w.sent = nil
	if w.fail && len(out.Entries) > 0 {
		w.fail = false
		for _, e := range out.Effects {
			if a, ok := e.(Answer); ok {
				a.Err = errDiskFull
				a.Reply(a)
			}
		}
		w.m.now = w.now
		w.m.Reset(w.live())
		w.check()
		return
	}
	for _, e := range out.Entries {
		id := e.Record.ReplayID
		if w.journal[id] == nil {
			w.order = append(w.order, id)
		}
		if int64(len(w.journal[id]))+1 != e.Record.Seq {
			w.t.Fatalf("record %d of %s follows %d", e.Record.Seq, id, len(w.journal[id]))
		}
		w.journal[id] = append(w.journal[id], e.Record)
	}
	w.sent = out.Effects
	for _, e := range out.Effects {
		w.checkEffect(e)
	}
	w.check()
	for _, e := range out.Effects {
		w.deliver(e)
	}
}

// restart is a server that was killed and recovers from the journal.
func (w *world) restart() {
	var ended []string
	for _, id := range w.order {
		if w.fold(id).State.Ended() {
			ended = append(ended, id)
		}
	}
	w.m = NewMachine("m", w.cfg, w.now, w.live(), ended)
	w.check()
}

func (w *world) submit(id string, list ...replay.Step) {
	w.t.Helper()
	w.asked++
	w.do(Submit{ReplayID: id, Created: replay.Created{MachineID: "m", Workflow: "w", Steps: list}, Reply: w.answer})
}

func (w *world) command(id string, decide func(*replay.Replay) ([]replay.Event, error)) {
	w.t.Helper()
	w.asked++
	w.do(Command{ReplayID: id, Decide: decide, Reply: w.answer})
}

func (w *world) answer(a Answer) { w.answered = append(w.answered, a) }

func (w *world) pause(id string) {
	w.t.Helper()
	w.command(id, func(r *replay.Replay) ([]replay.Event, error) { return r.DecidePause("alice", "") })
}

func (w *world) cancel(id string) {
	w.t.Helper()
	w.command(id, func(r *replay.Replay) ([]replay.Event, error) { return r.DecideCancel("alice", "") })
}

func (w *world) resume(id string, c replay.ResumeCommand) {
	w.t.Helper()
	w.command(id, func(r *replay.Replay) ([]replay.Event, error) {
		if r.Pause != nil && len(r.Pause.Checks) > 0 {
			c.Acked = []string{"sure"}
		}
		return r.DecideResume(c)
	})
}

func (w *world) open(session, boot, spool string) {
	w.t.Helper()
	w.do(Open{Session: Session{Session: replay.Session{ID: session, BootID: boot, SpoolID: spool}, Usable: true}})
}

func (w *world) report(session, action string, rep replay.Report) {
	w.t.Helper()
	w.do(Report{SessionID: session, Result: Result{Ref: Ref{ActionID: action}, Report: rep}})
}

// pass lets time pass and the machine act on it.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.now = w.now.Add(d)
	w.do(Tick{})
}

func (w *world) live() []*replay.Replay {
	var live []*replay.Replay
	for _, id := range w.order {
		if r := w.fold(id); !r.State.Ended() {
			live = append(live, r)
		}
	}
	return live
}

func (w *world) fold(id string) *replay.Replay {
	r, err := replay.Fold(w.journal[id])
	if err != nil {
		w.t.Fatalf("fold %s: %v", id, err)
	}
	return r
}

// sentOf returns what the last step sent, of one type.
func sentOf[E Effect](w *world) []E {
	var list []E
	for _, e := range w.sent {
		if e, ok := e.(E); ok {
			list = append(list, e)
		}
	}
	return list
}

// inFlight returns the action in flight; empty: none.
func (w *world) inFlight() string { return w.m.Status().InFlight }

func (w *world) wantInFlight(want string) {
	w.t.Helper()
	if got := w.inFlight(); got != want {
		w.t.Fatalf("in flight is %q, want %q", got, want)
	}
}

func (w *world) wantState(id string, want replay.State, reason string) {
	w.t.Helper()
	r := w.fold(id)
	got := ""
	if r.Pause != nil {
		got = r.Pause.Reason
	}
	if r.State != want || got != reason {
		w.t.Fatalf("%s is %v %q, want %v %q", id, r.State, got, want, reason)
	}
}

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
		e.Reply(e)
		return // its session is a name for people
	case Deliver:
		w.checkDelivery(e)
	}
	if session.IsValid() && !w.welcomed[session.String()] {
		w.t.Fatalf("session %q got %T before its welcome", session, e)
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
	inFlight := 0
	for i, r := range w.m.live {
		if r.State.Ended() {
			w.t.Fatalf("%s has ended and is still held", r.ID)
		}
		if folded := w.fold(r.ID); !reflect.DeepEqual(folded, r) {
			w.t.Fatalf("%s is not the fold of its journal:\n%s", r.ID, cmp.Diff(folded, r, cmp.AllowUnexported(replay.Replay{})))
		}
		if r.InFlight >= 0 {
			inFlight++
			if i > 0 {
				w.t.Fatalf("%s does not hold the machine and has an action in flight", r.ID)
			}
			if _, ok := w.m.pending.Get(r.Actions[r.InFlight].ID); !ok {
				w.t.Fatalf("%s is in flight and not pending", r.Actions[r.InFlight].ID)
			}
			if step, ok := r.Next(); ok && r.Current(step) == &r.Actions[r.InFlight] {
				w.t.Fatalf("%s is pending and in the queue", r.Actions[r.InFlight].ID)
			}
		}
	}
	if inFlight != w.m.pending.Len() || inFlight > 1 {
		w.t.Fatalf("%d in flight, %d pending", inFlight, w.m.pending.Len())
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
		for _, rec := range records {
			for _, ev := range rec.Events {
				if rep, ok := ev.(replay.Reported); ok {
					taken[rep.ActionID]++
				}
			}
		}
		r := w.fold(id)
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
