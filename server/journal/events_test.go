package journal

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-rpa/reprise/server/replay"
)

// places gives records as their positions, replays and seqs.
func places(recs []replay.Positioned) (out []string) {
	for _, r := range recs {
		out = append(out, fmt.Sprintf("%d %s/%d", r.Position, r.ReplayID, r.Seq))
	}
	return out
}

func expectEvents(t *testing.T, j *Journal, after int64, f replay.EventFilter, limit int, wantThrough int64, want ...string) {
	t.Helper()
	recs, through, err := j.Events(t.Context(), after, f, limit)
	if err != nil || through != wantThrough {
		t.Errorf("Events(%d, %+v, %d) end at %d, %v; want %d", after, f, limit, through, err, wantThrough)
	}
	if diff := cmp.Diff(want, places(recs)); diff != "" {
		t.Errorf("Events(%d, %+v, %d) differ (-want +got):\n%s", after, f, limit, diff)
	}
}

func TestEventsComeInTheOrderOfTheirCommitsAndAreFiltered(t *testing.T) {
	j := open(t, Options{})
	expectEvents(t, j, 0, replay.EventFilter{}, 10, 0)
	mustAppend(t, j, interleaved(t)...) // b and a in turn, then live
	expectEvents(t, j, 0, replay.EventFilter{}, 10, 7, "1 b/1", "2 a/1", "3 b/2", "4 a/2", "5 b/3", "6 a/3", "7 live/1")
	expectEvents(t, j, 0, replay.EventFilter{}, 0, 7, "1 b/1", "2 a/1", "3 b/2", "4 a/2", "5 b/3", "6 a/3", "7 live/1")
	expectEvents(t, j, 4, replay.EventFilter{}, 10, 7, "5 b/3", "6 a/3", "7 live/1")
	expectEvents(t, j, 0, replay.EventFilter{MachineID: "m1"}, 10, 7, "2 a/1", "4 a/2", "6 a/3", "7 live/1")
	expectEvents(t, j, 3, replay.EventFilter{ReplayID: "b"}, 10, 7, "5 b/3")
	expectEvents(t, j, 0, replay.EventFilter{ReplayID: "b", MachineID: "m1"}, 10, 7)
	expectEvents(t, j, 0, replay.EventFilter{ReplayID: "nobody's"}, 10, 7)
	expectEvents(t, j, 7, replay.EventFilter{}, 10, 7)
	// Through is the last record's position when more may follow that fit.
	expectEvents(t, j, 0, replay.EventFilter{MachineID: "m1"}, 2, 4, "2 a/1", "4 a/2")
	expectEvents(t, j, 4, replay.EventFilter{MachineID: "m1"}, 2, 7, "6 a/3", "7 live/1")
}

func TestARefusedAppendTakesNoPosition(t *testing.T) {
	j := open(t, Options{})
	if err := j.Append(t.Context(), []replay.Entry{create(t, "half", "m"), life(t, "nobody", "m")[2]}); !errors.Is(err, replay.ErrStale) {
		t.Fatal(err)
	}
	mustAppend(t, j, create(t, "a", "m"))
	expectEvents(t, j, 0, replay.EventFilter{}, 10, 1, "1 a/1")
}

func TestAnAnswerIsBoundedInBytesAndHoldsOneRecordAtLeast(t *testing.T) {
	j := open(t, Options{})
	large := func(id string, size int) {
		c := created(id, "m", 1)
		c.Steps[0].Payload = make([]byte, size)
		mustAppend(t, j, newScript().next(t, id, c))
	}
	large("a", 2*maxEventBytes)
	large("b", maxEventBytes/2)
	large("c", maxEventBytes/3)
	large("d", maxEventBytes/3)
	expectEvents(t, j, 0, replay.EventFilter{}, 10, 1, "1 a/1")
	expectEvents(t, j, 1, replay.EventFilter{}, 10, 3, "2 b/1", "3 c/1")
	expectEvents(t, j, 3, replay.EventFilter{}, 10, 4, "4 d/1")
}

// What is purged may be what is newest: its positions are not given again, also
// not after a restart.
func TestAPositionIsNeverGivenTwice(t *testing.T) {
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	id := j.ID()
	mustAppend(t, j, create(t, "live", "m"))
	last := int64(1)
	for i := range 3 {
		mustAppend(t, j, life(t, fmt.Sprintf("r%d", i), "m")...)
		if gone, err := j.Purge(t.Context(), time.Time{}, 0); err != nil || len(gone) != 1 {
			t.Fatalf("Purge = %v, %v", gone, err)
		}
		last += 3
		if i > 0 { // once without a restart
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j = open(t, Options{Dir: dir})
		}
		if got, err := j.Position(t.Context()); err != nil || got != last {
			t.Errorf("the newest position is %d, %v; want %d", got, err, last)
		}
	}
	mustAppend(t, j, create(t, "new", "m"))
	expectEvents(t, j, last, replay.EventFilter{}, 10, last+1, fmt.Sprintf("%d new/1", last+1))
	if j.ID() != id {
		t.Errorf("the journal's id changed from %s to %s", id, j.ID())
	}
	if other := open(t, Options{}); other.ID() == id || id == "" {
		t.Errorf("two journals have the id %q", id)
	}
}

