package spool_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
)

// BenchmarkOneAction is what an action costs its agent on disk, "started" before the
// input and the result after it, in turn with as many bytes written to a plain file
// and synced twice. Both are medians of the same run; the ratio is what counts.
func BenchmarkOneAction(b *testing.B) {
	dir := b.TempDir()
	fs, err := spool.Dir(filepath.Join(dir, "spool"))
	if err != nil {
		b.Fatal(err)
	}
	s, err := spool.Open(spool.Config{FS: fs, BootID: "boot"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	plain, err := os.OpenFile(filepath.Join(dir, "plain"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	var writes, syncs []time.Duration
	for n := 0; b.Loop(); n++ {
		id := fmt.Sprintf("r-%d", n)
		writes = append(writes, took(b, func() error { return s.Append(started(id)) })+took(b, func() error { return s.Append(result(id)) }))
		if err := s.Append(about(spool.TypeAcknowledged, id)); err != nil { // needs no sync, and bounds the memory
			b.Fatal(err)
		}
		syncs = append(syncs, took(b, syncs200(plain))+took(b, syncs200(plain)))
	}
	write, sync := middle(writes), middle(syncs)
	b.ReportMetric(float64(write.Microseconds()), "µs/action")
	b.ReportMetric(float64(sync.Microseconds()), "µs/two-syncs")
	b.ReportMetric(float64(write)/float64(sync), "ratio")
}

// syncs200 writes about the bytes of a record and makes them durable.
func syncs200(f *os.File) func() error {
	data := make([]byte, 200)
	return func() error {
		if _, err := f.Write(data); err != nil {
			return err
		}
		return f.Sync()
	}
}

func took(b *testing.B, f func() error) time.Duration {
	b.Helper()
	at := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(at)
}

func middle(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}
