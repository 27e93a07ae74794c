// Package spool is the agent's journal on disk: what was started, how it came
// out, and what the server has acknowledged. It decides what survives a crash
// and how much is remembered; what to do with a dispatch is the runner's affair.
//
// The file is a row of frames, each with its length and checksums. A record is
// durable before Append returns, save an acknowledgement, whose loss only makes
// the agent say something twice. A last frame that a crash cut off is dropped
// with a warning, since nobody relied on it; damage before the end is ErrCorrupt,
// and the agent must not act on what is left.
package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/google/uuid"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

const (
	fileName = "spool"
	tempName = "spool.new"
	version  = 1
	// DefaultKeep is how many actions are remembered unless Config says so.
	DefaultKeep = 256
)

// Errors that callers branch on.
var (
	// ErrLocked says that another process uses the spool.
	ErrLocked = errors.New("spool: another agent uses it")
	// ErrCorrupt says that a record before the last one is damaged.
	ErrCorrupt = errors.New("spool: damaged")
	// ErrBroken says that a write failed; nothing is written until Rewrite.
	ErrBroken = errors.New("spool: not writable")
	// ErrClosed says that the spool is closed.
	ErrClosed = errors.New("spool: closed")
)

// Config sets up a spool.
type Config struct {
	FS     FS           // where it lies; required
	BootID string       // the process that opens it
	Keep   int          // actions remembered; 0 means DefaultKeep
	Log    *slog.Logger // nil discards
}

// Spool is an open journal. Its methods may be called from several goroutines.
type Spool struct {
	cfg      Config
	lock     io.Closer
	id       string
	lastExit string
	fresh    bool

	mu      sync.Mutex
	file    File // nil when broken or closed
	memory  *Memory
	records int   // frames in the file
	broken  error // why writes are refused
}

// Open locks the spool, recovers what it holds and notes that a process uses
// it. A spool that is not there is made, with a new id. One that is whole and
// can't be written now, as on a full disk, is opened all the same: it answers
// from memory, and Broken says why it takes nothing until Rewrite. Errors:
// ErrLocked, ErrCorrupt, and those of the file system.
func Open(cfg Config) (*Spool, error) {
	if cfg.Keep <= 0 {
		cfg.Keep = DefaultKeep
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	lock, err := cfg.FS.Lock()
	if err != nil {
		return nil, err
	}
	s := &Spool{cfg: cfg, lock: lock, memory: NewMemory()}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

func (s *Spool) open() error {
	data, err := s.cfg.FS.ReadFile(fileName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.id, s.fresh = uuid.NewString(), true
		return s.replace(s.memory)
	case err != nil:
		return fmt.Errorf("spool: %w", err)
	}
	end, err := s.recover(data)
	if err != nil {
		return err
	}
	err = s.continueAt(end, len(data))
	if errors.Is(err, fs.ErrPermission) {
		return err // time does not mend it
	}
	s.broken = err
	return nil
}

// continueAt notes that a process uses the recovered file, whose last whole
// frame ends at end.
func (s *Spool) continueAt(end, size int) error {
	if end < size {
		s.cfg.Log.Warn("cut off the spool's torn end", logkeys.Count, size-end)
		return s.replace(s.memory)
	}
	file, err := s.cfg.FS.Append(fileName)
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.file = file
	return s.Append(Record{Type: TypeOpened, BootID: s.cfg.BootID})
}

// recover folds the frames of data into the memory and returns where the last
// whole one ends.
func (s *Spool) recover(data []byte) (int, error) {
	records, end, err := decodeAll(data)
	if err != nil {
		return 0, err
	}
	if len(records) == 0 || records[0].Type != TypeHeader {
		return 0, fmt.Errorf("%w at offset 0: no header", ErrCorrupt)
	}
	if v := records[0].Version; v != version {
		return 0, fmt.Errorf("spool: version %d is not known to this agent", v)
	}
	s.id = records[0].SpoolID
	running := ""
	for _, r := range records {
		s.memory.Apply(r)
		if r.Type == TypeOpened {
			running = r.BootID
		}
		if r.Type == TypeStopped {
			running = ""
		}
	}
	if running != "" {
		s.lastExit = "process " + running + " did not stop in order"
	}
	s.records = len(records)
	return end, nil
}

// ID returns the spool's id, made once and kept as long as the file.
func (s *Spool) ID() string { return s.id }

// LastExit says how the last process ended; empty means in order.
func (s *Spool) LastExit() string { return s.lastExit }

// Fresh says whether Open has made the spool: of what earlier processes did, if there
// were any, nothing is known.
func (s *Spool) Fresh() bool { return s.fresh }

// Broken returns why nothing can be written until Rewrite; nil: it can.
func (s *Spool) Broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// Memory returns a copy of what the spool holds.
func (s *Spool) Memory() *Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.Clone()
}

// Append writes one record. It is durable before Append returns, except for an
// acknowledgement. After one failure every further Append fails with ErrBroken
// until Rewrite: what is on the disk past that point is not known.
func (s *Spool) Append(r Record) error {
	frame, err := encode(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return s.refusal()
	}
	if err := s.write(frame, r.durable()); err != nil {
		s.broken = err
		return errors.Join(fmt.Errorf("%w: %w", ErrBroken, err), s.closeFile())
	}
	s.memory.Apply(r)
	s.records++
	s.compact()
	return nil
}

func (s *Spool) refusal() error {
	if s.broken != nil {
		return fmt.Errorf("%w: %w", ErrBroken, s.broken)
	}
	return ErrClosed
}

func (s *Spool) write(frame []byte, durable bool) error {
	if _, err := s.file.Write(frame); err != nil {
		return err
	}
	if !durable {
		return nil
	}
	return s.file.Sync()
}

// Close notes that the process stops in order and frees the spool.
func (s *Spool) Close() error {
	var noted error
	s.mu.Lock()
	writable := s.file != nil
	s.mu.Unlock()
	if writable {
		noted = s.Append(Record{Type: TypeStopped, BootID: s.cfg.BootID})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errors.Join(noted, s.closeFile())
	s.broken = nil
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
		s.lock = nil
	}
	return err
}

func (s *Spool) closeFile() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}
