package journal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/server/replay"
)

// A commit costs a sync, however many share it: the appends that come while the disk
// is at one share the next.
func TestAHundredConcurrentAppendsNeedTwoSyncs(t *testing.T) {
	d, dir := newDisk(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := open(t, Options{VFS: d.name, Dir: dir})
		mustAppend(t, j, create(t, "first", "m")) // which syncs the head of a new log as well
		before := d.syncs.Load()
		synced := make(chan struct{})
		slow := func(done bool) {
			if !done {
				<-synced
			}
		}
		d.atSync.Store(&slow)
		errs := make(chan error, 100)
		for i := range 100 {
			e := create(t, fmt.Sprintf("r%d", i), "m")
			go func() { errs <- j.Append(t.Context(), []replay.Entry{e}) }()
			if i == 0 {
				synctest.Wait() // the disk is at it
			}
		}
		synctest.Wait() // all others wait for their turn
		d.atSync.Store(nil)
		close(synced)
		for range 100 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if n := d.syncs.Load() - before; n != 2 {
			t.Errorf("100 appends took %d syncs, want 2", n)
		}
		if heads, _, err := j.Heads(t.Context(), replay.Filter{PageSize: 200}); err != nil || len(heads) != 101 {
			t.Errorf("%d replays are there: %v", len(heads), err)
		}
	})
}

// inOneGroup appends each set of entries by a caller of its own, all in one
// commit and in this order, and returns their answers. It runs in a bubble.
func inOneGroup(t *testing.T, j *Journal, sets ...[]replay.Entry) []error {
	t.Helper()
	answers := make([]chan error, len(sets))
	j.turn <- struct{}{}
	for i, set := range sets {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- j.Append(t.Context(), set) }()
		synctest.Wait() // it waits for its turn
	}
	<-j.turn
	errs := make([]error, len(sets))
	for i := range sets {
		errs[i] = <-answers[i]
	}
	return errs
}

func TestAStaleAppendFailsAlone(t *testing.T) {
	d, dir := newDisk(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := open(t, Options{VFS: d.name, Dir: dir})
		old := life(t, "old", "m")
		mustAppend(t, j, old[0])
		double := create(t, "double", "m")
		double.Head.RequestID = "request of old"
		before := d.syncs.Load()

		errs := inOneGroup(t, j,
			[]replay.Entry{create(t, "first", "m")},
			[]replay.Entry{old[0]},                         // the position is taken
			[]replay.Entry{old[2]},                         // it leaves a gap
			[]replay.Entry{create(t, "half", "m"), old[2]}, // only its second entry is stale
			[]replay.Entry{double},
			old[1:],
			[]replay.Entry{create(t, "last", "m")},
		)
		want := []error{nil, replay.ErrStale, replay.ErrStale, replay.ErrStale, replay.ErrRequestIDTaken, nil, nil}
		for i, err := range errs {
			if !errors.Is(err, want[i]) {
				t.Errorf("append %d = %v, want %v", i, err, want[i])
			}
		}
		if n := d.syncs.Load() - before; n != 1 {
			t.Errorf("the group took %d syncs", n)
		}
		for id, want := range map[string]error{"first": nil, "last": nil, "half": replay.ErrNotFound, "double": replay.ErrNotFound} {
			if _, err := j.Head(t.Context(), id); !errors.Is(err, want) {
				t.Errorf("the head of %s: %v, want %v", id, err, want)
			}
		}
		if h, err := j.Head(t.Context(), "old"); err != nil || h.Revision != 3 {
			t.Errorf("the old replay is at %d: %v", h.Revision, err)
		}
	})
}

func TestOneOfTwoAppendsAtAPositionWins(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := open(t, Options{Dir: dir})
		entries := life(t, "r", "m")
		mustAppend(t, j, entries[0])
		errs := inOneGroup(t, j, entries[1:2], entries[1:2])
		if errs[0] != nil || !errors.Is(errs[1], replay.ErrStale) {
			t.Errorf("answers %v, want the second to be stale", errs)
		}
	})
}

func TestCloseAnswersThoseWhoWait(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := open(t, Options{Dir: dir})
		j.turn <- struct{}{}
		answer, closed := make(chan error, 1), make(chan error, 1)
		go func() { answer <- j.Append(t.Context(), life(t, "r", "m")) }()
		synctest.Wait()
		go func() { closed <- j.Close() }()
		if err := <-answer; !errors.Is(err, ErrClosed) {
			t.Errorf("Append = %v, want %v", err, ErrClosed)
		}
		<-j.turn
		if err := <-closed; err != nil {
			t.Errorf("Close = %v", err)
		}
	})
}

func TestALongQueueIsSeveralCommits(t *testing.T) {
	j := &Journal{}
	for range 4 {
		j.waiting = append(j.waiting, &appending{size: groupBytes / 3})
	}
	j.waiting = append(j.waiting, &appending{size: 2 * groupBytes}, &appending{size: 1})
	for i, want := range []int{3, 1, 1, 1, 0} {
		if got := len(j.take()); got != want {
			t.Errorf("group %d has %d appends, want %d", i, got, want)
		}
	}
}

// An append that is alone in its commit and refused leaves nothing, and is
// no trouble of the journal's.
func TestALoneRefusalLeavesNothing(t *testing.T) {
	var log bytes.Buffer
	j := open(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	old := life(t, "old", "m")
	mustAppend(t, j, old[0])
	connection := j.writer
	for range 2 {
		if err := j.Append(t.Context(), []replay.Entry{create(t, "half", "m"), old[2]}); !errors.Is(err, replay.ErrStale) {
			t.Errorf("Append = %v, want %v", err, replay.ErrStale)
		}
	}
	if _, err := j.Head(t.Context(), "half"); !errors.Is(err, replay.ErrNotFound) {
		t.Errorf("half of a refused append is there: %v", err)
	}
	if j.writer != connection || log.Len() > 0 {
		t.Errorf("a refusal was taken for trouble: new connection %v\n%s", j.writer != connection, log.String())
	}
	mustAppend(t, j, old[1:]...)
}