// A reader that saw a position finds the same behind it after a power cut, and
// none that it did not see before it.
func TestAReaderGoesOnAfterAPowerCut(t *testing.T) {
	d := newDisk(t)
	j := open(t, Options{VFS: d.name})
	entries := interleaved(t)
	mustAppend(t, j, entries[:3]...)
	seen, through, err := j.Events(t.Context(), 0, replay.EventFilter{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, entries[3:]...)
	id, left := j.ID(), d.cut()
	j = open(t, Options{Dir: left.restore(t)})
	if j.ID() != id {
		t.Errorf("the journal's id changed from %s to %s", id, j.ID())
	}
	rest, _, err := j.Events(t.Context(), through, replay.EventFilter{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []replay.Record
	for _, p := range append(seen, rest...) {
		got = append(got, p.Record)
	}
	if diff := cmp.Diff(recordsOf(entries), got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("records differ (-appended +read):\n%s", diff)
	}
}

func TestAReaderThatWouldMissARecordIsTold(t *testing.T) {
	j := open(t, Options{})
	mustAppend(t, j, interleaved(t)...)
	b := interleaved(t)
	if err := j.delete(t.Context(), []string{"b"}); err != nil { // 1, 3 and 5 are gone
		t.Fatal(err)
	}
	for after, want := range map[int64]error{
		-1: replay.ErrEventID, 0: replay.ErrEventsForgotten, 4: replay.ErrEventsForgotten, 5: nil, 6: nil, 7: nil, 8: replay.ErrEventID,
	} {
		// A filter does not matter: what is gone says no more whether it fits.
		if _, _, err := j.Events(t.Context(), after, replay.EventFilter{ReplayID: "a"}, 10); !errors.Is(err, want) {
			t.Errorf("Events after %d: %v, want %v", after, err, want)
		}
	}
	for after, want := range map[int64][]string{
		0: {"2 a/1", "4 a/2", "6 a/3", "7 live/1"}, 4: {"6 a/3", "7 live/1"}, 7: nil,
	} {
		recs, through, err := j.KeptEvents(t.Context(), after, replay.EventFilter{}, 10)
		if err != nil || through != 7 || !slices.Equal(places(recs), want) {
			t.Errorf("KeptEvents after %d = %v up to %d, %v; want %v", after, places(recs), through, err, want)
		}
	}
	if _, _, err := j.KeptEvents(t.Context(), 8, replay.EventFilter{}, 10); !errors.Is(err, replay.ErrEventID) {
		t.Errorf("KeptEvents after a position that was not given: %v", err)
	}
	// The same replay may come back under its id; its old records do not.
	mustAppend(t, j, b[0])
	expectEvents(t, j, 7, replay.EventFilter{}, 10, 8, "8 b/1")
}

func TestRecordsAfterASeqAreReadAlone(t *testing.T) {
	j := open(t, Options{})
	entries := life(t, "r", "m")
	mustAppend(t, j, entries...)
	for seq, want := range [][]replay.Record{recordsOf(entries), recordsOf(entries[1:]), recordsOf(entries[2:]), nil, nil} {
		got, err := j.RecordsAfter(t.Context(), "r", int64(seq))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("records after %d: %v (-want +got):\n%s", seq, err, diff)
		}
	}
	if _, err := j.RecordsAfter(t.Context(), "x", 0); !errors.Is(err, replay.ErrNotFound) {
		t.Errorf("an unknown replay: %v, want %v", err, replay.ErrNotFound)
	}
}

func TestLiveHeadsAreFilteredAndInOrderOfCreation(t *testing.T) {
	j := open(t, Options{})
	mustAppend(t, j, create(t, "z", "m1"))
	mustAppend(t, j, life(t, "over", "m1")...)
	mustAppend(t, j, create(t, "a", "m2"))
	mustAppend(t, j, create(t, "b", "m1"))
	for _, c := range []struct {
		filter replay.EventFilter
		want   []string
	}{
		{replay.EventFilter{}, []string{"z", "a", "b"}},
		{replay.EventFilter{MachineID: "m1"}, []string{"z", "b"}},
		{replay.EventFilter{ReplayID: "a"}, []string{"a"}},
		{replay.EventFilter{ReplayID: "over"}, nil},
		{replay.EventFilter{ReplayID: "a", MachineID: "m1"}, nil},
	} {
		heads, position, err := j.LiveHeads(t.Context(), c.filter)
		if err != nil || position != 6 || !slices.Equal(ids(heads), c.want) {
			t.Errorf("LiveHeads(%+v) = %v at %d, %v; want %v at 6", c.filter, ids(heads), position, err, c.want)
		}
	}
}

// A head keeps what the replay's appends and its closing change.
func TestTheHeadOfAnOpenReplayChanges(t *testing.T) {
	j := open(t, Options{})
	e := create(t, "r", "m")
	e.Head.Open = true
	mustAppend(t, j, e)
	for _, change := range []func(*replay.Head){
		func(h *replay.Head) { h.Actions = 5 },
		func(h *replay.Head) { h.Open = false },
	} {
		e.Record.Seq++
		e.Head.Revision++
		e.Record.Events = []replay.Event{replay.Closed{}}
		change(&e.Head)
		mustAppend(t, j, e)
		if got, err := j.Head(t.Context(), "r"); err != nil || !cmp.Equal(e.Head, got) {
			t.Errorf("the head: %v\n%s", err, cmp.Diff(e.Head, got))
		}
	}
}
