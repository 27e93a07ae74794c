package deadlines

import (
	"errors"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/server/dispatch"
)

func TestEveryDeadlineIsTimedAndSweepsAreCompared(t *testing.T) {
	c := Config{Machines: 1000, Spread: 200 * time.Millisecond, Sweeps: 3, SweepEvery: 50 * time.Millisecond}
	r, err := Measure(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]Lateness{"fleet": r.Fleet, "map": r.Map, "bare": r.Bare} {
		if l.P50 <= 0 || l.P99 < l.P50 || l.Max < l.P99 {
			t.Errorf("%s: %+v is no lateness", name, l)
		}
	}
	if r.Machines != c.Machines || r.Sweep <= 0 || r.Swept.P50 <= 0 || r.Between.P50 <= 0 || r.MapSweep <= 0 {
		t.Errorf("something was not measured: %+v", r)
	}
	if r.BytesPerMachine < 2000 {
		t.Errorf("a machine takes %d bytes, which no loop can do with", r.BytesPerMachine)
	}
}

// On a slow machine sweeps take longer than there should be between two of them.
func TestSlowSweepsAreWatchedToTheirEnd(t *testing.T) {
	w, err := newWorld(t.Context(), Config{Machines: 2000, Sweeps: 3, SweepEvery: time.Millisecond}.filled())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		w.stop(errMeasured)
		if err := <-w.ended; !errors.Is(err, errMeasured) {
			t.Error(err)
		}
	}()
	if err := w.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := w.watchSweeps(t.Context(), &r); err != nil || r.Sweep <= 0 || r.Swept.P50 <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestADeadlineThatIsHeldUpIsSeenAsLate(t *testing.T) {
	s := &silent{w: &world{due: []time.Time{time.Now().Add(-2 * time.Second)}, late: make([]time.Duration, 1), all: make(chan struct{})}}
	s.w.left.Store(1)
	s.Send(delivery(1))
	if s.w.left.Load() != 1 {
		t.Fatal("the first delivery counts as a redelivery")
	}
	s.Send(delivery(2))
	<-s.w.all
	if late := s.w.late[0]; late < 2*time.Second || late > time.Minute {
		t.Errorf("a redelivery 2 s after its deadline is %v late", late)
	}
}

func TestDispatchesAreComparedStretchByStretch(t *testing.T) {
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	list := []sample{{at(0), 1}, {at(10), 7}, {at(11), 3}, {at(20), 1}, {at(30), 5}, {at(40), 9 * time.Millisecond}}
	got, ok := during(list, []stretch{{at(10), at(12)}, {at(30), at(31)}, {at(45), at(46)}})
	if want := (Dispatch{P50: 7, Worst: 7}); !ok || got != want {
		t.Errorf("during = %+v, %v; want %+v", got, ok, want)
	}
	if got, ok := during(list, []stretch{{at(60), at(70)}}); ok {
		t.Errorf("during a stretch without a dispatch = %+v", got)
	}
}

func delivery(number int) dispatch.Deliver {
	return dispatch.Deliver{Delivery: dispatch.Delivery{Number: number}}
}
