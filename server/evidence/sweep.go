package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// spared is how long a picture stays that somebody has just wanted, however little
// room there is: a replay that needs it may be on its way to where inUse looks.
const spared = time.Minute

// unfinishedAge is how long what arrived of an upload that was cut is kept.
const unfinishedAge = 24 * time.Hour

// Retention says how long and how much is kept. The zero value keeps everything
// that is whole.
type Retention struct {
	MaxAge   time.Duration // a picture that nobody has wanted for longer goes; 0: none does
	MaxBytes int64         // the oldest go until the rest fits, cut uploads among them, but none of the last minute; 0: no limit
}

// Swept is what a sweep has done.
type Swept struct {
	Deleted   int   // how many pictures and cut uploads were deleted
	Bytes     int64 // how many bytes they had
	KeptBytes int64 // how many bytes are left; more than MaxBytes if that much is in use
}

// file is a picture or a cut upload, as a sweep has found it.
type file struct {
	path    string
	digest  string
	picture bool
	wanted  time.Time // when somebody last wanted it
	size    int64
}

// Sweep deletes what is too old, then the oldest of the rest until it fits. It
// spares what is in use, as inUse says of a digest, uploads that go on, and what
// somebody has wanted in the last minute or wants while it runs. Uploads that were cut go after
// a day. inUse may block; nothing else waits for it. When a file cannot be read or
// deleted the sweep goes on and returns the error; when ctx ends it stops, and
// returns its cause with what it had done.
func (s *Store) Sweep(ctx context.Context, r Retention, inUse func(digest string) bool) (Swept, error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	s.mu.Lock()
	before := s.usage
	s.mu.Unlock()
	files, err := s.list(ctx)
	if err != nil {
		return Swept{}, err
	}
	sw := sweep{store: s, now: time.Now(), retention: r, inUse: inUse}
	for _, f := range files {
		sw.done.KeptBytes += f.size
		if f.picture {
			sw.left.add(1, f.size)
		}
	}
	err = sw.run(ctx, files)
	s.mu.Lock()
	defer s.mu.Unlock()
	// What was stored meanwhile comes on top. If it was listed as well it counts
	// twice until the next sweep.
	s.usage.add(sw.left.pictures-before.pictures, sw.left.bytes-before.bytes)
	return sw.done, err
}

// sweep is one sweep on its way.
type sweep struct {
	store     *Store
	now       time.Time
	retention Retention
	inUse     func(string) bool
	done      Swept
	left      usage
}

// run goes from the oldest to the youngest: what is too old comes first, and once
// the rest fits there is nothing left to do.
func (sw *sweep) run(ctx context.Context, files []file) error {
	slices.SortFunc(files, func(a, b file) int { return a.wanted.Compare(b.wanted) })
	var faults []error
	for _, f := range files {
		if ctx.Err() != nil {
			return errors.Join(append(faults, context.Cause(ctx))...)
		}
		if !sw.due(f) || f.picture && sw.inUse(f.digest) {
			continue
		}
		deleted, err := sw.store.remove(f)
		if err != nil {
			faults = append(faults, err)
		}
		if deleted {
			sw.done.Deleted++
			sw.done.Bytes += f.size
			sw.done.KeptBytes -= f.size
			if f.picture {
				sw.left.add(-1, -f.size)
			}
		}
	}
	return errors.Join(faults...)
}

// due says whether a file is too old, or too much.
func (sw *sweep) due(f file) bool {
	age, limit := sw.now.Sub(f.wanted), sw.retention.MaxAge
	if !f.picture {
		limit = unfinishedAge
	}
	tooOld := limit > 0 && age > limit
	tooMuch := sw.retention.MaxBytes > 0 && sw.done.KeptBytes > sw.retention.MaxBytes && age > spared
	return tooOld || tooMuch
}

// remove deletes a file unless somebody has wanted it since it was listed.
func (s *Store) remove(f file) (deleted bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.picture && s.uploads[f.digest] != nil {
		return false, nil
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("evidence: %w", err)
	}
	if !info.ModTime().Equal(f.wanted) {
		return false, nil
	}
	if err := os.Remove(f.path); err != nil {
		return false, fmt.Errorf("evidence: %w", err)
	}
	return true, nil
}

// list returns all pictures and all that is unfinished.
func (s *Store) list(ctx context.Context) ([]file, error) {
	folders, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	var all []file
	for _, folder := range folders {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		path := filepath.Join(s.dir, folder.Name())
		aside := path == s.unfinished()
		if !folder.IsDir() || !aside && len(folder.Name()) != 2 {
			continue
		}
		if all, err = appendFiles(all, path, !aside); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// appendFiles appends what lies in one folder. Of pictures it takes only what has
// the name of one; what else may lie there is not this store's to delete.
func appendFiles(all []file, folder string, pictures bool) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	for _, e := range entries {
		digest, _ := strings.CutSuffix(e.Name(), ".png")
		if pictures && (digest == e.Name() || !digestForm.MatchString(digest)) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, or stored, meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("evidence: %w", err)
		}
		all = append(all, file{
			path: filepath.Join(folder, e.Name()), digest: digest, picture: pictures, wanted: info.ModTime(), size: info.Size(),
		})
	}
	return all, nil
}
