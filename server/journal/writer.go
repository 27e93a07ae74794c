package journal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ncruces/go-sqlite3"

	"github.com/reprise-rpa/reprise/server/replay"
)

// The statements of the writer. A head is changed only from the revision before,
// which is what makes a stale position fail.
const (
	sqlInsertHead = `INSERT INTO heads (replay_id, machine_id, workflow, request_id, request_hash, labels, unattended,
	created_at, actions, open, state, pausing, pause_reason, settled, end_reason, updated_at, ended_at, revision)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (replay_id) DO NOTHING RETURNING ord`
	sqlUpdateHead = `UPDATE heads SET actions = ?, open = ?, state = ?, pausing = ?, pause_reason = ?, settled = ?, end_reason = ?, updated_at = ?, ended_at = ?, revision = ?
	WHERE replay_id = ? AND revision = ? RETURNING ord`
	sqlInsertRecord = `INSERT INTO records (position, replay, seq, at, data) VALUES (?, ?, ?, ?, ?)`

	// sqlPurged is the highest position ever deleted, sqlNewest the newest ever
	// given: what is deleted is remembered in the transaction that deletes it.
	sqlPurged = `SELECT purged_through FROM meta`
	sqlNewest = `SELECT max(purged_through, coalesce((SELECT max(position) FROM records), 0)) FROM meta`
	sqlForget = `UPDATE meta SET purged_through = max(purged_through, coalesce(
	(SELECT max(position) FROM records WHERE replay = (SELECT ord FROM heads WHERE replay_id = ?)), 0))`
)

// writer is the one connection that writes. It is used by one goroutine at a
// time.
type writer struct {
	conn   *sqlite3.Conn
	last   int64   // the newest position given; after an error this and the next two mean nothing
	purged int64   // the highest position deleted
	added  []place // of the records of the last transaction, up to last

	begin, commit, rollback         *sqlite3.Stmt
	savepoint, release, toSavepoint *sqlite3.Stmt
	insertHead, updateHead          *sqlite3.Stmt
	insertRecord                    *sqlite3.Stmt
}

func openWriter(d database) (*writer, error) {
	conn, err := sqlite3.Open(d.writable())
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn}
	for _, s := range []struct {
		stmt **sqlite3.Stmt
		sql  string
	}{
		{&w.begin, "BEGIN IMMEDIATE"},
		{&w.commit, "COMMIT"},
		{&w.rollback, "ROLLBACK"},
		{&w.savepoint, "SAVEPOINT one"},
		{&w.release, "RELEASE one"},
		{&w.toSavepoint, "ROLLBACK TO one"},
		{&w.insertHead, sqlInsertHead},
		{&w.updateHead, sqlUpdateHead},
		{&w.insertRecord, sqlInsertRecord},
	} {
		if *s.stmt, _, err = conn.PrepareFlags(s.sql, sqlite3.PREPARE_PERSISTENT); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare %q: %w", s.sql, err), w.close())
		}
	}
	if w.last, err = queryInt(conn, sqlNewest); err != nil {
		return nil, errors.Join(fmt.Errorf("read the newest position: %w", err), w.close())
	}
	if w.purged, err = queryInt(conn, sqlPurged); err != nil {
		return nil, errors.Join(fmt.Errorf("read the highest position deleted: %w", err), w.close())
	}
	return w, nil
}

