package recovery

import (
	"os"
	"testing"
)

func TestTheRecoveredFleetHasEveryQueuedActionAndBothSidesReadTheSameRows(t *testing.T) {
	for name, c := range map[string]Config{
		"nothing begun": {Replays: 20, Queued: 50, Repetitions: 3, Dir: t.TempDir()},
		"half done":     {Replays: 20, Queued: 25, Settled: 25, Repetitions: 3, Dir: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Measure(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Replays != c.Replays || r.Queued != c.Replays*c.Queued {
				t.Errorf("the fleet found %d replays with %d queued actions, want %d with %d", r.Replays, r.Queued, c.Replays, c.Replays*c.Queued)
			}
			records := c.Replays
			if c.Settled > 0 { // the first dispatch, and a report with each
				records += c.Replays * (1 + c.Settled)
			}
			if r.Records != records || r.Bytes < int64(r.Queued)*100 {
				t.Errorf("%d records of %d bytes were read, want %d with at least 100 bytes per action", r.Records, r.Bytes, records)
			}
			if r.Raw <= 0 || r.Open <= 0 || r.Recover <= 0 || r.Ready < r.Open || r.Ratio <= 0 {
				t.Errorf("a duration is missing in %+v", r)
			}
			if left, err := os.ReadDir(c.Dir); err != nil || len(left) > 0 {
				t.Errorf("%d files are left behind, error %v", len(left), err)
			}
		})
	}
}

func TestAMedianIsTheMiddleOfTheRepetitions(t *testing.T) {
	r := sum([]repetition{{raw: 1, open: 1, up: 9}, {raw: 2, open: 2, up: 4}, {raw: 100, open: 3, up: 300}})
	if r.Raw != 2 || r.Open != 2 || r.Recover != 8 || r.Ready != 9 || r.Ratio != 3 {
		t.Errorf("medians are %+v", r)
	}
}
