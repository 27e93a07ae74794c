package control

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-rpa/reprise/server/replay"
)

// cursor is how far a watcher of events has come: it has seen all records of the
// journal before a position and, of the record at that position, some events.
type cursor struct {
	position int64
	seen     int // events of the record at position; 0: all of them
}

// An event's id is the journal's id, its record's position and, unless it is the
// record's last event, its number in the record, from 1. So an id is both the name
// of an event and a place to go on from.
func (c cursor) id(journalID string) string {
	if c.seen == 0 {
		return fmt.Sprintf("%s-%d", journalID, c.position)
	}
	return fmt.Sprintf("%s-%d-%d", journalID, c.position, c.seen)
}

// parseEventID returns what id made; replay.ErrEventID for anything else.
func parseEventID(journalID, eventID string) (cursor, error) {
	rest, ours := strings.CutPrefix(eventID, journalID+"-")
	position, seen, inside := strings.Cut(rest, "-")
	p, err := strconv.ParseInt(position, 10, 64)
	c := cursor{position: p}
	if inside && err == nil {
		c.seen, err = strconv.Atoi(seen)
	}
	if !ours || err != nil || c.position < 0 || c.seen < 0 || c.id(journalID) != eventID {
		return cursor{}, fmt.Errorf("%w: %.100q", replay.ErrEventID, eventID)
	}
	return c, nil
}

// eventCursor is the cursor of the i-th of n events, from 0, of a record.
func eventCursor(position int64, i, n int) cursor {
	if i == n-1 {
		return cursor{position: position}
	}
	return cursor{position: position, seen: i + 1}
}

// before is the position after which the journal is read to go on from c.
func (c cursor) before() int64 {
	if c.seen == 0 {
		return c.position
	}
	return c.position - 1 // the rest of the record at position
}
