// Package pictures keeps screenshots until the server has them: in memory first,
// then in a folder, so that an agent that was killed still brings them after its
// restart. It decides which are lost when too many wait, and in which order they
// are brought; it does not bring them.
//
// A picture is evidence and never worth an action: nothing here waits for the disk
// but Run, and a disk that is full or broken loses pictures and nothing else. Who wants
// one to outlive the process knows when the disk has it.
package pictures

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

const (
	// DefaultMaxBytes is how many bytes wait at most unless Config says so.
	DefaultMaxBytes = 256 << 20
	// maxCount is how many pictures wait at most.
	maxCount = 4096
	// maxHeld is how many bytes lie in memory at most, since the disk has not taken
	// them or there is none.
	maxHeld = 64 << 20
)

// Config sets up a store.
type Config struct {
	Dir      string       // made when it is missing; empty: memory alone
	MaxBytes int64        // bytes that wait at most; 0 means DefaultMaxBytes
	Log      *slog.Logger // nil discards
}

// Store holds the pictures that wait. Its methods may be called from several
// goroutines; none but Run and Get touches the disk.
type Store struct {
	log      *slog.Logger
	disk     disk // nil: memory alone
	maxBytes int64
	maxHeld  int64

	mu       sync.Mutex
	order    []*picture // in which they are brought
	byDigest map[string]*picture
	bytes    int64 // of all
	held     int64 // of those in memory
	kept     uint64
	gone     []string      // their files are to be removed
	work     chan struct{} // holds one token when the disk has something to do
}

// picture is one that waits.
type picture struct {
	sha256 string
	size   int64
	png    []byte        // nil: it lies on the disk
	age    uint64        // the number under which it was kept
	first  bool          // somebody waits for it
	filed  bool          // the disk has it, or was asked once and would not
	tried  chan struct{} // closed once the disk has taken it, or would not
}

// done says that the disk will not be asked for the picture any more. The lock is held.
func (p *picture) done() {
	select {
	case <-p.tried:
	default:
		close(p.tried)
	}
}

// Open returns a store with what the folder holds. What can't be read there is
// logged and passed over: the agent works all the same.
func Open(cfg Config) *Store {
	var d disk
	if cfg.Dir != "" {
		d = folder(cfg.Dir)
	}
	return open(cfg, d)
}