func (w *writer) close() error {
	var errs []error
	for _, s := range slices.Collect(w.conn.Stmts()) { // closing one changes the list
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// transact runs f in a transaction that is durable when transact returns nil.
// After an error the connection is good for nothing but to be closed.
func (w *writer) transact(f func(*writer) error) error {
	w.added = w.added[:0]
	if err := w.begin.Exec(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	err := f(w)
	if err == nil {
		if err = w.commit.Exec(); err == nil {
			return nil
		}
		err = fmt.Errorf("commit: %w", err)
	}
	if !w.conn.GetAutocommit() {
		if undo := w.rollback.Exec(); undo != nil {
			err = errors.Join(err, fmt.Errorf("roll back: %w", undo))
		}
	}
	return err
}

// append writes the rows of one call, or none of them. A refusal concerns these
// rows alone; an error concerns the whole transaction.
func (w *writer) append(rows []row) (refusal, err error) {
	if err := w.savepoint.Exec(); err != nil {
		return nil, fmt.Errorf("begin an append: %w", err)
	}
	before, added := w.last, len(w.added)
	for _, r := range rows {
		if refusal = w.put(r); refusal != nil {
			break
		}
	}
	if refusal != nil {
		if !ownFault(refusal) || w.conn.GetAutocommit() {
			return nil, refusal
		}
		if err := w.toSavepoint.Exec(); err != nil {
			return nil, fmt.Errorf("take an append back: %w", err)
		}
		w.last, w.added = before, w.added[:added]
	}
	if err := w.release.Exec(); err != nil {
		return nil, fmt.Errorf("end an append: %w", err)
	}
	return refusal, nil
}

// ownFault says whether err comes from the rows themselves, so that the others
// in the transaction can go on.
func ownFault(err error) bool {
	return errors.Is(err, replay.ErrStale) || errors.Is(err, replay.ErrRequestIDTaken) || errors.Is(err, sqlite3.TOOBIG)
}

func (w *writer) put(r row) error {
	ord, err := w.putHead(r)
	if err == nil {
		w.last++
		w.added = append(w.added, place{machineID: r.head.MachineID, replayID: r.record.ReplayID})
		err = bind(w.insertRecord, w.last, ord, r.record.Seq, nanos(r.record.At), r.data)
	}
	if err == nil {
		err = w.insertRecord.Exec()
	}
	switch {
	case err == nil || errors.Is(err, replay.ErrRequestIDTaken):
		return err
	case errors.Is(err, replay.ErrStale):
		return fmt.Errorf("%w: record %d of replay %s", err, r.record.Seq, r.record.ReplayID)
	}
	return fmt.Errorf("record %d of replay %s: %w", r.record.Seq, r.record.ReplayID, err)
}

// putHead writes the head and returns its number.
func (w *writer) putHead(r row) (ord int64, err error) {
	h, s := r.head, w.updateHead
	if r.record.Seq == 1 {
		s = w.insertHead
		err = bind(s, h.ReplayID, h.MachineID, h.Workflow, h.RequestID, h.RequestHash, r.labels, h.Unattended, nanos(h.CreatedAt),
			h.Actions, h.Open, int(h.State), h.Pausing, h.PauseReason, h.Settled, h.EndReason, nanos(h.UpdatedAt), endOf(h), h.Revision)
	} else {
		err = bind(s, h.Actions, h.Open, int(h.State), h.Pausing, h.PauseReason, h.Settled, h.EndReason, nanos(h.UpdatedAt), endOf(h), h.Revision,
			h.ReplayID, h.Revision-1)
	}
	if err != nil {
		return 0, err
	}
	written := s.Step()
	if written {
		ord = s.ColumnInt64(0)
	}
	err = s.Reset() // which also gives the step's error
	switch {
	case errors.Is(err, sqlite3.CONSTRAINT_UNIQUE): // the replay's own id is settled by the statement
		return 0, replay.ErrRequestIDTaken
	case err == nil && !written:
		return 0, replay.ErrStale
	}
	return ord, err
}

// endOf is the column ended_at: nil while the replay lives.
func endOf(h replay.Head) any {
	if !h.State.Ended() {
		return nil
	}
	return nanos(h.EndedAt)
}

func bind(s *sqlite3.Stmt, args ...any) error {
	for i, arg := range args {
		var err error
		switch arg := arg.(type) {
		case nil:
			err = s.BindNull(i + 1)
		case string:
			err = s.BindText(i+1, arg)
		case []byte:
			err = s.BindBlob(i+1, arg)
		case bool:
			err = s.BindBool(i+1, arg)
		case int:
			err = s.BindInt(i+1, arg)
		case int64:
			err = s.BindInt64(i+1, arg)
		default:
			err = fmt.Errorf("the column has no place for %T", arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// delete removes the heads and records of replays, and keeps the highest of their
// positions.
func (w *writer) delete(ids []string) error {
	for _, sql := range []string{sqlForget, `DELETE FROM records WHERE replay = (SELECT ord FROM heads WHERE replay_id = ?)`, `DELETE FROM heads WHERE replay_id = ?`} {
		s, _, err := w.conn.Prepare(sql)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err = s.BindText(1, id); err == nil {
				err = s.Exec()
			}
			if err != nil {
				return errors.Join(err, s.Close())
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	var err error
	w.purged, err = queryInt(w.conn, sqlPurged)
	return err
}
