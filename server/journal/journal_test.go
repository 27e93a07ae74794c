package journal

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-rpa/reprise/server/replay"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 123456789, time.UTC)

// open opens a journal for the length of the test. What is durable when is tested
// on disks that can be cut; elsewhere nobody waits for the real one.
func open(t *testing.T, opts Options) *Journal {
	t.Helper()
	if opts.VFS == "" && opts.synchronous == "" {
		opts.synchronous = "OFF"
	}
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	j, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// script is a replay that a test writes: it folds what it appends, so that its
// entries are what the server would append.
type script struct {
	r   replay.Replay
	now time.Time
}

func newScript() *script { return &script{now: start} }

// next makes the next entry of the replay.
func (s *script) next(t testing.TB, id string, events ...replay.Event) replay.Entry {
	t.Helper()
	s.now = s.now.Add(time.Second)
	rec := replay.Record{ReplayID: id, Seq: s.r.Revision + 1, At: s.now, Events: events}
	if err := s.r.Apply(rec); err != nil {
		t.Fatal(err)
	}
	return replay.Entry{Record: rec, Head: s.r.Head()}
}

// created is the first event of a replay of n clicks on a machine.
func created(id, machine string, n int) replay.Created {
	steps := make([]replay.Step, n)
	for i := range steps {
		steps[i] = replay.Step{Name: fmt.Sprintf("step %d", i), Kind: "click", Payload: []byte("where to click"), Critical: true, MaxRetries: -1}
	}
	return replay.Created{MachineID: machine, Workflow: "w", RequestID: "request of " + id, RequestHash: "h", Labels: map[string]string{"ward": "3"}, Steps: steps}
}

func create(t testing.TB, id, machine string) replay.Entry {
	t.Helper()
	return newScript().next(t, id, created(id, machine, 2))
}

// life is all entries of a replay that is created, started and cancelled.
func life(t testing.TB, id, machine string) []replay.Entry {
	t.Helper()
	s := newScript()
	return []replay.Entry{
		s.next(t, id, created(id, machine, 2)),
		s.next(t, id, replay.Started{}),
		s.next(t, id, replay.Ended{State: replay.Cancelled, Reason: "enough", By: "someone"}),
	}
}

func mustAppend(t testing.TB, j *Journal, entries ...replay.Entry) {
	t.Helper()
	if err := j.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
}

func recordsOf(entries []replay.Entry) (out []replay.Record) {
	for _, e := range entries {
		out = append(out, e.Record)
	}
	return out
}

func TestWhatWasAppendedIsThereAfterReopening(t *testing.T) {
	dir := t.TempDir()
	entries := life(t, "r1", "m1")
	j := open(t, Options{Dir: dir})
	mustAppend(t, j, entries[0], entries[1])
	mustAppend(t, j, entries[2])
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, Options{Dir: dir})
	got, err := j.Records(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recordsOf(entries), got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("records differ (-appended +read):\n%s", diff)
	}
	head, err := j.Head(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries[2].Head, head); diff != "" {
		t.Errorf("heads differ (-appended +read):\n%s", diff)
	}
	byRequest, err := j.HeadByRequest(t.Context(), "request of r1")
	if err != nil || byRequest.ReplayID != "r1" {
		t.Errorf("HeadByRequest = %v, %v", byRequest, err)
	}
}

func TestAReplayThatIsNotThereIsNotFound(t *testing.T) {
	j := open(t, Options{})
	// An empty request id is nobody's, though many replays may have it.
	for _, id := range []string{"a", "b"} {
		c := created(id, "m", 1)
		c.RequestID = ""
		mustAppend(t, j, newScript().next(t, id, c))
	}
	if _, err := j.Records(t.Context(), "x"); !errors.Is(err, replay.ErrNotFound) {
		t.Errorf("Records: %v", err)
	}
	if _, err := j.Head(t.Context(), "x"); !errors.Is(err, replay.ErrNotFound) {
		t.Errorf("Head: %v", err)
	}
	if _, err := j.HeadByRequest(t.Context(), ""); !errors.Is(err, replay.ErrNotFound) {
		t.Errorf("HeadByRequest: %v", err)
	}
}

