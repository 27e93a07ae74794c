package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/reprise-rpa/reprise/server/replay"
)

// inspect runs f on one state of the journal in dir, which a running server may
// hold, and changes nothing there.
func inspect(ctx context.Context, dir string, f func(*sql.Tx) error) (err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	d := database{path: filepath.Join(dir, fileName)}
	info, err := os.Stat(d.path)
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return errEmpty(d.path)
	}
	db, err := sql.Open("sqlite3", d.readable("ro"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return d.classify(readOnly(ctx, db, f))
}

// Verify checks the journal in dir: the pages of the database, that the records
// of each replay have no gap and fold, and that each head is what the fold
// gives. It writes a line for each fault and a summary to w, and returns
// ErrDamaged when there was a fault. The write-ahead log is checked only while
// no server runs.
func Verify(ctx context.Context, dir string, w io.Writer) error {
	v := &verifier{w: w}
	err := v.files(ctx, dir)
	if err == nil {
		err = inspect(ctx, dir, func(tx *sql.Tx) error { return v.all(ctx, tx) })
	}
	if why, ok := damageIn(err); ok {
		v.fault("%s: %s", fileName, why)
		err = nil
	} else if errors.Is(err, ErrDamaged) {
		v.fault("%v", err)
		err = nil
	}
	if err == nil {
		v.printf("%d replays, %d records, %d faults\n", v.replays, v.records, v.faults)
	}
	if err = errors.Join(err, v.err); err != nil {
		return fmt.Errorf("journal: verify %s: %w", dir, err)
	}
	if v.faults > 0 {
		return fmt.Errorf("journal: verify %s: %w: %d faults", dir, ErrDamaged, v.faults)
	}
	return nil
}

// verifier counts what it has seen, and keeps the first error of its writer.
type verifier struct {
	w                        io.Writer
	replays, records, faults int
	damaged                  bool // pages are not what was written
	err                      error
}

func (v *verifier) printf(format string, args ...any) {
	if v.err == nil {
		_, v.err = fmt.Fprintf(v.w, format, args...)
	}
}

func (v *verifier) fault(format string, args ...any) {
	v.faults++
	v.printf("fault: "+format+"\n", args...)
}

// files checks the pages of the database and the write-ahead log, keeping servers
// away meanwhile. Beside a running server it leaves the log out.
func (v *verifier) files(ctx context.Context, dir string) (err error) {
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	lock, err := lockDir(dir)
	switch {
	case errors.Is(err, ErrLocked):
		v.printf("a server is running: its write-ahead log is left out\n")
		return v.pages(ctx, path, true)
	case err != nil:
		return err
	}
	return errors.Join(v.pages(ctx, path, false), lock.Close())
}

func (v *verifier) pages(ctx context.Context, path string, inUse bool) (err error) {
	f, err := openFiles(path, inUse)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	d, err := f.damage(ctx)
	if d == nil {
		return err
	}
	v.damaged = true
	v.fault("%s: %v", fileName, d)
	if d.freeList {
		v.fault("%s: its list of free pages cannot be followed", fileName)
	}
	return nil
}

func (v *verifier) all(ctx context.Context, tx *sql.Tx) error {
	if !v.damaged { // SQLite would tell the same pages again, each in many lines
		if err := v.structure(ctx, tx); err != nil {
			return err
		}
	}
	columns, err := v.whole(ctx, tx)
	if err != nil {
		return err
	}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		ord, h, err := scanHead(rows)
		if err != nil {
			return err
		}
		return v.replay(ctx, tx, ord, h)
	}, `SELECT `+columns+` FROM heads ORDER BY ord`)
	if why, ok := damageIn(err); ok {
		v.fault("the list of replays cannot be read behind number %d: %s", v.replays, why)
		return nil
	}
	if err != nil {
		return err
	}
	orphans, err := texts(ctx, tx, `SELECT DISTINCT replay FROM records WHERE replay NOT IN (SELECT ord FROM heads)`)
	for _, ord := range orphans {
		v.fault("replay number %s: records without a head", ord)
	}
	return err
}

// whole checks what concerns the journal as a whole, and returns the columns of
// heads: a journal that no newer server has opened yet has no positions.
func (v *verifier) whole(ctx context.Context, tx *sql.Tx) (columns string, err error) {
	old, err := withoutPositions(ctx, tx)
	if old || err != nil {
		return headColumnsV1 + ", 0", err
	}
	var rows int
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM meta WHERE journal_id <> '' AND purged_through >= 0`).Scan(&rows)
	if why, ok := damageIn(err); ok {
		v.fault("the journal's id cannot be read: %s", why)
		err = nil
	} else if err == nil && rows != 1 {
		v.fault("the journal has no id")
	}
	return headColumns, err
}

// withoutPositions says whether a journal still has the tables' first version.
func withoutPositions(ctx context.Context, tx *sql.Tx) (old bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'meta')`).Scan(&old)
	return old, err
}

// structure lets SQLite check how the pages belong together.
func (v *verifier) structure(ctx context.Context, tx *sql.Tx) error {
	const most = 10
	lines, err := texts(ctx, tx, `PRAGMA integrity_check`)
	if err != nil {
		return err
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "ok" })
	for _, line := range lines[:min(most, len(lines))] {
		v.fault("database: %s", line)
	}
	if more := len(lines) - most; more > 0 {
		v.fault("database: %d more of this kind", more)
	}
	return nil
}

// replay checks one replay. What is wrong in it is a fault, also that it cannot
// be read; an error ends the look at all of them.
func (v *verifier) replay(ctx context.Context, tx *sql.Tx, ord int64, head replay.Head) error {
	v.replays++
	r, next, last, sound := &replay.Replay{}, int64(1), int64(0), true
	fault := func(format string, args ...any) {
		if sound { // what follows a fault says nothing new
			v.fault("replay "+head.ReplayID+": "+format, args...)
		}
		sound = false
	}
	err := each(ctx, tx, func(rows *sql.Rows) error {
		v.records++
		var position, seq, at int64
		var data sql.RawBytes
		if err := rows.Scan(&position, &seq, &at, &data); err != nil {
			return err
		}
		rec, err := decode(data)
		switch {
		case seq != next:
			fault("record %d follows %d", seq, next-1)
		case position <= last:
			fault("record %d has the position %d, and the one before it %d", seq, position, last)
		case err != nil:
			fault("record %d: %v", seq, err)
		case rec.ReplayID != head.ReplayID || rec.Seq != seq || nanos(rec.At) != at:
			fault("record %d: its row names another place than its data", seq)
		case sound:
			if err := r.Apply(rec); err != nil {
				fault("record %d does not fold: %v", seq, err)
			}
		}
		next, last = seq+1, position
		return nil
	}, `SELECT rowid, seq, at, data FROM records WHERE replay = ? ORDER BY seq`, ord)
	if ctx.Err() != nil {
		return err
	}
	if why, ok := damageIn(err); ok {
		fault("its records cannot be read behind %d: %s", next-1, why)
	} else if err != nil {
		return err
	}
	if got := r.Head(); sound && !sameHead(got, head) {
		fault("the head at record %d is not what its records give at %d", head.Revision, got.Revision)
	}
	return nil
}

func sameHead(a, b replay.Head) bool {
	if len(a.Labels) == 0 && len(b.Labels) == 0 {
		a.Labels, b.Labels = nil, nil
	}
	return reflect.DeepEqual(a, b)
}
