package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// Readers and writers of the tests below.
const (
	followedWriters = 4
	followedRecords = 30
)

// writeAll appends the records of one replay, one at a time, until all are written.
func writeAll(ctx context.Context, t *testing.T, j *Journal, id string) {
	e := create(t, id, "m")
	for range followedRecords {
		if err := j.Append(ctx, []replay.Entry{e}); err != nil {
			t.Error(err)
			return
		}
		e.Record.Seq++
		e.Head.Revision++
		e.Record.Events = []replay.Event{replay.Started{}}
	}
}

// follow reads events after a position as a watcher does, until it has seen the
// last record of every writer, or of the one that it wants; seen are the revisions
// that it has seen.
func follow(ctx context.Context, t *testing.T, j *Journal, after int64, f replay.EventFilter, limit int, seen map[string]int64) {
	wanted := followedWriters
	if f.ReplayID != "" {
		wanted = 1
	}
	for {
		committed := j.Committed()
		recs, through, err := j.Events(ctx, after, f, limit)
		if err != nil {
			t.Error(err)
			return
		}
		for _, p := range recs {
			if p.Seq != seen[p.ReplayID]+1 || p.Position <= after {
				t.Errorf("record %d of %s at position %d follows %d at %d", p.Seq, p.ReplayID, p.Position, seen[p.ReplayID], after)
			}
			seen[p.ReplayID], after = p.Seq, p.Position
		}
		if through < after {
			t.Errorf("complete up to %d only, after a record at %d", through, after)
		}
		after = through
		done := len(seen) == wanted
		for _, seq := range seen {
			done = done && seq == followedRecords
		}
		switch {
		case done:
			return
		case len(recs) > 0:
			continue
		}
		select {
		case <-committed:
		case <-ctx.Done():
			t.Errorf("nobody told of what came after %d: %v", after, seen)
			return
		}
	}
}

// reach waits until a position was given.
func reach(ctx context.Context, t *testing.T, j *Journal, position int64) {
	for {
		committed := j.Committed()
		at, err := j.Position(ctx)
		if err != nil {
			t.Error(err)
		}
		if at >= position || err != nil {
			return
		}
		select {
		case <-committed:
		case <-ctx.Done():
			t.Errorf("nobody told of what came after %d", at)
			return
		}
	}
}

// Whoever follows a journal sees each record once and in order while others
// write, and is woken for each: those who begin with a snapshot as well.
func TestFollowersMissNothingAndSeeNothingTwice(t *testing.T) {
	j := open(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i := range followedWriters {
		wg.Go(func() { writeAll(ctx, t, j, fmt.Sprintf("r%d", i)) })
	}
	for i := range 4 {
		wg.Go(func() { follow(ctx, t, j, 0, replay.EventFilter{}, 1+3*i, map[string]int64{}) })
		if i%2 == 0 {
			one := replay.EventFilter{ReplayID: fmt.Sprintf("r%d", i)}
			wg.Go(func() { follow(ctx, t, j, 0, one, 1+3*i, map[string]int64{}) })
		}
		wg.Go(func() {
			reach(ctx, t, j, int64(1+25*i)) // somewhere in the middle
			heads, position, err := j.LiveHeads(ctx, replay.EventFilter{})
			if err != nil {
				t.Error(err)
				return
			}
			seen := map[string]int64{}
			for _, h := range heads {
				seen[h.ReplayID] = h.Revision
			}
			follow(ctx, t, j, position, replay.EventFilter{}, 1+3*i, seen)
		})
	}
	wg.Wait()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestClosingWakesThoseWhoWaitForACommit(t *testing.T) {
	j := open(t, Options{})
	waiting := j.Committed()
	if j.Committed() != waiting {
		t.Error("two who wait for the same commit have two channels")
	}
	if closed(waiting) {
		t.Error("woken without a commit")
	}
	mustAppend(t, j, create(t, "r", "m"))
	if !closed(waiting) {
		t.Error("an append has returned, and nobody was woken")
	}
	waiting = j.Committed()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if !closed(waiting) || !closed(j.Committed()) { // which nothing else would ever close
		t.Error("the journal is closed, and somebody waits for a commit")
	}
	if _, _, err := j.Events(t.Context(), 0, replay.EventFilter{}, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Events = %v, want %v", err, ErrClosed)
	}
}

// The channel is given and closed under one lock, also while a commit ends after
// the journal was closed.
func TestACommitThatEndsAfterClosingWakesNobodyTwice(t *testing.T) {
	j := &Journal{}
	waiting := j.Committed()
	j.tell()
	if !closed(waiting) {
		t.Error("nobody was woken")
	}
	j.closed = true
	for range 2 {
		if !closed(j.Committed()) {
			t.Error("the journal is closed, and somebody waits for a commit")
		}
		j.tell()
	}
}
