package dispatch

import (
	"errors"
	"fmt"
	"slices"
	"time"

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
	deliver  func(Effect)    // gets what is sent to a session
	fed      map[string]feed // appends that were taken, by replay and request id
}

// feed is an append that was taken.
type feed struct {
	hash string
	ids  []string
}

func newWorld(t fataler, cfg Config) *world {
	w := &world{
		t: t, cfg: cfg, now: began, journal: map[string][]replay.Record{},
		welcomed: map[string]bool{}, attempts: map[string]bool{}, deliver: func(Effect) {}, fed: map[string]feed{},
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
	w.create(id, replay.Created{Steps: list})
}

// submitOpen creates a replay that takes more actions.
func (w *world) submitOpen(id string, list ...replay.Step) {
	w.t.Helper()
	w.create(id, replay.Created{Steps: list, Open: true})
}

func (w *world) create(id string, c replay.Created) {
	w.t.Helper()
	c.MachineID, c.Workflow = "m", "w"
	w.asked++
	w.do(Submit{ReplayID: id, Created: c, Reply: w.answer})
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

// feed appends actions and checks that a request is taken once: it answers with
// the same ids however often it comes, and with an error for another body.
func (w *world) feed(id string, c replay.AppendCommand) Answer {
	w.t.Helper()
	key := id + "/" + c.RequestID
	before, known := w.fed[key]
	steps, failing := 0, w.fail
	w.asked++
	w.do(Command{ReplayID: id, AppendID: c.RequestID, Reply: w.answer, Decide: func(r *replay.Replay) ([]replay.Event, error) {
		steps = len(r.Steps)
		return r.DecideAppend(c)
	}})
	a := w.answered[len(w.answered)-1]
	switch {
	case a.Err == nil && known && (before.hash != c.RequestHash || !slices.Equal(before.ids, a.Appended)):
		w.t.Fatalf("append %s was %v and is answered %v", key, before, a.Appended)
	case a.Err == nil && !known && !slices.Equal(a.Appended, actionIDs(id, steps, len(c.Steps))):
		w.t.Fatalf("append %s of %d actions after %d is answered %v", key, len(c.Steps), steps, a.Appended)
	case a.Err == nil:
		w.fed[key] = feed{hash: c.RequestHash, ids: a.Appended}
	case known && before.hash == c.RequestHash && !failing && !errors.Is(a.Err, replay.ErrNotFound):
		w.t.Fatalf("append %s was taken and is refused: %v", key, a.Err)
	}
	return a
}

func actionIDs(id string, first, count int) []string {
	var ids []string
	for step := first; step < first+count; step++ {
		ids = append(ids, fmt.Sprintf("%s-%d", id, step+1))
	}
	return ids
}

func (w *world) close(id string) {
	w.t.Helper()
	w.command(id, func(r *replay.Replay) ([]replay.Event, error) { return r.DecideClose("alice") })
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
