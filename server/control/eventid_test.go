package control

import (
	"errors"
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

func TestAnEventIDIsReadBackAndNoOtherTextIsOne(t *testing.T) {
	for _, c := range []cursor{{}, {position: 7}, {position: 7, seen: 1}, {position: 1 << 60, seen: 12}} {
		if got, err := parseEventID("j", c.id("j")); got != c || err != nil {
			t.Errorf("%s is read back as %v, %v", c.id("j"), got, err)
		}
	}
	for _, text := range []string{"", "j", "j-", "j-x", "j--1", "j-7-", "j-7-0", "j-7--1", "j-7-1-1", "j-07", "j-+7", "j-9223372036854775808", "k-7", "jj-7"} {
		if got, err := parseEventID("j", text); !errors.Is(err, replay.ErrEventID) {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
}

// The cursors of a record's events lie in order between those of the records
// around it, and the last one is the record's own.
func TestTheLastEventOfARecordIsTheRecordsEnd(t *testing.T) {
	if c := eventCursor(7, 0, 1); c != (cursor{position: 7}) || c.before() != 7 {
		t.Errorf("%v", c)
	}
	if c := eventCursor(7, 1, 3); c != (cursor{position: 7, seen: 2}) || c.before() != 6 {
		t.Errorf("%v", c)
	}
	if c := eventCursor(7, 2, 3); c != (cursor{position: 7}) {
		t.Errorf("%v", c)
	}
}
