package journal

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver" // registers "sqlite3" with database/sql
	"github.com/pressly/goose/v3"
)

// The files of a data directory. SQLite adds -wal and -shm to the first.
const (
	fileName = "journal.db"
	lockName = "journal.lock"
)

// What keeps a journal from being opened.
var (
	// ErrLocked says that another process has the data directory.
	ErrLocked = errors.New("the data directory is in use")
	// ErrNewer says that a newer version has written to the data directory.
	ErrNewer = errors.New("the journal was written by a newer version")
)

//go:embed migrations/*.sql
var migrations embed.FS

// readers is how many connections read at a time, each with a copy of SQLite's
// memory.
const readers = 4

// database knows where the database lies and how its connections are set up.
type database struct {
	path, vfs, synchronous string
}

// writable is the address for connections that write.
func (d database) writable() string {
	synchronous := d.synchronous
	if synchronous == "" {
		synchronous = "FULL" // the build's own default for WAL is NORMAL, which loses commits in a power cut
	}
	return d.address("", "synchronous("+synchronous+")", "secure_delete(ON)", "journal_size_limit(8388608)")
}

// readable is the address for connections that read. mode is rw or ro: a server
// reads beside its own writer, a tool must not change what it looks at.
func (d database) readable(mode string) string {
	return d.address(mode, "query_only(ON)") + "&_txlock=deferred"
}

func (d database) address(mode string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{"busy_timeout(5000)", "temp_store(MEMORY)"}, pragmas...)}
	if d.vfs != "" {
		q.Set("vfs", d.vfs)
	}
	if mode != "" {
		q.Set("mode", mode)
	}
	return (&url.URL{Scheme: "file", Path: d.path, RawQuery: q.Encode()}).String()
}

// create makes the database. It gets its name when it is whole and on disk, so
// that one without content is never a first start that was cut off.
func (d database) create(ctx context.Context) error {
	unborn := d
	unborn.path += ".new"
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} { // of a first start that was cut off
		if err := os.Remove(unborn.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := unborn.setUp(ctx); err != nil {
		return err
	}
	if err := unborn.migrate(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(unborn.path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("the write-ahead log of %s was left behind", unborn.path), err)
	}
	if err := syncFile(unborn.path); err != nil {
		return err
	}
	if err := os.Rename(unborn.path, d.path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(d.path))
}

// setUp gives a new database a checksum in each page and a write-ahead log, and
// sees to it that one that is there has them.
func (d database) setUp(ctx context.Context) (err error) {
	c, err := sqlite3.OpenContext(ctx, d.writable())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.EnableChecksums("main"); err != nil {
		return fmt.Errorf("enable page checksums: %w", err)
	}
	mode, err := queryText(c, "PRAGMA journal_mode=WAL")
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system cannot keep a write-ahead log: journal mode is %q", mode)
	}
	return nil
}

// migrate brings the tables to the newest version, each step in a transaction
// of its own. No step so far copies records, so it needs some 100 KiB of room,
// however large the journal is.
func (d database) migrate(ctx context.Context) (err error) {
	db, err := sql.Open("sqlite3", d.writable())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := migrator(db)
	if err != nil {
		return err
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the tables' version: %w", err)
	}
	if have > want {
		return fmt.Errorf("%w: its tables have version %d, this program knows %d", ErrNewer, have, want)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the tables up to date: %w", err)
	}
	return nil
}

func migrator(db *sql.DB) (*goose.Provider, error) {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, sub,
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(slog.New(slog.DiscardHandler)))
}

func (d database) openReaders(ctx context.Context) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", d.readable("rw"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func queryText(c *sqlite3.Conn, query string) (_ string, err error) {
	s, _, err := c.Prepare(query)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if !s.Step() {
		return "", s.Err()
	}
	return strings.ToLower(s.ColumnText(0)), nil
}

func queryInt(c *sqlite3.Conn, query string) (_ int64, err error) {
	s, _, err := c.Prepare(query)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if !s.Step() {
		return 0, errors.Join(errors.New("there is no row"), s.Err())
	}
	return s.ColumnInt64(0), nil
}

// syncFile makes a file's content durable, or a directory's names.
func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
