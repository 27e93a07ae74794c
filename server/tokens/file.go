package tokens

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

const version = 1

// errUnchanged ends a change that has nothing to write.
var errUnchanged = errors.New("tokens: unchanged")

// change reads the file, lets edit work on it, and replaces it, all under the
// lock between processes.
func (s *Store) change(edit func(*content) error) error {
	unlock, err := lock(filepath.Join(s.dir, File+".lock"))
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	defer unlock()
	c, _, err := s.read()
	if errors.Is(err, fs.ErrNotExist) {
		c, err = content{Version: version}, nil
	}
	if err != nil {
		return err
	}
	switch err := edit(&c); {
	case errors.Is(err, errUnchanged):
	case err != nil:
		return err
	default:
		text, err := json.MarshalIndent(c, "", "  ")
		if err != nil {
			return fmt.Errorf("tokens: %w", err)
		}
		if err := writeFile(filepath.Join(s.dir, File), append(text, '\n')); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = time.Time{}
	s.refresh()
	return nil
}

// refresh takes the file's content over when it has changed. The caller holds mu.
func (s *Store) refresh() {
	if !s.checked.IsZero() && time.Since(s.checked) < CheckInterval {
		return
	}
	s.checked = time.Now()
	info, err := os.Stat(filepath.Join(s.dir, File))
	if err == nil && same(s.seen, info) {
		s.failing = false
		return
	}
	var c content
	if err == nil {
		c, info, err = s.read()
	}
	if err != nil {
		if !s.failing {
			s.log.Error("tokens cannot be read; those that were read last count", logkeys.Error, err)
		}
		s.failing = true
		return
	}
	s.failing = false
	s.content, s.seen = c, info
	s.index = make(map[[8]byte][]Token, len(c.Tokens))
	for _, t := range c.Tokens {
		digest, _ := hex.DecodeString(t.SHA256) // read has checked it
		key := [8]byte(digest[:8])
		s.index[key] = append(s.index[key], t)
	}
}

// lookAgain looks at the file before something is said to be unknown: a machine
// that was registered a moment ago must not be refused. The caller holds mu.
func (s *Store) lookAgain() {
	s.checked = time.Time{}
	s.refresh()
}

// same says whether b is the file that a was. A change always makes a new file.
func same(a, b os.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// read reads and checks the file.
func (s *Store) read() (content, os.FileInfo, error) {
	f, err := os.Open(filepath.Join(s.dir, File))
	if err != nil {
		return content{}, nil, fmt.Errorf("tokens: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return content{}, nil, fmt.Errorf("tokens: %w", err)
	}
	var c content
	if err := json.NewDecoder(f).Decode(&c); err != nil {
		return content{}, nil, fmt.Errorf("tokens: %s: %w", f.Name(), err)
	}
	if c.Version != version {
		return content{}, nil, fmt.Errorf("tokens: %s has version %d, this program knows %d", f.Name(), c.Version, version)
	}
	for _, t := range c.Tokens {
		if digest, err := hex.DecodeString(t.SHA256); err != nil || len(digest) != 32 {
			return content{}, nil, fmt.Errorf("tokens: %s: token %s has no SHA-256", f.Name(), t.ID)
		}
	}
	return c, info, nil
}

// writeFile replaces path as a whole, durably, readable by its owner only.
func writeFile(path string, text []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("tokens: %w", err)
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	err = keepOwner(f)
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
