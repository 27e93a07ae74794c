package journal

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// A reader that gives up is told so, at whatever moment it does: what the database
// makes of being interrupted would look like a fault of the journal.
func TestAReaderThatGivesUpIsToldSo(t *testing.T) {
	j := open(t, Options{Dir: t.TempDir()})
	for i := range 40 {
		mustAppend(t, j, create(t, "r"+string(rune('A'+i)), "m"))
	}
	gaveUp := errors.New("gave up")
	interrupted := 0
	for i := range 400 {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Duration(i)*2*time.Microsecond, gaveUp)
		_, _, err := j.Heads(ctx, replay.Filter{})
		if _, _, also := j.KeptEvents(ctx, 0, replay.EventFilter{}, 100); err == nil {
			err = also
		}
		cancel()
		if err == nil {
			continue
		}
		interrupted++
		if !errors.Is(err, gaveUp) {
			t.Fatalf("a reader that gave up after %d µs is told %v", 2*i, err)
		}
	}
	if interrupted == 0 {
		t.Error("no reader gave up in time")
	}
}
