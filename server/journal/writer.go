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
	// sqlMoveHead is sqlUpdateHead of a replay that lives and goes on living: it
	// names no column that an index has, so that none is written.
	sqlMoveHead = `UPDATE heads SET actions = ?, open = ?, state = ?, pausing = ?, pause_reason = ?, settled = ?, updated_at = ?, revision = ?
	WHERE ord = ? AND revision = ?`
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
	moveHead                        *sqlite3.Stmt
	insertRecord                    *sqlite3.Stmt

	live map[string]int64 // the numbers of heads that it has written and whose replays live
}

func openWriter(d database) (*writer, error) {
	conn, err := sqlite3.Open(d.writable())
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, live: map[string]int64{}}
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
		{&w.moveHead, sqlMoveHead},
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

// alone is the size up to which a single record is written without a savepoint: it
// can be refused for its head alone, before anything of it is there. SQLite takes a
// thousand times as much.
const alone = 1 << 20

// append writes the rows of one call, or none of them. A refusal concerns these
// rows alone; an error concerns the whole transaction.
func (w *writer) append(rows []row) (refusal, err error) {
	if len(rows) == 1 && len(rows[0].data) <= alone {
		return w.sort(w.put(rows[0]))
	}
	if err := w.savepoint.Exec(); err != nil {
		return nil, fmt.Errorf("begin an append: %w", err)
	}
	before, added := w.last, len(w.added)
	for _, r := range rows {
		if refusal, err = w.sort(w.put(r)); refusal != nil || err != nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if refusal != nil {
		if err := w.toSavepoint.Exec(); err != nil {
			return nil, fmt.Errorf("take an append back: %w", err)
		}
		w.last, w.added = before, w.added[:added]
		for _, r := range rows {
			delete(w.live, r.record.ReplayID) // it may have got its number here
		}
	}
	if err := w.release.Exec(); err != nil {
		return nil, fmt.Errorf("end an append: %w", err)
	}
	return refusal, nil
}

// sort tells a refusal, which comes from the rows themselves so that the others in
// the transaction can go on, from an error.
func (w *writer) sort(err error) (refusal, _ error) {
	if err != nil && (!ownFault(err) || w.conn.GetAutocommit()) {
		return nil, err
	}
	return err, nil
}

// ownFault says whether err comes from the rows themselves.
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
