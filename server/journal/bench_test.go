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
