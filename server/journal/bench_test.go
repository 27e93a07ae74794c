package journal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

// BenchmarkAppend compares durable appends of about 400 bytes with as many bytes
// written to a plain file and synced, one at a time, in the same run. Its
// numbers are for the machine that it runs on.
func BenchmarkAppend(b *testing.B) {
	b.Run("raw", benchmarkRaw)
	for _, appenders := range []int{1, 100} {
		b.Run(fmt.Sprintf("journal-%d", appenders), func(b *testing.B) { benchmarkAppend(b, appenders) })
	}
}

func benchmarkRaw(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	data := make([]byte, 400)
	for b.Loop() {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

func benchmarkAppend(b *testing.B, appenders int) {
	j, err := Open(b.Context(), Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			b.Error(err)
		}
	}()
	last := make([]replay.Entry, appenders)
	for i := range last {
		last[i] = create(b, fmt.Sprintf("r%d", i), "m")
		mustAppend(b, j, last[i])
	}
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range appenders {
		n := b.N/appenders + min(1, max(0, b.N%appenders-i)) // the rest goes to the first
		wg.Go(func() {
			for range n {
				if err := appendNext(b.Context(), j, &last[i]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

// BenchmarkAppendBesideIdleWatchers is an append and what watchers of another
// machine then do: each of them looks whether it is theirs.
func BenchmarkAppendBesideIdleWatchers(b *testing.B) {
	for _, watchers := range []int{0, 20, 100} {
		b.Run(fmt.Sprint(watchers), func(b *testing.B) {
			j, err := Open(b.Context(), Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := j.Close(); err != nil {
					b.Error(err)
				}
			}()
			last, after := create(b, "r", "m"), int64(1)
			mustAppend(b, j, last)
			for b.Loop() {
				if err := appendNext(b.Context(), j, &last); err != nil {
					b.Fatal(err)
				}
				through := after
				for range watchers {
					if _, through, err = j.Events(b.Context(), after, replay.EventFilter{MachineID: "other"}, 0); err != nil {
						b.Fatal(err)
					}
				}
				after = through
			}
		})
	}
}

// appendNext appends what follows e: a report of about 400 bytes and the
// dispatch after it.
func appendNext(ctx context.Context, j *Journal, e *replay.Entry) error {
	e.Record.Seq++
	e.Head.Revision++
	e.Head.Settled++
	e.Record.Events = []replay.Event{
		replay.Reported{ActionID: "action", AttemptID: "attempt", Outcome: replay.OutcomeAcked, Report: replay.Report{Success: true, Payload: make([]byte, 300)}},
		replay.Dispatched{ActionID: "next action", AttemptID: "next attempt", SessionID: "session"},
	}
	return j.Append(ctx, []replay.Entry{*e})
}
