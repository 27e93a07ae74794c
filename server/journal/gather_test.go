package journal

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// two opens a journal whose last commit was of two appends, in a bubble, and returns
// what follows in each of the two replays.
func two(t *testing.T, opts Options) (j *Journal, a, b []replay.Entry) {
	t.Helper()
	j = open(t, opts)
	a, b = life(t, "a", "m"), life(t, "b", "n")
	for _, err := range inOneGroup(t, j, a[:1], b[:1]) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return j, a[1:], b[1:]
}

func TestWhoIsAloneWaitsForNobody(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, began := open(t, Options{Dir: dir}), time.Now()
		for _, e := range life(t, "a", "m") {
			mustAppend(t, j, e)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("three appends waited %v", took)
		}
	})
}

func TestThoseWhoWereTogetherShareTheNextCommitToo(t *testing.T) {
	d, dir := newDisk(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, a, b := two(t, Options{VFS: d.name, Dir: dir})
		before, began := d.syncs.Load(), time.Now()
		answer := make(chan error, 1)
		go func() { answer <- j.Append(t.Context(), a[:1]) }()
		synctest.Wait() // it waits for the other one
		if len(answer) != 0 {
			t.Error("the first one did not wait")
		}
		mustAppend(t, j, b[0])
		if err := <-answer; err != nil {
			t.Error(err)
		}
		if n, took := d.syncs.Load()-before, time.Since(began); n != 1 || took != 0 {
			t.Errorf("%d syncs after %v, want one at once", n, took)
		}
	})
}

func TestACommitWaitsOnceAndNotLongForThoseWhoDoNotCome(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, a, _ := two(t, Options{Dir: dir})
		for _, want := range []time.Duration{gatherFor, 0} {
			began := time.Now()
			mustAppend(t, j, a[0])
			if took := time.Since(began); took != want {
				t.Errorf("an append took %v, want %v", took, want)
			}
			a = a[1:]
		}
	})
}

func TestCloseEndsTheWaitForOthers(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, a, _ := two(t, Options{Dir: dir})
		began, answer := time.Now(), make(chan error, 1)
		go func() { answer <- j.Append(t.Context(), a[:1]) }()
		synctest.Wait() // it waits for the other one
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		if err := <-answer; !errors.Is(err, ErrClosed) {
			t.Errorf("Append = %v, want %v", err, ErrClosed)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}
