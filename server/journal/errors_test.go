package journal

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/reprise-rpa/reprise/server/replay"
)

// What reaches a person's prompt is a sentence about the journal, not about the
// engine below it.
func TestWhatPeopleReadIsPlain(t *testing.T) {
	d := newDisk(t)
	var log bytes.Buffer
	j := open(t, Options{VFS: d.name, Log: slog.New(slog.NewTextHandler(&log, nil))})
	mustAppend(t, j, create(t, "r", "m"))

	_, notThere := j.Head(t.Context(), "nope")
	_, notThereEither := j.Records(t.Context(), "nope")
	same := create(t, "r", "m")
	other := create(t, "other", "m")
	other.Head.RequestID = same.Head.RequestID
	stale := j.Append(t.Context(), []replay.Entry{same})
	taken := j.Append(t.Context(), []replay.Entry{other})
	d.fill(0, sqlite3.FULL)
	full := j.Append(t.Context(), []replay.Entry{create(t, "late", "m")})
	d.makeRoom()

	for _, c := range []struct {
		got  error
		is   error
		text string
	}{
		{notThere, replay.ErrNotFound, `no such replay: "nope"`},
		{notThereEither, replay.ErrNotFound, `no such replay: "nope"`},
		{stale, replay.ErrStale, "the position in the journal is taken: record 1 of replay r"},
		{taken, replay.ErrRequestIDTaken, "the request id is taken"},
		{full, replay.ErrNoSpace, "the journal has no room"},
	} {
		if !errors.Is(c.got, c.is) || c.got.Error() != c.text {
			t.Errorf("got %q, want %q", c.got, c.text)
		}
	}
	if !strings.Contains(log.String(), "database or disk is full") || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("the log does not say what happened, in one line:\n%s", log.String())
	}
}
