package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/reprise-rpa/reprise/server/replay"
)

// Entry is one record and the head of its replay after it.
type Entry = replay.Entry

// ErrClosed says that the journal was closed before the call or during it;
// nothing of the call was written.
var ErrClosed = errors.New("the journal is closed")

// Options say where a journal lies.
type Options struct {
	// Dir is the data directory. It is made when it is missing, readable by the
	// owner only. Required.
	Dir string
	// VFS names a registered SQLite file system to use in place of the operating
	// system's. Tests cut the power and fill the disk with it.
	VFS string
	// Log gets a line when commits begin to fail and when they work again, and
	// for damage that the journal can live with; nil discards.
	Log *slog.Logger

	// synchronous is what SQLite's setting of that name is set to; empty means
	// FULL, the only value that keeps what Append promises.
	synchronous string
}

// Journal is an open journal. Its methods may be called by many goroutines at a
// time.
type Journal struct {
	db      database
	log     *slog.Logger
	lock    *os.File
	readers *sql.DB
	id      string
	recent  *recent

	// turn is held by whoever writes; the fields below it are the holder's.
	turn    chan struct{}
	writer  *writer // nil: opened by the next write
	failing bool    // the last write failed
	grouped int     // how many appends the last commit had

	mu      sync.Mutex // guards the fields below
	waiting []*appending
	enough  chan struct{} // of gather while it waits for more, else nil;
	wanted  int           // so many in waiting are enough
	closed  bool
	told    chan struct{} // what Committed gave out, or nil
	stuck   []string      // ended replays that damage keeps from being deleted
}

// Open opens the journal in opts.Dir and brings its tables up to date. It fails
// with ErrLocked while another process has the directory, with ErrNewer when a
// newer version has written there, and with ErrDamaged when something that live
// replays or new records need can be seen to be unreadable. Damage that hits
// ended replays alone is an error in the log.
func Open(ctx context.Context, opts Options) (*Journal, error) {
	if opts.Dir == "" {
		return nil, errors.New("journal: the data directory is required")
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("journal: make the data directory: %w", err)
	}
	fs, err := spaceOn(opts.VFS)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{
		db:   database{path: filepath.Join(dir, fileName), vfs: fs, synchronous: opts.synchronous},
		log:  opts.Log,
		lock: lock,
		turn: make(chan struct{}, 1),

		recent: newRecent(recentSize),
	}
	if err := j.prepare(ctx); err != nil {
		return nil, errors.Join(doing("open "+dir, err), j.release())
	}
	return j, nil
}

func (j *Journal) prepare(ctx context.Context) error {
	bad, err := j.examine(ctx)
	if err != nil {
		return err
	}
	err = j.db.classify(j.openTables(ctx, bad))
	if bad == nil || errors.Is(err, ErrDamaged) || errors.Is(err, replay.ErrNoSpace) || ctx.Err() != nil {
		return err
	}
	if err != nil { // whatever it says, this is where it comes from
		return damaged(j.db.path, bad.String(), err)
	}
	return nil
}

func (j *Journal) openTables(ctx context.Context, bad *damage) (err error) {
	if err := j.db.setUp(ctx); err != nil {
		return err
	}
	if j.readers, err = j.db.openReaders(ctx); err != nil {
		return err
	}
	if bad != nil {
		if err := j.assess(ctx, bad); err != nil {
			return err
		}
	}
	if err := j.db.migrate(ctx); err != nil {
		return err
	}
	if j.id, err = j.readID(ctx); err != nil {
		return err
	}
	if j.writer, err = openWriter(j.db); err != nil {
		return err
	}
	j.recent.learn(nil, j.writer.last, j.writer.purged)
	return nil
}

// Close refuses further calls, waits for the commit that is under way, answers
// those still waiting with ErrClosed and lets go of the directory. It may be
// called twice.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.tell()
	j.goOn()
	j.closed = true
	waiting := j.waiting
	j.waiting = nil
	j.mu.Unlock()
	for _, a := range waiting {
		a.done <- ErrClosed
	}
	j.turn <- struct{}{}
	defer func() { <-j.turn }()
	return j.release()
}

// release lets go of everything that is open. The caller has the turn.
func (j *Journal) release() error {
	var errs []error
	if j.readers != nil {
		errs = append(errs, j.readers.Close())
	}
	if j.writer != nil {
		errs = append(errs, j.writer.close())
		j.writer = nil
	}
	errs = append(errs, j.lock.Close())
	return errors.Join(errs...)
}

func (j *Journal) isClosed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed
}
