// Package evidence keeps pictures by their content: the anchors of workflows and
// the screenshots of agents. What is stored is a PNG whose SHA-256 is its name,
// whole and on disk; anything else never gets a name.
//
// It does not say who may see a picture, which is the interceptors' to decide, nor
// how long one is kept: nothing is removed yet. Retention belongs here, as a sweep
// over the files by age that spares what a live replay's workflow names; a stored
// picture that is stored again is touched, so that its age says when it was
// last wanted.
package evidence

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Errors that callers tell apart.
var (
	ErrBadDigest = errors.New("evidence: not a SHA-256 in lower-case hexadecimal")
	ErrMismatch  = errors.New("evidence: the content does not have this SHA-256")
	ErrNotPNG    = errors.New("evidence: the content is not a PNG")
	ErrTooLarge  = errors.New("evidence: the content is too large")
	ErrNotFound  = errors.New("evidence: no such picture")
)

// DefaultMaxBytes is the largest picture that is taken unless something else is
// set: a 5K screen at its worst.
const DefaultMaxBytes = 32 << 20

// maxPixels keeps out pictures that are small as files and huge as screens.
const maxPixels = 1 << 28

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Store is the pictures below one folder. It is safe for concurrent use.
type Store struct {
	dir      string
	maxBytes int64
}

// Open returns the store below dir, which is made when missing, and removes what
// a crash left of unfinished uploads. Pictures may have up to maxBytes; 0 means
// DefaultMaxBytes. One process may have dir open at a time.
func Open(dir string, maxBytes int64) (*Store, error) {
	if maxBytes == 0 {
		maxBytes = DefaultMaxBytes
	}
	s := &Store{dir: dir, maxBytes: maxBytes}
	if err := os.RemoveAll(s.unfinished()); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	if err := os.MkdirAll(s.unfinished(), 0o700); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return s, nil
}

// Has says whether the picture with this digest is stored. An error says that
// the disk did not answer, or ErrBadDigest.
func (s *Store) Has(digest string) (bool, error) {
	if !digestForm.MatchString(digest) {
		return false, fmt.Errorf("%w: %q", ErrBadDigest, digest)
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

// Get opens the picture for reading, or ErrNotFound. The caller closes it.
func (s *Store) Get(digest string) (io.ReadCloser, error) {
	if !digestForm.MatchString(digest) {
		return nil, fmt.Errorf("%w: %q", ErrBadDigest, digest)
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

// Put stores what r holds under digest and returns its size. When it returns
// without error the picture is durable; with one, nothing is stored. The whole of
// r is read and checked even when the picture is there already: its sender is
// told the truth about what it sent.
func (s *Store) Put(digest string, r io.Reader) (int64, error) {
	u, err := s.Begin(digest)
	if err != nil {
		return 0, err
	}
	defer u.Abort()
	if _, err := io.Copy(u, r); err != nil {
		return 0, err
	}
	return u.Commit()
}

// path is where a picture lies: 256 folders keep each small.
func (s *Store) path(digest string) string { return filepath.Join(s.dir, digest[:2], digest+".png") }

func (s *Store) unfinished() string { return filepath.Join(s.dir, "unfinished") }

// Upload is a picture on its way in. Write it, then Commit it; Abort frees what it
// holds and does nothing after a Commit.
type Upload struct {
	store  *Store
	digest string
	file   *os.File
	sum    hash.Hash
	size   int64
}

// Begin starts an upload of the picture with this digest.
func (s *Store) Begin(digest string) (*Upload, error) {
	if !digestForm.MatchString(digest) {
		return nil, fmt.Errorf("%w: %q", ErrBadDigest, digest)
	}
	f, err := os.CreateTemp(s.unfinished(), digest[:8]+"-*")
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return &Upload{store: s, digest: digest, file: f, sum: sha256.New()}, nil
}

// Write takes the next bytes; ErrTooLarge as soon as it is known.
func (u *Upload) Write(p []byte) (int, error) {
	if u.size+int64(len(p)) > u.store.maxBytes {
		return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, u.store.maxBytes)
	}
	n, err := u.file.Write(p)
	u.size += int64(n)
	_, _ = u.sum.Write(p[:n])
	if err != nil {
		return n, fmt.Errorf("evidence: %w", err)
	}
	return n, nil
}

// Commit checks the content, makes it durable, gives it its name and returns its
// size.
func (u *Upload) Commit() (int64, error) {
	if got := hex.EncodeToString(u.sum.Sum(nil)); got != u.digest {
		return 0, fmt.Errorf("%w: it is %s", ErrMismatch, got)
	}
	if err := checkPNG(u.file); err != nil {
		return 0, err
	}
	if has, err := u.store.Has(u.digest); err != nil {
		return 0, err
	} else if has {
		return u.size, u.touch()
	}
	if err := u.file.Sync(); err != nil {
		return 0, fmt.Errorf("evidence: %w", err)
	}
	path := u.store.path(u.digest)
	if err := makeDir(filepath.Dir(path)); err != nil {
		return 0, fmt.Errorf("evidence: %w", err)
	}
	if err := os.Rename(u.file.Name(), path); err != nil {
		return 0, fmt.Errorf("evidence: %w", err)
	}
	return u.size, syncDir(filepath.Dir(path))
}

// touch makes a stored picture young again.
func (u *Upload) touch() error {
	now := time.Now()
	if err := os.Chtimes(u.store.path(u.digest), now, now); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	return nil
}

// Abort removes what Commit has not named.
func (u *Upload) Abort() {
	_ = u.file.Close()
	_ = os.Remove(u.file.Name())
}

// checkPNG reads no more than the header: what a decoder makes of the rest is the
// business of whoever decodes it.
func checkPNG(f io.ReadSeeker) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	c, err := png.DecodeConfig(bufio.NewReader(f))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotPNG, err)
	}
	if int64(c.Width)*int64(c.Height) > maxPixels {
		return fmt.Errorf("%w: %d by %d pixels", ErrTooLarge, c.Width, c.Height)
	}
	return nil
}

// makeDir makes dir, durably.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	return nil
}
