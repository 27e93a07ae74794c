package dispatch

import (
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

// What keeps pictures from being dropped must know every live replay, and forget
// those that have ended.
func TestPayloadsAreThoseOfLiveReplays(t *testing.T) {
	inBubble(t, newFakeJournal(), func(f *fleet) {
		step := click
		step.Payload = []byte("action")
		f.submit("m", "r", step, step)
		f.submit("m", "waits", step)
		f.open("m", "s1")
		f.post("m", Report{SessionID: "s1", Result: Result{Ref: Ref{ActionID: "r-1"}, Report: replay.Report{Success: true, Payload: []byte("report")}}})
		p, err := f.Loop("m").Payloads(f.ctx)
		if err != nil || len(p.Actions) != 3 || len(p.Reports) != 1 || string(p.Reports[0]) != "report" {
			t.Errorf("%d actions, %d reports, %v; want 3 and 1", len(p.Actions), len(p.Reports), err)
		}
		f.report("m", "s1", "r-2")
		if p, err = f.Loop("m").Payloads(f.ctx); err != nil || len(p.Actions) != 1 || len(p.Reports) != 0 {
			t.Errorf("after the first has ended: %d actions, %d reports, %v; want 1 and 0", len(p.Actions), len(p.Reports), err)
		}
	})
}
