package journal

import (
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ncruces/go-sqlite3"

	"github.com/reprise-rpa/reprise/server/replay"
)

func TestAFullDiskRefusesAndRecoversByItself(t *testing.T) {
	for name, full := range map[string]error{"as SQLite says it": sqlite3.FULL, "as the system says it": syscall.ENOSPC} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			j := open(t, Options{VFS: d.name})
			entries := life(t, "r", "m")
			mustAppend(t, j, entries[0])
			refused := 0
			for room := 0; ; room++ { // room for so many writes: every place to fail at
				d.fill(room, full)
				err := j.Append(t.Context(), entries[1:])
				d.makeRoom()
				if err == nil {
					break
				}
				refused++
				if !errors.Is(err, replay.ErrNoSpace) {
					t.Fatalf("with room for %d writes Append = %v, want %v", room, err, replay.ErrNoSpace)
				}
				if got, err := j.Records(t.Context(), "r"); err != nil || len(got) != 1 {
					t.Fatalf("with room for %d writes %d records are there: %v", room, len(got), err)
				}
			}
			if refused == 0 {
				t.Error("the disk was never full")
			}
			got, err := j.Records(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(recordsOf(entries), got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("records differ (-appended +read):\n%s", diff)
			}
			// What was acknowledged after the failures is durable like any other.
			if n := survivorsOf(t, d.cut(), "r"); n != len(entries) {
				t.Errorf("%d records survive a power cut, want %d", n, len(entries))
			}
		})
	}
}

func survivorsOf(t *testing.T, left image, id string) int {
	t.Helper()
	j := open(t, Options{Dir: left.restore(t)})
	got, err := j.Records(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return len(got)
}

func TestAFailedCommitFailsAllOfItsGroupAndLeavesNothing(t *testing.T) {
	d := newDisk(t)
	j := open(t, Options{VFS: d.name})
	d.failSync.Store(&errBroken)
	group := []*appending{queued(t, create(t, "a", "m")), queued(t, create(t, "b", "m"))}
	j.turn <- struct{}{}
	j.commit(group)
	<-j.turn
	for _, a := range group {
		if err := <-a.done; err == nil || errors.Is(err, replay.ErrNoSpace) {
			t.Errorf("Append = %v, want the disk's error", err)
		}
	}
	d.failSync.Store(nil)
	if heads, _, err := j.Heads(t.Context(), replay.Filter{}); err != nil || len(heads) != 0 {
		t.Errorf("after the failure there are %v, %v", heads, err)
	}
	mustAppend(t, j, create(t, "a", "m"))
	if n := survivors(t, d.cut()); n != 1 {
		t.Errorf("%d entries survive, want the one that was acknowledged", n)
	}
}

func queued(t *testing.T, e replay.Entry) *appending {
	t.Helper()
	r, err := newRow(e)
	if err != nil {
		t.Fatal(err)
	}
	return &appending{rows: []row{r}, done: make(chan error, 1)}
}
