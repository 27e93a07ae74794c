package commits

import "testing"

func TestBothWaysTakeTheirTime(t *testing.T) {
	b, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	appends, err := b.Appends(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	syncs, err := b.Syncs(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range append(appends, syncs...) {
		if d <= 0 {
			t.Errorf("%v and %v", appends, syncs)
		}
	}
	// Each record follows the one before; the journal would refuse it else.
	if len(appends) != 3 || len(syncs) != 3 || b.entry.Record.Seq != 4 || b.entry.Head.Settled != 3 {
		t.Errorf("%d appends and %d syncs, the last record is %d", len(appends), len(syncs), b.entry.Record.Seq)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
