// Package evidence keeps pictures by their content: the anchors of workflows and
// the screenshots of agents. What is stored is a PNG whose SHA-256 is its name,
// whole and on disk; anything else never gets a name. What arrived of an upload
// that was cut lies aside, so that the next one goes on from there.
//
// A picture's age is the time since somebody last wanted it: stored it, asked
// whether it is there, or made a workflow that names it. Sweep deletes by age and
// by size; when, and what is in use, its caller says. Who may see a picture is the
// interceptors' to decide.
package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// Errors that callers tell apart. Any other is a fault of the disk.
var (
	ErrBadDigest = rpcstatus.New(codes.InvalidArgument, "DIGEST_INVALID", "evidence: not a SHA-256 in lower-case hexadecimal")
	ErrMismatch  = rpcstatus.New(codes.InvalidArgument, "DIGEST_MISMATCH", "evidence: the content does not have this SHA-256")
	ErrNotPNG    = rpcstatus.New(codes.InvalidArgument, "PICTURE_NOT_PNG", "evidence: the content is not a PNG")
	ErrTooLarge  = rpcstatus.New(codes.ResourceExhausted, "PICTURE_TOO_LARGE", "evidence: the content is too large")
	ErrNotFound  = rpcstatus.New(codes.NotFound, "PICTURE_NOT_FOUND", "evidence: no such picture")
	// ErrOffset refuses an upload that would leave a hole.
	ErrOffset = rpcstatus.New(codes.OutOfRange, "UPLOAD_OFFSET", "evidence: the offset is beyond what has been received")
	// ErrUnderWay refuses a second upload of a picture whose first one goes on. It
	// ends one, too, that has sent nothing for so long that another took its place.
	ErrUnderWay = rpcstatus.New(codes.Aborted, "UPLOAD_UNDER_WAY", "evidence: another upload of this picture is under way")
	// ErrFull says that the disk took no more. What had arrived is dropped: what
	// shares the disk needs the room more.
	ErrFull = rpcstatus.New(codes.ResourceExhausted, "EVIDENCE_FULL", "evidence: the server's disk is full")
)

// DefaultMaxBytes is the largest picture that is taken unless something else is
// set: a 5K screen at its worst.
const DefaultMaxBytes = 32 << 20

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Store is the pictures below one folder. It is safe for concurrent use.
type Store struct {
	dir      string
	maxBytes int64

	sweeping sync.Mutex // one sweep at a time

	mu      sync.Mutex         // held while a name is given, renewed or taken away
	uploads map[string]*Upload // under way, by digest
	changed chan struct{}      // closed, and made anew, when a picture is stored
	usage   usage
}

// Open returns the store below dir, which is made when missing. Pictures may have
// up to maxBytes; 0 means DefaultMaxBytes. One process may have dir open at a time.
func Open(dir string, maxBytes int64) (*Store, error) {
	if maxBytes == 0 {
		maxBytes = DefaultMaxBytes
	}
	s := &Store{dir: dir, maxBytes: maxBytes, uploads: map[string]*Upload{}, changed: make(chan struct{})}
	if err := os.MkdirAll(s.unfinished(), 0o700); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return s, nil
}

// Has says whether the picture with this digest is stored. An error says that
// the disk did not answer, or ErrBadDigest.
func (s *Store) Has(digest string) (bool, error) {
	if err := checkDigest(digest); err != nil {
		return false, err
	}
	_, err := os.Stat(s.path(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("evidence: %w", err)
	}
	return true, nil
}

// Received says how many bytes of a picture an upload that was cut, or that goes
// on, has brought so far; 0 for one that is stored.
func (s *Store) Received(digest string) (int64, error) {
	if err := checkDigest(digest); err != nil {
		return 0, err
	}
	info, err := os.Stat(s.partial(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("evidence: %w", err)
	}
	return info.Size(), nil
}

// Touch makes a stored picture young again, or returns ErrNotFound. A sweep that
// is under way spares it from then on.
func (s *Store) Touch(digest string) error {
	if err := checkDigest(digest); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.touch(digest)
}

// touch is called with s.mu held.
func (s *Store) touch(digest string) error {
	now := time.Now()
	err := os.Chtimes(s.path(digest), now, now)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrNotFound, digest)
	}
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	return nil
}

// Get opens the picture for reading, or returns ErrNotFound. The caller closes it;
// until then it can be read, also when it is deleted meanwhile.
func (s *Store) Get(digest string) (io.ReadCloser, error) {
	if err := checkDigest(digest); err != nil {
		return nil, err
	}
	f, err := os.Open(s.path(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, digest)
	}
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return f, nil
}

// Await returns nil once the picture is stored, now or later; else the cause of
// ctx.
func (s *Store) Await(ctx context.Context, digest string) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if has, err := s.Has(digest); has || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Usage returns how many pictures are stored and how many bytes they have: what
// the last sweep kept and what was stored since. Before the first sweep nothing is
// known of what lay there at the start.
func (s *Store) Usage() (pictures int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage.pictures, s.usage.bytes
}

// usage is a number of pictures and their bytes.
type usage struct {
	pictures int
	bytes    int64
}

func (u *usage) add(pictures int, bytes int64) {
	u.pictures += pictures
	u.bytes += bytes
}

// path is where a picture lies: 256 folders keep each small.
func (s *Store) path(digest string) string { return filepath.Join(s.dir, digest[:2], digest+".png") }

func (s *Store) unfinished() string { return filepath.Join(s.dir, "unfinished") }

// partial is where what has arrived of a picture lies.
func (s *Store) partial(digest string) string { return filepath.Join(s.unfinished(), digest) }

func checkDigest(digest string) error {
	if !digestForm.MatchString(digest) {
		return fmt.Errorf("%w: %.100q", ErrBadDigest, digest)
	}
	return nil
}