func TestRecoverySeesLiveReplaysInOrderOfTheirCreation(t *testing.T) {
	j := open(t, Options{})
	second, first := newScript(), newScript()
	second.now = start.Add(-time.Hour) // the clock was set back between the two
	a := first.next(t, "z-first", created("z-first", "m1", 1))
	b := second.next(t, "a-second", created("a-second", "m2", 1))
	mustAppend(t, j, life(t, "ended", "m1")...)
	mustAppend(t, j, a)
	mustAppend(t, j, b)
	c := first.next(t, "z-first", replay.Started{})
	mustAppend(t, j, c)

	var got []replay.Record
	if err := j.Live(t.Context(), func(r replay.Record) error { got = append(got, r); return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recordsOf([]replay.Entry{a, c, b}), got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Live differs (-want +got):\n%s", diff)
	}
	got, err := j.LiveOf(t.Context(), "m1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recordsOf([]replay.Entry{a, c}), got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("LiveOf differs (-want +got):\n%s", diff)
	}
	enough := errors.New("enough")
	if err := j.Live(t.Context(), func(replay.Record) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("Live went on after an error, or swallowed it: %v", err)
	}
}

func TestAWorkflowOfAHundredThousandStepsIsKept(t *testing.T) {
	j := open(t, Options{})
	steps := slices.Repeat([]replay.Step{{Name: "a step", Kind: "click", Payload: []byte("where to click")}}, 100_000)
	mustAppend(t, j, replay.Entry{
		Record: replay.Record{ReplayID: "large", Seq: 1, At: start, Events: []replay.Event{replay.Created{MachineID: "m", Steps: steps}}},
		Head:   replay.Head{ReplayID: "large", MachineID: "m", State: replay.Queued, Actions: len(steps), Revision: 1},
	})
	got, err := j.Records(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	if got := got[0].Events[0].(replay.Created).Steps; len(got) != len(steps) || !reflect.DeepEqual(got[99_999], steps[99_999]) {
		t.Errorf("%d steps came back, or others", len(got))
	}
}

func TestASecondOwnerOfTheDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	if _, err := Open(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrLocked) {
		t.Fatalf("Open = %v, want %v", err, ErrLocked)
	}
	// The refusal left the holder whole.
	mustAppend(t, j, create(t, "r", "m"))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Options{Dir: dir})
}

func TestAJournalOfANewerVersionIsRefused(t *testing.T) {
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	if err := j.write(func(w *writer) error {
		return w.conn.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrNewer) {
		t.Errorf("Open = %v, want %v", err, ErrNewer)
	}
}

func TestAClosedJournalSaysSo(t *testing.T) {
	j := open(t, Options{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), life(t, "r", "m")); !errors.Is(err, ErrClosed) {
		t.Errorf("Append: %v", err)
	}
	if _, err := j.Head(t.Context(), "r"); !errors.Is(err, ErrClosed) {
		t.Errorf("Head: %v", err)
	}
	if _, err := j.Purge(t.Context(), time.Time{}, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("Purge: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestAnEntryWhoseHeadIsOfAnotherRecordIsRefused(t *testing.T) {
	j := open(t, Options{})
	for name, change := range map[string]func(*replay.Entry){
		"no replay":             func(e *replay.Entry) { e.Record.ReplayID, e.Head.ReplayID = "", "" },
		"position 0":            func(e *replay.Entry) { e.Record.Seq, e.Head.Revision = 0, 0 },
		"head of another":       func(e *replay.Entry) { e.Head.ReplayID = "x" },
		"head of an older":      func(e *replay.Entry) { e.Head.Revision = 7 },
		"ended without a time":  func(e *replay.Entry) { e.Head.State = replay.Failed },
		"a living one with one": func(e *replay.Entry) { e.Head.EndedAt = start },
	} {
		e := create(t, "r", "m")
		change(&e)
		if err := j.Append(t.Context(), []replay.Entry{e}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if heads, _, err := j.Heads(t.Context(), replay.Filter{}); err != nil || len(heads) != 0 {
		t.Errorf("Heads = %v, %v", heads, err)
	}
}

func TestACallerThatGaveUpBeforeItsTurnWroteNothing(t *testing.T) {
	j := open(t, Options{})
	gaveUp := errors.New("gave up")
	ctx, cancel := context.WithCancelCause(t.Context())
	j.turn <- struct{}{} // somebody writes
	answer := make(chan error, 1)
	go func() { answer <- j.Append(ctx, life(t, "r", "m")) }()
	cancel(gaveUp)
	if err := <-answer; !errors.Is(err, gaveUp) {
		t.Errorf("Append = %v, want %v", err, gaveUp)
	}
	<-j.turn
	mustAppend(t, j, create(t, "other", "m"))
	if _, err := j.Head(t.Context(), "r"); !errors.Is(err, replay.ErrNotFound) {
		t.Errorf("Head = %v, want %v", err, replay.ErrNotFound)
	}
}
