package spool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

// What a screen shows outlives the process that brought it there, and the file that
// says so is compacted meanwhile.
func TestWhatBeganIsKnownWithItsMasksAfterARestart(t *testing.T) {
	masks := []work.Mask{{Monitor: 1, Left: 0.5, Width: 0.25, Height: 1}}
	hidden := func(r spool.Record) spool.Record { r.Masks = masks; return r }
	refused := result("c")
	refused.Outcome.Completion = work.NotStarted
	disk := newDisk()
	first := open(t, disk, 0)
	appendAll(t, first, hidden(started("a")), hidden(result("a")), about(spool.TypeAcknowledged, "a"), hidden(started("b")), refused,
		started("d"), about(spool.TypeWithdrawn, "d"), started("e"), about(spool.TypeClosed, "e"))
	if err := first.Rewrite(first.Memory()); err != nil {
		t.Fatal(err)
	}
	want := []work.Begun{{Ref: ref("a"), Masks: masks}, {Ref: ref("b"), Masks: masks}, {Ref: ref("e")}}
	if diff := cmp.Diff(want, open(t, disk.crash(), 0).Memory().Begun()); diff != "" {
		t.Errorf("after a restart:\n%s", diff)
	}
}
