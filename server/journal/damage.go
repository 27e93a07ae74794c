package journal

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/replay"
)

// scanMost is how large a database may be to be read as a whole when it is
// opened, in bytes: about 2 s. Pages of a larger one are checked when they are
// read, and by Verify.
const scanMost = 2 << 30

// damage is what a look at the files found before they are opened.
type damage struct {
	pages    []uint32 // not what was written
	of       uint32   // pages in the database
	freeList bool     // the list of free pages is hit
}

func (d *damage) String() string {
	return fmt.Sprintf("%d of its %d pages are not what was written (%s)", len(d.pages), d.of, numbers(d.pages))
}

// examine makes the database when there is none, and otherwise looks at each of
// its pages. It returns nil when all are sound.
func (j *Journal) examine(ctx context.Context) (*damage, error) {
	f, err := openFiles(j.db.path, false)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, j.db.classify(j.db.create(ctx))
	}
	defer func() { _ = f.close() }() // it was only read
	if size := int64(f.pages) * int64(f.size); size > scanMost {
		j.log.Warn("journal: too large to be checked as a whole at every start; \"reprisectl journal verify\" does it beside the server",
			logkeys.Path, j.db.path, logkeys.Count, f.pages)
		return nil, nil
	}
	return f.damage(ctx)
}

// damage returns what is wrong with the database's pages, or nil.
func (f *files) damage(ctx context.Context) (*damage, error) {
	pages, zero, err := f.scan(ctx)
	if err != nil || len(pages)+len(zero) == 0 {
		return nil, err
	}
	d := &damage{of: f.pages}
	if !f.inUse { // else the list may be in the log
		free, whole := f.free()
		d.freeList = !whole
		zero = slices.DeleteFunc(zero, func(n uint32) bool { return free[n] })
		pages = append(pages, zero...)
	}
	if len(pages) == 0 && !d.freeList {
		return nil, nil
	}
	slices.Sort(pages)
	d.pages = pages
	return d, nil
}

// hit is what damaged pages make unreadable.
type hit struct {
	shared      string   // what every replay needs, or empty
	live, ended []string // replays that cannot be read, by id
}

// assess finds out what damaged pages hold. What live replays or new records
// need keeps the journal closed, ErrDamaged says what it is; the rest is left as
// it is, and named in the log.
func (j *Journal) assess(ctx context.Context, d *damage) error {
	var h hit
	err := readOnly(ctx, j.readers, func(tx *sql.Tx) (err error) {
		h, err = assess(ctx, tx)
		return err
	})
	if d.freeList && h.shared == "" {
		h.shared = "the list of free pages"
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return damaged(j.db.path, d.String(), err)
	case h.shared != "":
		return damaged(j.db.path, fmt.Sprintf("%s, and all replays need %s", d, h.shared), nil)
	case len(h.live) > 0:
		return damaged(j.db.path, fmt.Sprintf("%s, and live replays cannot be read: %s", d, some(h.live)), nil)
	}
	hits := "no replay: the pages are not in use"
	if len(h.ended) > 0 {
		hits = "ended replays, which cannot be read any more: " + some(h.ended)
	}
	j.log.Error("journal: damaged; live replays go on", logkeys.Path, j.db.path, logkeys.Error, d.String(), "hit", hits)
	return nil
}

// assess reads all that is in the journal, and says what of it cannot be read.
func assess(ctx context.Context, tx *sql.Tx) (h hit, err error) {
	for _, table := range []string{"sqlite_schema", "sqlite_sequence", "goose_db_version", "heads", "meta"} {
		if !whole(ctx, tx, table) {
			return hit{shared: "the table " + table}, nil
		}
	}
	for what, query := range map[string]string{
		"the index of the records": `SELECT count(*) FROM records INDEXED BY sqlite_autoindex_records_1`,
		"the newest record":        `SELECT data FROM records ORDER BY rowid DESC LIMIT 1`,
	} {
		if _, err := texts(ctx, tx, query); err != nil {
			return hit{shared: what}, nil //nolint:nilerr // that it cannot be read is what is asked for
		}
	}
	ended, err := texts(ctx, tx, `SELECT replay_id FROM heads WHERE ended_at IS NOT NULL ORDER BY ord`)
	if err != nil {
		return h, err
	}
	live, err := texts(ctx, tx, `SELECT replay_id FROM heads WHERE ended_at IS NULL ORDER BY ord`)
	if err != nil {
		return h, err
	}
	h.ended, h.live = unreadable(ctx, tx, ended), unreadable(ctx, tx, live)
	return h, nil
}

// whole says whether a table can be read; one that the tables' version does not
// have yet is.
func whole(ctx context.Context, tx *sql.Tx, table string) bool {
	if table == "meta" {
		if old, err := withoutPositions(ctx, tx); err != nil || old {
			return err == nil
		}
	}
	lines, err := texts(ctx, tx, `PRAGMA integrity_check(`+table+`)`)
	return err == nil && len(lines) == 1 && lines[0] == "ok"
}

// unreadable returns those of the replays whose records cannot all be read.
func unreadable(ctx context.Context, tx *sql.Tx, replayIDs []string) (out []string) {
	for _, id := range replayIDs {
		if err := records(ctx, tx, id, func(replay.Record) error { return nil }); err != nil {
			out = append(out, id)
		}
	}
	return out
}

// some writes ids, the first of them when there are many.
func some(ids []string) string {
	const most = 10
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
