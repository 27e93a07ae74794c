package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// silence is how long an upload may send nothing before another one of the same
// picture takes its place.
const silence = time.Minute

// Upload is a picture on its way in. Write it, then Commit it; Close frees what it
// holds and must follow. What was written and not committed is kept for the next
// upload of the picture, unless it was refused: then it would be refused again.
type Upload struct {
	store  *Store
	digest string
	ctx    context.Context // of the one who uploads

	mu    sync.Mutex
	file  *os.File
	size  int64
	heard time.Time // when the uploader last did something
	over  bool      // nothing may be done any more: it is committed, closed or replaced
}

// Begin starts an upload of the picture with this digest, whose first bytes, up to
// offset, have been received before; what was received after that is dropped. The
// upload goes on until ctx ends at the latest. It returns ErrOffset when less than
// offset has been received, and ErrUnderWay while another upload of the picture
// goes on: one whose ctx has ended does not.
func (s *Store) Begin(ctx context.Context, digest string, offset int64) (*Upload, error) {
	if err := checkDigest(digest); err != nil {
		return nil, err
	}
	u := &Upload{store: s, digest: digest, ctx: ctx, heard: time.Now()}
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := s.claim(u); err != nil {
		return nil, err
	}
	if err := u.open(offset); err != nil {
		return nil, u.leave(err)
	}
	return u, nil
}

// claim makes u the upload of its picture, or refuses.
func (s *Store) claim(u *Upload) error {
	s.mu.Lock()
	before := s.uploads[u.digest]
	s.mu.Unlock()
	if before != nil && !before.giveUp() {
		return fmt.Errorf("%w: %s", ErrUnderWay, u.digest)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.uploads[u.digest]; now != nil && now != before {
		return fmt.Errorf("%w: %s", ErrUnderWay, u.digest) // another one was faster
	}
	s.uploads[u.digest] = u
	return nil
}

// giveUp ends an upload whose uploader is gone or silent, and says whether it did.
func (u *Upload) giveUp() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return true
	}
	if u.ctx.Err() == nil && time.Since(u.heard) < silence {
		return false
	}
	u.over = true
	_ = u.file.Close()
	return true
}

func (u *Upload) open(offset int64) error {
	if offset > u.store.maxBytes {
		return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, u.store.maxBytes)
	}
	f, err := os.OpenFile(u.store.partial(u.digest), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return disk(err)
	}
	u.file = f
	received, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return disk(err)
	}
	if offset < 0 || offset > received {
		u.size = received
		return fmt.Errorf("%w: %d of %d bytes", ErrOffset, offset, received)
	}
	if err := f.Truncate(offset); err != nil {
		return disk(err)
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return disk(err)
	}
	u.size = offset
	return nil
}

// Write takes the next bytes; ErrTooLarge as soon as it is known.
func (u *Upload) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return 0, fmt.Errorf("%w: %s", ErrUnderWay, u.digest)
	}
	u.heard = time.Now()
	if u.size+int64(len(p)) > u.store.maxBytes {
		return 0, u.leave(fmt.Errorf("%w: more than %d bytes", ErrTooLarge, u.store.maxBytes))
	}
	n, err := u.file.Write(p)
	u.size += int64(n)
	if err != nil {
		return n, u.leave(disk(err))
	}
	return n, nil
}

// Commit checks the content, makes it durable, gives it its name and returns its
// size.
func (u *Upload) Commit() (int64, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return 0, fmt.Errorf("%w: %s", ErrUnderWay, u.digest)
	}
	err := u.check()
	if err == nil {
		err = u.name()
	}
	return u.size, u.leave(err)
}

// check looks at what is on the disk, not at what went by: some of it may have been
// there before.
func (u *Upload) check() error {
	if _, err := u.file.Seek(0, io.SeekStart); err != nil {
		return disk(err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, u.file); err != nil {
		return disk(err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != u.digest {
		return fmt.Errorf("%w: it is %s", ErrMismatch, got)
	}
	if _, err := u.file.Seek(0, io.SeekStart); err != nil {
		return disk(err)
	}
	return checkPNG(u.file)
}

// name gives the content its name, durably.
func (u *Upload) name() error {
	if err := u.file.Sync(); err != nil {
		return disk(err)
	}
	path := u.store.path(u.digest)
	if err := makeDir(filepath.Dir(path)); err != nil {
		return disk(err)
	}
	if err := u.store.rename(u.digest, u.size); err != nil {
		return err
	}
	return disk(syncDir(filepath.Dir(path)))
}

// rename gives what is whole its name; a picture that is there already gets young.
// No sweep comes between.
func (s *Store) rename(digest string, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.touch(digest)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	now := time.Now()
	if err := os.Chtimes(s.partial(digest), now, now); err != nil {
		return disk(err)
	}
	if err := os.Rename(s.partial(digest), s.path(digest)); err != nil {
		return disk(err)
	}
	s.usage.add(1, size)
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// Close ends the upload; what has been written is kept.
func (u *Upload) Close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.over {
		_ = u.leave(errCut)
	}
}

// errCut ends an upload whose rest may still come.
var errCut = errors.New("evidence: the upload was cut")

// leave ends the upload because of err, which it returns, and removes what lies
// aside unless it is worth to go on from.
func (u *Upload) leave(err error) error {
	u.over = true
	if u.file != nil {
		_ = u.file.Close()
	}
	s := u.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if goesOn := errors.Is(err, errCut) || errors.Is(err, ErrOffset); !goesOn || u.size == 0 {
		_ = os.Remove(s.partial(u.digest)) // after a success it is gone already
	}
	delete(s.uploads, u.digest)
	return err
}