func open(cfg Config, d disk) *Store {
	s := &Store{
		log: cfg.Log, disk: d, maxBytes: cfg.MaxBytes, maxHeld: maxHeld,
		byDigest: map[string]*picture{}, work: make(chan struct{}, 1),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.maxBytes <= 0 {
		s.maxBytes = DefaultMaxBytes
	}
	if d == nil {
		return s
	}
	files, err := d.list()
	if err != nil {
		s.log.Warn("screenshots of an earlier process are not brought", logkeys.Error, err)
	}
	for _, f := range files {
		p := &picture{sha256: f.sha256, size: f.size, filed: true, tried: make(chan struct{})}
		p.done()
		s.add(p)
	}
	if len(s.order) > 0 {
		s.log.Info("screenshots of an earlier process wait to be brought", logkeys.Count, len(s.order))
	}
	s.bound()
	return s
}

// Put takes a picture; first, if somebody waits for it, before all that nobody
// waits for. One that waits already is not taken twice. Tried is closed once the disk has
// taken it, or would not, or need not: from then on nothing is gained by waiting.
func (s *Store) Put(sha256 string, png []byte, first bool) (tried <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byDigest[sha256]
	switch {
	case p == nil:
		p = &picture{sha256: sha256, size: int64(len(png)), png: png, first: first, tried: make(chan struct{})}
		if s.disk == nil || p.size > s.maxBytes {
			p.done()
		}
		if p.size > s.maxBytes {
			s.log.Warn("a screenshot is lost: it is larger than all that may wait", logkeys.Digest, sha256)
			break
		}
		s.add(p)
		s.bound()
		s.wake()
	case first && !p.first:
		s.order = slices.DeleteFunc(s.order, func(other *picture) bool { return other == p })
		p.first = true
		s.place(p)
	}
	return p.tried
}

// add puts a picture in its place. The lock is held, or nobody knows s yet.
func (s *Store) add(p *picture) {
	s.kept++
	p.age = s.kept
	s.byDigest[p.sha256] = p
	s.bytes += p.size
	if p.png != nil {
		s.held += p.size
	}
	s.place(p)
}

func (s *Store) place(p *picture) {
	at := len(s.order)
	if p.first {
		if at = slices.IndexFunc(s.order, func(other *picture) bool { return !other.first }); at < 0 {
			at = len(s.order)
		}
	}
	s.order = slices.Insert(s.order, at, p)
}

// bound loses the oldest as long as there are too many. The lock is held.
func (s *Store) bound() {
	for s.bytes > s.maxBytes || len(s.order) > maxCount {
		s.lose(func(*picture) bool { return true })
	}
	// The newest stays, however large it is: the disk may still take it.
	for s.held > s.maxHeld && s.inMemory() > 1 {
		s.lose(func(p *picture) bool { return p.png != nil })
	}
}

func (s *Store) inMemory() int {
	n := 0
	for _, p := range s.order {
		if p.png != nil {
			n++
		}
	}
	return n
}

// lose takes the oldest of those out.
func (s *Store) lose(of func(*picture) bool) {
	oldest := &picture{age: math.MaxUint64}
	for _, p := range s.order {
		if of(p) && p.age < oldest.age {
			oldest = p
		}
	}
	s.log.Warn("a screenshot is lost: too many wait to be brought to the server", logkeys.Digest, oldest.sha256)
	s.remove(oldest)
}

// remove takes a picture out, and has its file removed if there may be one.
func (s *Store) remove(p *picture) {
	delete(s.byDigest, p.sha256)
	s.order = slices.DeleteFunc(s.order, func(other *picture) bool { return other == p })
	s.bytes -= p.size
	if p.png != nil {
		s.held -= p.size
	}
	p.done()
	if p.filed && s.disk != nil {
		s.gone = append(s.gone, p.sha256)
		s.wake()
	}
}

// Waiting returns the digests of the first n that wait, in the order in which they
// are to be brought.
func (s *Store) Waiting(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	digests := make([]string, 0, min(n, len(s.order)))
	for _, p := range s.order[:min(n, len(s.order))] {
		digests = append(digests, p.sha256)
	}
	return digests
}

// Get returns a picture that waits. One whose file is torn or gone is lost: then,
// and when it does not wait, ok is false.
func (s *Store) Get(sha256 string) (png []byte, ok bool) {
	s.mu.Lock()
	p := s.byDigest[sha256]
	if p == nil {
		s.mu.Unlock()
		return nil, false
	}
	if png = p.png; png != nil {
		s.mu.Unlock()
		return png, true
	}
	s.mu.Unlock()
	png, err := s.disk.read(sha256)
	if err != nil {
		s.log.Warn("a screenshot is lost: its file is no good", logkeys.Digest, sha256, logkeys.Error, err)
		s.Drop(sha256)
		return nil, false
	}
	return png, true
}

// Drop forgets a picture, be it there or not.
func (s *Store) Drop(sha256 string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.byDigest[sha256]; p != nil {
		s.remove(p)
	}
}

func (s *Store) wake() {
	select {
	case s.work <- struct{}{}:
	default:
	}
}

// Run brings pictures to the disk until ctx ends, and then what is left.
func (s *Store) Run(ctx context.Context) error {
	w := &writer{Store: s}
	for s.disk != nil {
		for w.step() {
		}
		select {
		case <-s.work:
		case <-ctx.Done():
			for w.step() {
			}
			return context.Cause(ctx)
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}
