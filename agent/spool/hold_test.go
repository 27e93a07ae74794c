package spool_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/spool"
)

func TestAStopOfThePersonIsThereAfterARestartUntilItIsLifted(t *testing.T) {
	dir, err := spool.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	held := spool.Record{Type: spool.TypeHeld, Hold: &spool.Hold{By: "stop key", At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}}
	want := func(what string, want *spool.Hold) {
		t.Helper()
		s := open(t, dir, 2)
		if diff := cmp.Diff(want, s.Memory().Held()); diff != "" {
			t.Errorf("%s, -want +got:\n%s", what, diff)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	change := func(change func(*spool.Spool)) {
		t.Helper()
		s := open(t, dir, 2)
		change(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want("at first", nil)
	change(func(s *spool.Spool) { appendAll(t, s, held) })
	want("after a restart", held.Hold)
	change(func(s *spool.Spool) {
		for range 10 { // enough for the file to be compacted
			appendAll(t, s, started("a"), result("a"), about(spool.TypeAcknowledged, "a"))
		}
	})
	want("after the file was compacted", held.Hold)
	change(func(s *spool.Spool) {
		if err := s.Rewrite(s.Memory()); err != nil {
			t.Fatal(err)
		}
	})
	want("after the file was rewritten", held.Hold)
	change(func(s *spool.Spool) { appendAll(t, s, spool.Record{Type: spool.TypeLifted}) })
	want("lifted", nil)
}
