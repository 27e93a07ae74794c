package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/reprise-rpa/reprise/server/replay"
)

// A journal whose readers are gone can tell a watcher only what it remembers.
func TestAWatcherToWhomNothingHappensDoesNotTouchTheDatabase(t *testing.T) {
	j := open(t, Options{})
	mustAppend(t, j, create(t, "own", "m1"))
	if err := j.readers.Close(); err != nil {
		t.Fatal(err)
	}
	other := life(t, "other", "m2")
	after := int64(1)
	for i, e := range other {
		mustAppend(t, j, e)
		for _, f := range []replay.EventFilter{{MachineID: "m1"}, {ReplayID: "own"}, {MachineID: "m2", ReplayID: "own"}} {
			expectEvents(t, j, after, f, 10, int64(2+i))
		}
		after++
		expectEvents(t, j, after, replay.EventFilter{}, 10, after)
	}
	// What may be theirs is read.
	if _, _, err := j.Events(t.Context(), 3, replay.EventFilter{MachineID: "m2"}, 10); err == nil {
		t.Error("a record that fits came from nowhere")
	}
	if _, _, err := j.Events(t.Context(), 0, replay.EventFilter{MachineID: "m1"}, 10); err == nil {
		t.Error("a record that fits came from nowhere")
	}
}

// A watcher that goes on after a restart where it was needs no read either; what
// was written before it is not remembered.
func TestAnOpenedJournalRemembersThatNothingIsNew(t *testing.T) {
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	mustAppend(t, j, life(t, "r", "m")...)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, Options{Dir: dir})
	if through, ok := j.recent.nothingAfter(3, replay.EventFilter{}, false); !ok || through != 3 {
		t.Errorf("nothing after the newest position: %d, %v", through, ok)
	}
	if _, ok := j.recent.nothingAfter(2, replay.EventFilter{MachineID: "other"}, false); ok {
		t.Error("a record from before is remembered")
	}
	expectEvents(t, j, 2, replay.EventFilter{MachineID: "m"}, 10, 3, "3 r/3")
}

