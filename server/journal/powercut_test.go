package journal

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/reprise-rpa/reprise/server/replay"
)

// moment is one power cut: what it leaves, and what had been promised by then.
type moment struct {
	what    string
	left    image
	acked   int // entries that Append had acknowledged
	started int // entries that were handed to it
}

// recordCuts appends pairs of entries to a journal, with a checkpoint between
// them, and cuts the power in every sync, after it, and after every
// acknowledgement.
func recordCuts(t *testing.T, synchronous string) (moments []moment) {
	t.Helper()
	const appends = 5
	d := newDisk(t)
	j := open(t, Options{VFS: d.name, synchronous: synchronous})
	r := rand.New(rand.NewPCG(1, 2))
	acked, started := 0, 0
	record := func(what string, left image) {
		moments = append(moments, moment{what, left, acked, started})
	}
	atSync := func(synced bool) {
		if synced {
			record("after a sync", d.cut())
			return
		}
		record("in a sync", d.cutTorn(r))
	}
	d.atSync.Store(&atSync)
	defer d.atSync.Store(nil)
	for i := range appends {
		a, b := life(t, fmt.Sprintf("a%d", i), "m"), life(t, fmt.Sprintf("b%d", i), "m")
		started += 2
		mustAppend(t, j, a[0], b[0])
		acked += 2
		record("after an acknowledgement", d.cut())
		if i == appends/2 {
			checkpoint(t, j)
		}
	}
	return moments
}

// checkpoint moves the write-ahead log into the database.
func checkpoint(t *testing.T, j *Journal) {
	t.Helper()
	j.turn <- struct{}{}
	defer func() { <-j.turn }()
	if _, _, err := j.writer.conn.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE); err != nil {
		t.Fatal(err)
	}
}

// survivors opens what a power cut left and returns how many entries are there.
func survivors(t *testing.T, left image) int {
	t.Helper()
	j := open(t, Options{Dir: left.restore(t)})
	n := 0
	if err := j.Live(t.Context(), func(replay.Record) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	if heads, _, err := j.Heads(t.Context(), replay.Filter{}); err != nil || len(heads) != n {
		t.Errorf("%d records have %d heads: %v", n, len(heads), err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	return n
}

func TestAPowerCutLosesNothingAcknowledged(t *testing.T) {
	for i, m := range recordCuts(t, "") {
		n := survivors(t, m.left)
		if n < m.acked || n > m.started {
			t.Errorf("cut %d, %s: %d entries are there, %d were acknowledged of %d", i, m.what, n, m.acked, m.started)
		}
		if n%2 != 0 {
			t.Errorf("cut %d, %s: half an append is there", i, m.what)
		}
	}
}

// The test above would see a missing sync: with the setting that leaves it out,
// the same cuts lose what was acknowledged.
func TestAPowerCutIsSeenWithoutSyncs(t *testing.T) {
	moments := recordCuts(t, "NORMAL")
	last := moments[0]
	for _, m := range moments {
		if m.what == "after an acknowledgement" {
			last = m
		}
	}
	if n := survivors(t, last.left); n >= last.acked {
		t.Errorf("%d of %d acknowledged entries survived without a sync: the cut is not one", n, last.acked)
	}
}
