package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/reprise-rpa/reprise/server/replay"
)

// Records returns all records of a replay, or replay.ErrNotFound.
func (j *Journal) Records(ctx context.Context, replayID string) ([]replay.Record, error) {
	var out []replay.Record
	err := j.read(ctx, func(tx *sql.Tx) error {
		return records(ctx, tx, replayID, func(rec replay.Record) error {
			out = append(out, rec)
			return nil
		})
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%w: %q", replay.ErrNotFound, replayID)
	}
	if err != nil {
		return nil, doing("read replay "+replayID, err)
	}
	return out, nil
}

// RecordsAfter returns the records of a replay that follow the one with that seq:
// none when it is the newest, replay.ErrNotFound when there is no such replay.
func (j *Journal) RecordsAfter(ctx context.Context, replayID string, seq int64) (out []replay.Record, err error) {
	err = j.read(ctx, func(tx *sql.Tx) error {
		known, err := texts(ctx, tx, `SELECT 1 FROM heads WHERE replay_id = ?`, replayID)
		if err == nil && len(known) == 0 {
			err = fmt.Errorf("%w: %q", replay.ErrNotFound, replayID)
		}
		if err != nil {
			return err
		}
		return recordsAfter(ctx, tx, replayID, seq, func(rec replay.Record) error {
			out = append(out, rec)
			return nil
		})
	})
	if err != nil {
		return nil, doing("read replay "+replayID, err)
	}
	return out, nil
}

// Head returns the head of a replay, or replay.ErrNotFound.
func (j *Journal) Head(ctx context.Context, replayID string) (replay.Head, error) {
	h, err := j.head(ctx, `SELECT `+headColumns+` FROM heads WHERE replay_id = ?`, replayID)
	if err != nil {
		return replay.Head{}, doing("read the head of replay "+replayID, err)
	}
	return h, nil
}

// HeadByRequest returns the head of the replay that was created with the request
// id, or replay.ErrNotFound. No replay has the empty one.
func (j *Journal) HeadByRequest(ctx context.Context, requestID string) (replay.Head, error) {
	h, err := j.head(ctx, `SELECT `+headColumns+` FROM heads WHERE request_id = ? AND request_id <> ''`, requestID)
	if err != nil {
		return replay.Head{}, doing("read the head of request "+requestID, err)
	}
	return h, nil
}

func (j *Journal) head(ctx context.Context, query string, arg string) (h replay.Head, err error) {
	err = j.read(ctx, func(tx *sql.Tx) error {
		_, h, err = scanHead(tx.QueryRowContext(ctx, query, arg))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: %q", replay.ErrNotFound, arg)
	}
	return h, err
}

// read runs f on one state of the journal. When ctx has ended meanwhile its cause is
// the error: what SQLite makes of the interruption would look like a fault.
func (j *Journal) read(ctx context.Context, f func(*sql.Tx) error) error {
	if j.isClosed() {
		return ErrClosed
	}
	err := j.db.classify(readOnly(ctx, j.readers, f))
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func readOnly(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	// Nothing was written, so how the transaction ends says nothing.
	defer func() { _ = tx.Rollback() }()
	return f(tx)
}

func texts(ctx context.Context, tx *sql.Tx, query string, args ...any) (out []string, err error) {
	err = each(ctx, tx, func(rows *sql.Rows) error {
		var s string
		if err := rows.Scan(&s); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	}, query, args...)
	return out, err
}

// records calls fn with the records of one replay in order.
func records(ctx context.Context, tx *sql.Tx, replayID string, fn func(replay.Record) error) error {
	return recordsAfter(ctx, tx, replayID, 0, fn)
}

func recordsAfter(ctx context.Context, tx *sql.Tx, replayID string, seq int64, fn func(replay.Record) error) error {
	return each(ctx, tx, func(rows *sql.Rows) error {
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return err
		}
		rec, err := decode(data)
		if err != nil {
			return err
		}
		return fn(rec)
	}, `SELECT data FROM records WHERE replay = (SELECT ord FROM heads WHERE replay_id = ?) AND seq > ? ORDER BY seq`, replayID, seq)
}

// each calls fn for each row of a query.
func each(ctx context.Context, tx *sql.Tx, fn func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// headColumns are what scanHead reads; the tables' first version had the others.
const headColumns = headColumnsV1 + `, open`

const headColumnsV1 = `ord, replay_id, machine_id, workflow, request_id, request_hash, labels, unattended, state, pausing, pause_reason,
	actions, settled, end_reason, created_at, updated_at, ended_at, revision`

func scanHead(row interface{ Scan(...any) error }) (ord int64, h replay.Head, err error) {
	var labels string
	var created, updated int64
	var ended sql.NullInt64
	err = row.Scan(&ord, &h.ReplayID, &h.MachineID, &h.Workflow, &h.RequestID, &h.RequestHash, &labels, &h.Unattended, &h.State, &h.Pausing,
		&h.PauseReason, &h.Actions, &h.Settled, &h.EndReason, &created, &updated, &ended, &h.Revision, &h.Open)
	if err != nil {
		return 0, replay.Head{}, err
	}
	if err := json.Unmarshal([]byte(labels), &h.Labels); err != nil {
		return 0, replay.Head{}, fmt.Errorf("decode the labels of replay %s: %w", h.ReplayID, err)
	}
	h.CreatedAt, h.UpdatedAt = instant(created), instant(updated)
	if ended.Valid {
		h.EndedAt = instant(ended.Int64)
	}
	return ord, h, nil
}
