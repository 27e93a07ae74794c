package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-rpa/reprise/server/replay"
)

// samples is a record with each event as a server writes it.
func samples() []replay.Record {
	events := []replay.Event{
		replay.Created{
			MachineID: "m", Workflow: "w", RequestID: "request", RequestHash: "hash", Labels: map[string]string{"ward": "3"}, By: "someone", Open: true,
			Masks: []replay.Mask{{Monitor: 1, Left: 0.25, Width: 0.5, Height: 1}},
			Steps: []replay.Step{{
				Name: "save", Kind: "click", Payload: []byte("where to click"), Critical: true, MaxRetries: -1,
				Checks: []replay.Check{{ID: "c", Label: "the right patient", Required: true}},
			}},
		},
		replay.Appended{RequestID: "another", RequestHash: "hash", By: "someone", Steps: []replay.Step{{Kind: "wait", OnGiveUp: replay.GiveUpFail}}},
		replay.Closed{By: "someone"},
		replay.Started{},
		replay.Dispatched{ActionID: "r-1", AttemptID: "t", SessionID: "s", SpoolID: "p", BootID: "b", Reason: replay.DesktopUnavailable},
		replay.Adopted{ActionID: "r-1", AttemptID: "t"},
		replay.Requeued{ActionID: "r-1", Spent: true},
		replay.Reported{ActionID: "r-1", AttemptID: "t", Outcome: replay.OutcomeNeedsHelp, Report: replay.Report{Code: "verify_failed", Payload: []byte("report")}},
		replay.LostMemory{ActionID: "r-1"},
		replay.GaveUp{ActionID: "r-1", AllDeliveries: true},
		replay.PausedBy{Reason: "operator", Decide: "r-1", Gate: -1, Again: []string{"r-0"}},
		replay.GatePassed{Step: 2},
		replay.Resumed{By: "someone", Acked: []string{"c"}, From: -1, Position: &replay.Point{X: 0.5, Y: 0.25}},
		replay.Ended{State: replay.Completed},
	}
	recs := make([]replay.Record, len(events))
	for i, ev := range events {
		recs[i] = replay.Record{ReplayID: "r", Seq: int64(i + 1), At: start.Add(time.Duration(i) * time.Second), Events: []replay.Event{ev}}
	}
	return recs
}

// Whatever lies in a row, reading it gives a record or an error; and a record
// that was read is written as one that reads the same, and has a line in a dump.
func FuzzRow(f *testing.F) {
	for _, rec := range samples() {
		data, err := encode(rec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)*2/3]) // cut off
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := decode(data)
		if err != nil {
			return
		}
		again, err := encode(rec)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		got, err := decode(again)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := cmp.Diff(rec, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("the record changed on its way (-read +written and read):\n%s", diff)
		}
		for _, ev := range rec.Events {
			if line := describe(ev); line == "" || line == fmt.Sprintf("%T", ev) {
				t.Errorf("%T has no line", ev)
			}
		}
	})
}
