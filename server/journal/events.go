package journal

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/reprise-rpa/reprise/server/replay"
)

// How much one call of Events returns.
const (
	// MaxEvents is how many records are returned at most.
	MaxEvents = 1000
	// maxEventBytes is how large they are together, encoded, unless the first one
	// alone is larger.
	maxEventBytes = 1 << 20
)

// ID returns the journal's id: made at random with the journal, and kept as long
// as that. Positions mean something together with it only. A copy of the files
// has the same one.
func (j *Journal) ID() string { return j.id }

func (j *Journal) readID(ctx context.Context) (id string, err error) {
	err = readOnly(ctx, j.readers, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT journal_id FROM meta`).Scan(&id)
	})
	if err != nil {
		return "", fmt.Errorf("read the journal's id: %w", err)
	}
	return id, nil
}

// Position returns the newest durable position, 0 when nothing was ever
// appended. It never goes back, whatever is purged.
func (j *Journal) Position(ctx context.Context) (position int64, err error) {
	err = j.read(ctx, func(tx *sql.Tx) error {
		position, err = newest(ctx, tx)
		return err
	})
	if err != nil {
		return 0, doing("read the newest position", err)
	}
	return position, nil
}

// Events returns the records that fit f and have a position after the one
// given, in order: at most limit of them (below 1 or over MaxEvents: MaxEvents)
// and about 1 MiB, but one if there is one. through is the position up to which
// the answer is complete, from which the next call goes on: the last record's
// when there may be more, else the newest durable one at the moment of the read.
//
// A record after the position that was purged would be missed, whether it fits f
// or not: that is replay.ErrEventsForgotten. A position that this journal has
// not given is replay.ErrEventID. A record in between that damage has made
// unreadable is ErrDamaged; readers behind it go on. Where none of the last
// few thousand records fits, the database is not read: a watcher who waits for
// something rare costs the others next to nothing.
func (j *Journal) Events(ctx context.Context, after int64, f replay.EventFilter, limit int) (recs []replay.Positioned, through int64, err error) {
	return j.events(ctx, after, f, limit, false)
}

// KeptEvents is Events for a reader that wants what there is: it leaves out what
// was purged, and never answers replay.ErrEventsForgotten. With 0 it begins at
// the oldest record that is kept.
func (j *Journal) KeptEvents(ctx context.Context, after int64, f replay.EventFilter, limit int) (recs []replay.Positioned, through int64, err error) {
	return j.events(ctx, after, f, limit, true)
}

func (j *Journal) events(ctx context.Context, after int64, f replay.EventFilter, limit int, keptOnly bool) (recs []replay.Positioned, through int64, err error) {
	if limit < 1 || limit > MaxEvents {
		limit = MaxEvents
	}
	if ctx.Err() == nil && !j.isClosed() {
		if through, ok := j.recent.nothingAfter(after, f, keptOnly); ok {
			return nil, through, nil
		}
	}
	return j.readEvents(ctx, after, f, limit, keptOnly)
}

// readEvents answers from the database.
func (j *Journal) readEvents(ctx context.Context, after int64, f replay.EventFilter, limit int, keptOnly bool) (recs []replay.Positioned, through int64, err error) {
	err = j.read(ctx, func(tx *sql.Tx) error {
		if err := mayFollow(ctx, tx, after, keptOnly); err != nil {
			return err
		}
		var more bool
		if recs, more, err = eventsAfter(ctx, tx, after, f, limit); err != nil {
			return err
		}
		if more {
			through = recs[len(recs)-1].Position
			return nil
		}
		through, err = newest(ctx, tx)
		return err
	})
	if err != nil {
		return nil, 0, doing("read events", err)
	}
	return recs, through, nil
}

// mayFollow says whether a reader can go on after a position.
func mayFollow(ctx context.Context, tx *sql.Tx, after int64, keptOnly bool) error {
	last, err := newest(ctx, tx)
	if err != nil {
		return err
	}
	var purged int64
	if err := tx.QueryRowContext(ctx, sqlPurged).Scan(&purged); err != nil {
		return err
	}
	switch {
	case after < 0 || after > last:
		return fmt.Errorf("%w: position %d of %d", replay.ErrEventID, after, last)
	case after < purged && !keptOnly:
		return fmt.Errorf("%w: position %d, and some up to %d are gone", replay.ErrEventsForgotten, after, purged)
	}
	return nil
}

// eventsAfter reads the records after a position that fit f; more says that it
// stopped at a limit. It looks at each record after the position, and at no other.
func eventsAfter(ctx context.Context, tx *sql.Tx, after int64, f replay.EventFilter, limit int) (recs []replay.Positioned, more bool, err error) {
	// CROSS JOIN and + keep the query from going by another order than that of
	// positions.
	query, args := `SELECT r.position, h.machine_id, r.data FROM records r CROSS JOIN heads h ON h.ord = r.replay WHERE r.position > ?`, []any{after}
	if f.MachineID != "" {
		query, args = query+` AND +h.machine_id = ?`, append(args, f.MachineID)
	}
	if f.ReplayID != "" {
		query, args = query+` AND +r.replay = (SELECT ord FROM heads WHERE replay_id = ?)`, append(args, f.ReplayID)
	}
	size := 0
	err = each(ctx, tx, func(rows *sql.Rows) error {
		var p replay.Positioned
		var data sql.RawBytes
		if more {
			return nil // one row at most is left
		}
		if err := rows.Scan(&p.Position, &p.MachineID, &data); err != nil {
			return err
		}
		if size += len(data); len(recs) == limit || len(recs) > 0 && size > maxEventBytes {
			more = true
			return nil
		}
		p.Record, err = decode(data)
		recs = append(recs, p)
		return err
	}, query+` ORDER BY r.position LIMIT ?`, append(args, limit+1)...)
	return recs, more, err
}

// LiveHeads returns the heads of the live replays that fit f, in the order of
// their creation, and the newest position at the same moment: the events after
// it are exactly what the heads do not contain.
func (j *Journal) LiveHeads(ctx context.Context, f replay.EventFilter) (heads []replay.Head, position int64, err error) {
	query, args := `SELECT `+headColumns+` FROM heads WHERE ended_at IS NULL`, []any{}
	if f.MachineID != "" {
		query, args = query+` AND machine_id = ?`, append(args, f.MachineID)
	}
	if f.ReplayID != "" {
		query, args = query+` AND replay_id = ?`, append(args, f.ReplayID)
	}
	err = j.read(ctx, func(tx *sql.Tx) error {
		if position, err = newest(ctx, tx); err != nil {
			return err
		}
		return each(ctx, tx, func(rows *sql.Rows) error {
			_, h, err := scanHead(rows)
			heads = append(heads, h)
			return err
		}, query+` ORDER BY ord`, args...)
	})
	if err != nil {
		return nil, 0, doing("list the live replays", err)
	}
	return heads, position, nil
}

func newest(ctx context.Context, tx *sql.Tx) (position int64, err error) {
	err = tx.QueryRowContext(ctx, sqlNewest).Scan(&position)
	return position, err
}
