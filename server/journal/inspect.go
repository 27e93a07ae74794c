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
	if _, err := os.Stat(d.path); err != nil {
		return err
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
	err := v.log(dir)
	if err == nil {
		err = inspect(ctx, dir, func(tx *sql.Tx) error { return v.all(ctx, tx) })
	}
	if errors.Is(err, ErrDamaged) {
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

// log checks the write-ahead log, keeping servers away meanwhile.
func (v *verifier) log(dir string) error {
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	lock, err := lockDir(dir)
	if errors.Is(err, ErrLocked) {
		v.printf("a server is running: its write-ahead log is left out\n")
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(checkLog(path), lock.Close())
}

func (v *verifier) all(ctx context.Context, tx *sql.Tx) error {
	pages, err := texts(ctx, tx, `PRAGMA integrity_check`)
	if err != nil {
		return err
	}
	for _, p := range pages {
		if p != "ok" {
			v.fault("database: %s", p)
		}
	}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		ord, h, err := scanHead(rows)
		if err != nil {
			return err
		}
		return v.replay(ctx, tx, ord, h)
	}, `SELECT `+headColumns+` FROM heads ORDER BY ord`)
	if err != nil {
		return err
	}
	orphans, err := texts(ctx, tx, `SELECT DISTINCT replay FROM records WHERE replay NOT IN (SELECT ord FROM heads)`)
	for _, ord := range orphans {
		v.fault("replay number %s: records without a head", ord)
	}
	return err
}

// replay checks one replay. What is wrong in it is a fault; an error is what
// keeps from reading on.
func (v *verifier) replay(ctx context.Context, tx *sql.Tx, ord int64, head replay.Head) error {
	v.replays++
	r, next, sound := &replay.Replay{}, int64(1), true
	fault := func(format string, args ...any) {
		if sound { // what follows a fault says nothing new
			v.fault("replay "+head.ReplayID+": "+format, args...)
		}
		sound = false
	}
	err := each(ctx, tx, func(rows *sql.Rows) error {
		v.records++
		var seq, at int64
		var data sql.RawBytes
		if err := rows.Scan(&seq, &at, &data); err != nil {
			return err
		}
		rec, err := decode(data)
		switch {
		case seq != next:
			fault("record %d follows %d", seq, next-1)
		case err != nil:
			fault("record %d: %v", seq, err)
		case rec.ReplayID != head.ReplayID || rec.Seq != seq || nanos(rec.At) != at:
			fault("record %d: its row names another place than its data", seq)
		case sound:
			if err := r.Apply(rec); err != nil {
				fault("record %d does not fold: %v", seq, err)
			}
		}
		next = seq + 1
		return nil
	}, `SELECT seq, at, data FROM records WHERE replay = ? ORDER BY seq`, ord)
	if err != nil {
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
