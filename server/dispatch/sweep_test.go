package dispatch

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A dispatch waits behind the loops that were woken before it, so a sweep wakes a
// few; those that are busy hold it up for a moment only.
func TestASweepAsksAFewMachinesAtATimeAndWaitsForNoBusyOne(t *testing.T) {
	const machines = 100
	j := newFakeJournal()
	inBubble(t, j, func(f *fleet) {
		began := time.Now()
		for i := range machines {
			name := fmt.Sprintf("m%d", i)
			f.submit(name, fmt.Sprintf("r%d", i), click)
			defer j.stall(name)()
			f.open(name, "s") // busy with the dispatch from here on
		}
		asked := func() (n int) {
			synctest.Wait()
			for _, id := range f.Machines() {
				n += len(f.Loop(id).inbox)
			}
			return n
		}
		time.Sleep(time.Until(began.Add(f.scanEvery + sweepPatience/2)))
		if n := asked(); n != sweepAtOnce {
			t.Errorf("a sweep asked %d machines at once, want %d", n, sweepAtOnce)
		}
		time.Sleep(sweepPatience * (machines/sweepAtOnce + 1))
		if n := asked(); n != machines {
			t.Errorf("%d of %d busy machines were asked in the end", n, machines)
		}
		if s := <-f.swept; s.Unanswered != machines {
			t.Errorf("%d machines count as not answering, want all %d", s.Unanswered, machines)
		}
	})
}
