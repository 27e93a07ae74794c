package pending

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newMap() *Map { return New(Timeouts{Receipt: 5 * time.Second, Orphan: 30 * time.Second}) }

func put(t *testing.T, m *Map, id string) {
	t.Helper()
	if err := m.Put(Entry{ActionID: id}); err != nil {
		t.Fatal(err)
	}
}

func TestAnActionIsInTheMapAtMostOnce(t *testing.T) {
	m := newMap()
	put(t, m, "a")
	if err := m.Put(Entry{ActionID: "a"}); err == nil || m.Len() != 1 {
		t.Errorf("second Put = %v, %d entries; want an error and 1", err, m.Len())
	}
}

func TestAnEntryIsDueAtItsReceiptDeadlineAndNotBefore(t *testing.T) {
	m := newMap()
	put(t, m, "a")
	m.Arm("a", start)
	if due := m.Due(start.Add(5*time.Second - 1)); len(due) != 0 {
		t.Errorf("due early: %v", due)
	}
	due := m.Due(start.Add(5 * time.Second))
	if len(due) != 1 || due[0].Kind != Receipt {
		t.Fatalf("due = %v, want the receipt of a", due)
	}
	if again := m.Due(start.Add(5 * time.Second)); len(again) != 1 {
		t.Errorf("an entry that nobody acted on is no longer due: %v", again)
	}
}

func TestProgressTellsTakesLongFromNeverArrived(t *testing.T) {
	m := newMap()
	put(t, m, "a")
	m.Arm("a", start)
	m.Progress("a", Executing, "typing", start.Add(4*time.Second))
	m.Progress("a", Received, "typing", start.Add(4*time.Second))
	if e, _ := m.Get("a"); e.Phase != Executing {
		t.Errorf("phase = %v, a phase never goes back", e.Phase)
	}
	if due := m.Due(start.Add(34*time.Second - 1)); len(due) != 0 {
		t.Errorf("due early: %v", due)
	}
	if due := m.Due(start.Add(34 * time.Second)); len(due) != 1 || due[0].Kind != Orphan {
		t.Errorf("due = %v, want the orphan a", due)
	}
}

func TestAWaivedReceiptLeavesTheOrphanDeadlineFromTheSending(t *testing.T) {
	m := newMap()
	put(t, m, "a")
	m.Arm("a", start)
	m.WaiveReceipt("a")
	if next, ok := m.Next(); !ok || !next.Equal(start.Add(30*time.Second)) {
		t.Errorf("next = %v, %v; want 30 s after the sending", next, ok)
	}
}

func TestDeadlinesStandStillWithoutAStream(t *testing.T) {
	m := newMap()
	put(t, m, "a")
	m.Arm("a", start)
	m.StandStill()
	if due := m.Due(start.Add(time.Hour)); len(due) != 0 {
		t.Errorf("due = %v without a stream", due)
	}
	m.Arm("a", start.Add(time.Hour))
	if next, ok := m.Next(); !ok || !next.Equal(start.Add(time.Hour+5*time.Second)) {
		t.Errorf("next = %v, %v after the stream came back", next, ok)
	}
}

func TestWithTheWatchdogOffNothingIsEverDue(t *testing.T) {
	m := New(Timeouts{Receipt: time.Second, Orphan: 2 * time.Second, Off: true})
	put(t, m, "a")
	m.Arm("a", start)
	m.Progress("a", Executing, "", start)
	if due := m.Due(start.Add(time.Hour)); len(due) != 0 {
		t.Errorf("due = %v", due)
	}
}

// Whatever is done to the map, the heap agrees with a plain look at every entry.
func TestTheHeapNeverForgetsADeadline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, now := newMap(), start
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := fmt.Sprint(rapid.IntRange(0, 7).Draw(t, "id"))
			now = now.Add(time.Duration(rapid.IntRange(0, 9000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				_ = m.Put(Entry{ActionID: id})
			case 1:
				m.Arm(id, now)
			case 2:
				m.Progress(id, Received, "", now)
			case 3:
				m.Remove(id)
			case 4:
				m.StandStill()
			case 5:
				m.WaiveReceipt(id)
			}
			want := 0
			for _, it := range m.entries {
				if it.index >= 0 && !it.at.After(now) {
					want++
				}
			}
			if got := len(m.Due(now)); got != want {
				t.Fatalf("%d due, want %d", got, want)
			}
		}
	})
}

func TestADeadlineIsToldWhileItRuns(t *testing.T) {
	m := newMap()
	put(t, m, "a")
	want := func(when string, kind Kind, at time.Time, running bool) {
		t.Helper()
		if k, a, ok := m.Deadline("a"); k != kind || !a.Equal(at) || ok != running {
			t.Errorf("%s: %v at %v, %v; want %v at %v, %v", when, k, a, ok, kind, at, running)
		}
	}
	want("put", 0, time.Time{}, false)
	m.Arm("a", start)
	want("sent", Receipt, start.Add(5*time.Second), true)
	m.Progress("a", Executing, "", start.Add(time.Second))
	want("executing", Orphan, start.Add(31*time.Second), true)
	m.StandStill()
	want("without a stream", 0, time.Time{}, false)
	m.Remove("a")
	want("removed", 0, time.Time{}, false)
}