// expectNothing checks after which position, of those up to 9, it is remembered
// that nothing fits, and up to where.
func expectNothing(t *testing.T, r *recent, f replay.EventFilter, want map[int64]int64) {
	t.Helper()
	got := map[int64]int64{}
	for after := range int64(10) {
		if through, ok := r.nothingAfter(after, f, false); ok {
			got[after] = through
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nothing fits %+v after these positions (-want +got):\n%s", f, diff)
	}
}

func TestWhatIsNoLongerRememberedIsLeftToTheDatabase(t *testing.T) {
	r := newRecent(3)
	expectNothing(t, r, replay.EventFilter{}, map[int64]int64{})
	r.learn([]place{{"m", "a"}, {"m", "b"}}, 2, 0)
	expectNothing(t, r, replay.EventFilter{ReplayID: "x"}, map[int64]int64{0: 2, 1: 2, 2: 2})
	expectNothing(t, r, replay.EventFilter{ReplayID: "a"}, map[int64]int64{1: 2, 2: 2})
	r.learn([]place{{"m", "b"}, {"m", "b"}, {"n", "b"}}, 5, 0) // a and the first b are overwritten
	expectNothing(t, r, replay.EventFilter{ReplayID: "a"}, map[int64]int64{2: 5, 3: 5, 4: 5, 5: 5})
	expectNothing(t, r, replay.EventFilter{MachineID: "m"}, map[int64]int64{4: 5, 5: 5})
	r.learn(nil, 5, 3)
	expectNothing(t, r, replay.EventFilter{ReplayID: "a"}, map[int64]int64{3: 5, 4: 5, 5: 5})
	r.learn([]place{{"m", "c"}}, 7, 3) // what is at 6 came from elsewhere
	expectNothing(t, r, replay.EventFilter{ReplayID: "a"}, map[int64]int64{6: 7, 7: 7})
	r.forget()
	expectNothing(t, r, replay.EventFilter{ReplayID: "a"}, map[int64]int64{})
	r.learn([]place{{"m", "d"}}, 8, 3)
	expectNothing(t, r, replay.EventFilter{ReplayID: "a"}, map[int64]int64{7: 8, 8: 8})
}

// A commit that failed may be there after all, so that nothing is said until the
// next one; and what is kept of each commit does not grow.
func TestNothingIsRememberedPastACommitThatFailed(t *testing.T) {
	d := newDisk(t)
	j := open(t, Options{VFS: d.name})
	for i := range 5 {
		mustAppend(t, j, create(t, fmt.Sprintf("r%d", i), "m"))
	}
	if n := len(j.writer.added); n != 1 {
		t.Errorf("the places of %d records are kept for a commit of one", n)
	}
	d.failSync.Store(&errBroken)
	if err := j.Append(t.Context(), []replay.Entry{create(t, "lost", "m")}); err == nil {
		t.Fatal("a broken disk took a record")
	}
	d.failSync.Store(nil)
	expectNothing(t, j.recent, replay.EventFilter{MachineID: "other"}, map[int64]int64{})
	expectEvents(t, j, 5, replay.EventFilter{MachineID: "other"}, 10, 5)
	mustAppend(t, j, create(t, "r5", "m"))
	expectNothing(t, j.recent, replay.EventFilter{MachineID: "other"}, map[int64]int64{5: 6, 6: 6})
}

// walk does to a journal what a server and its disk do, at random.
type walk struct {
	r       *rand.Rand
	disk    *disk
	dir     string
	j       *Journal
	live    []*replay.Entry // the last ones of the replays that have not ended
	number  int             // of replays, those refused included
	retried int             // commits that the disk refused
}

const rememberedByWalk = 12

func (w *walk) open(t *testing.T) {
	t.Helper()
	w.j = open(t, Options{Dir: w.dir, VFS: w.disk.name})
	w.j.recent.places = make([]place, rememberedByWalk) // nothing was appended yet
}

// appends makes those of one commit: they create replays, go on with them or end
// them, and some are refused.
func (w *walk) appends(t *testing.T) (out [][]replay.Entry) {
	t.Helper()
	for range 1 + w.r.IntN(4) {
		w.number++
		id := fmt.Sprintf("r%d", w.number)
		switch n := w.r.IntN(6); {
		case n < 1: // its first record could be written, its second one cannot
			out = append(out, []replay.Entry{create(t, id, "m0"), life(t, "nobody", "m1")[2]})
		case n < 3 || len(w.live) == 0:
			e := create(t, id, fmt.Sprintf("m%d", w.r.IntN(3)))
			w.live = append(w.live, &e)
			out = append(out, []replay.Entry{e})
		default:
			i := w.r.IntN(len(w.live))
			e := w.live[i]
			e.Record.Seq++
			e.Head.Revision++
			e.Record.Events = []replay.Event{replay.Started{}}
			if n == 3 {
				e.Head.State, e.Head.EndedAt = replay.Completed, start.Add(time.Duration(w.number))
				w.live = slices.Delete(w.live, i, i+1)
			}
			out = append(out, []replay.Entry{*e})
		}
	}
	return out
}

// commit writes appends in one commit and returns the disk's error.
func (w *walk) commit(t *testing.T, appends [][]replay.Entry) (err error) {
	t.Helper()
	var group []*appending
	for _, entries := range appends {
		a := &appending{done: make(chan error, 1)}
		for _, e := range entries {
			r, err := newRow(e)
			if err != nil {
				t.Fatal(err)
			}
			a.rows = append(a.rows, r)
		}
		group = append(group, a)
	}
	w.j.turn <- struct{}{}
	w.j.commit(group)
	<-w.j.turn
	for _, a := range group {
		if answer := <-a.done; !errors.Is(answer, replay.ErrStale) {
			err = errors.Join(err, answer)
		}
	}
	return err
}

// step does one thing.
func (w *walk) step(t *testing.T) {
	t.Helper()
	switch n := w.r.IntN(20); {
	case n < 14:
		if err := w.commit(t, w.appends(t)); err != nil {
			t.Fatal(err)
		}
	case n < 16:
		appends := w.appends(t)
		w.refuse()
		err := w.commit(t, appends)
		w.disk.makeRoom()
		w.disk.failSync.Store(nil)
		if err == nil {
			return
		}
		w.retried++
		w.compare(t, replay.EventFilter{}, true)
		if err := w.commit(t, appends); err != nil { // as the server does, which tries again
			t.Fatal(err)
		}
	case n < 19:
		if _, err := w.j.Purge(t.Context(), time.Time{}, w.r.IntN(4)); err != nil {
			t.Fatal(err)
		}
	default:
		if err := w.j.Close(); err != nil {
			t.Fatal(err)
		}
		w.open(t)
	}
}

// refuse makes the disk fail at a write or at a sync.
func (w *walk) refuse() {
	if w.r.IntN(2) == 0 {
		w.disk.failSync.Store(&errBroken)
		return
	}
	w.disk.fill(w.r.IntN(3), sqlite3.FULL)
}

// compare asks about positions near the end, compares what is remembered with the
// database, and says how often something was.
func (w *walk) compare(t *testing.T, f replay.EventFilter, keptOnly bool) (remembered int) {
	t.Helper()
	last, err := w.j.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for after := max(-1, last-rememberedByWalk-3); after <= last+2; after++ {
		through, ok := w.j.recent.nothingAfter(after, f, keptOnly)
		if !ok {
			continue
		}
		remembered++
		recs, want, err := w.j.readEvents(t.Context(), after, f, 1, keptOnly)
		if err != nil || len(recs) > 0 || through != want {
			t.Fatalf("nothing fits %+v after %d of %d (kept alone: %v), it is said up to %d; the database has %v up to %d, %v",
				f, after, last, keptOnly, through, places(recs), want, err)
		}
	}
	return remembered
}

// Whatever was committed, refused, purged, not kept by a full or broken disk or
// done before a restart: what the journal says from memory is what its database
// says.
func TestWhatIsRememberedIsWhatTheDatabaseHolds(t *testing.T) {
	const steps = 100
	w := &walk{r: rand.New(rand.NewPCG(11, 12)), disk: newDisk(t), dir: t.TempDir()}
	w.open(t)
	remembered := 0
	for range steps {
		w.step(t)
		f := replay.EventFilter{}
		if w.r.IntN(4) > 0 {
			f.MachineID = fmt.Sprintf("m%d", w.r.IntN(4))
		}
		if w.r.IntN(4) == 0 {
			f.ReplayID = fmt.Sprintf("r%d", max(1, w.number-w.r.IntN(6)))
		}
		remembered += w.compare(t, f, w.r.IntN(2) == 0)
	}
	if remembered < 2*steps || w.retried < steps/20 {
		t.Errorf("%d answers were compared, %d commits failed: that says little", remembered, w.retried)
	}
}
