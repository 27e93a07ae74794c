package telemetry

import (
	"log/slog"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// BenchmarkAnAction is the lines that the report of one action and the dispatch of
// the next one leave.
func BenchmarkAnAction(b *testing.B) {
	tel, err := New(prometheus.NewRegistry(), slog.New(slog.NewTextHandler(nowhere(b), nil)))
	if err != nil {
		b.Fatal(err)
	}
	v := dispatch.View{Head: replay.Head{ReplayID: "r-0193f2", Revision: 117}, Events: []replay.Event{
		replay.Reported{ActionID: "r-0193f2-116", AttemptID: "r-0193f2-116.1", Outcome: replay.OutcomeAcked},
		replay.Dispatched{ActionID: "r-0193f2-117", AttemptID: "r-0193f2-117.1", SessionID: "s-1"},
	}}
	routed := dispatch.Note{Kind: dispatch.NoteMonitorRouted, Replay: "r-0193f2", Action: "r-0193f2-117", Source: "recorded"}
	b.ReportAllocs()
	for b.Loop() {
		tel.Note("desk-1", routed)
		tel.Changed("desk-1", v)
	}
}

// nowhere is a file, to which a write costs what it costs.
func nowhere(b *testing.B) *os.File {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	return f
}
