package journal

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

// rowsOf gives the rows of records that fill several parts, whose number is their
// seq; bad is the number of one that is no record, 0: none.
func rowsOf(t *testing.T, n, bad int) func(context.Context, func([]byte) error) error {
	t.Helper()
	var list [][]byte
	for i := 1; i <= n; i++ {
		steps := []replay.Step{{Kind: "click", Payload: make([]byte, 3*partBytes/n*(i%7))}}
		data, err := encode(replay.Record{ReplayID: "r", Seq: int64(i), At: start, Events: []replay.Event{replay.Appended{Steps: steps}}})
		if err != nil {
			t.Fatal(err)
		}
		if i == bad {
			data = []byte{0xff}
		}
		list = append(list, data)
	}
	return func(ctx context.Context, row func([]byte) error) error {
		room := []byte(nil) // every row is in the same place, as the driver may do it
		for _, data := range list {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			room = append(room[:0], data...)
			if err := row(room); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestRecordsComeInTheirOrderHoweverTheyAreDecoded(t *testing.T) {
	const n = 500
	var seqs []int64
	err := decodeAll(t.Context(), rowsOf(t, n, 0), func(rec replay.Record) error {
		seqs = append(seqs, rec.Seq)
		return nil
	})
	if err != nil || len(seqs) != n || !slices.IsSorted(seqs) {
		t.Errorf("%d records came, in order: %v, error %v", len(seqs), slices.IsSorted(seqs), err)
	}
}

func TestNothingComesBehindTheFirstError(t *testing.T) {
	const n, at = 500, 321
	enough, last := errors.New("enough"), int64(0)
	err := decodeAll(t.Context(), rowsOf(t, n, 0), func(rec replay.Record) error {
		last = rec.Seq
		if last == at {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || last != at {
		t.Errorf("a caller that fails at %d was given record %d, error %v", at, last, err)
	}
	err = decodeAll(t.Context(), rowsOf(t, n, at), func(rec replay.Record) error {
		last = rec.Seq
		return nil
	})
	if err == nil || last != at-1 {
		t.Errorf("the row behind %d cannot be read; record %d came, error %v", at-1, last, err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(enough)
	if err := decodeAll(ctx, rowsOf(t, n, 0), func(replay.Record) error { return nil }); !errors.Is(err, enough) {
		t.Errorf("decodeAll = %v with a context that ended with %v", err, enough)
	}
}

// A record keeps nothing of the row that it was decoded from: the room is used again.
func TestARecordKeepsNothingOfItsRow(t *testing.T) {
	data, err := encode(samples()[0])
	if err != nil {
		t.Fatal(err)
	}
	rec, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	step := rec.Events[0].(replay.Created).Steps[0]
	if step.Name != "save" || step.Kind != "click" || string(step.Payload) != "where to click" || step.Checks[0].ID != "c" {
		t.Errorf("the step is %+v when its row is gone", step)
	}
	if cap(step.Payload) != len(step.Payload) {
		t.Error("a payload could grow into the one behind it")
	}
}

func TestLiveReplaysAreReadWithoutSorting(t *testing.T) {
	j, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	for name, q := range map[string]struct {
		condition string
		args      []any
	}{"all": {}, "of a machine": {liveOf, []any{"m"}}} {
		err := j.read(t.Context(), func(tx *sql.Tx) error {
			return each(t.Context(), tx, func(rows *sql.Rows) error {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					return err
				}
				if strings.Contains(detail, "TEMP B-TREE") || strings.Contains(detail, "SCAN r") {
					t.Errorf("%s: the database does this: %s", name, detail)
				}
				return nil
			}, "EXPLAIN QUERY PLAN "+sqlLive+q.condition+sqlLiveOrder, q.args...)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A page of nothing but zeros is reported: here all are.
func TestEachPageIsScannedOnce(t *testing.T) {
	const size = 512
	for _, pages := range []uint32{1, 2, 5, scanners * scanStep / size, scanners*scanStep/size + 1, 3*scanStep/size - 1} {
		db, err := os.Create(filepath.Join(t.TempDir(), "pages"))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Truncate(int64(pages) * size); err != nil {
			t.Fatal(err)
		}
		f := &files{db: db, size: size, pages: pages}
		bad, zero, err := f.scan(t.Context())
		if err != nil || len(bad) > 0 || len(zero) != int(pages) {
			t.Errorf("%d of %d pages were scanned, %d are bad, error %v", len(zero), pages, len(bad), err)
		}
		for i, n := range zero {
			if n != uint32(i+1) {
				t.Errorf("of %d pages, number %d was scanned in place of %d", pages, n, i+1)
				break
			}
		}
		if err := f.close(); err != nil {
			t.Error(err)
		}
	}
}
