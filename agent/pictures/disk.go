package pictures

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// disk is the folder that pictures lie in, by their digests.
type disk interface {
	// list returns what is there, the oldest first.
	list() ([]file, error)
	// read returns a picture that has its digest.
	read(sha256 string) ([]byte, error)
	// write makes a picture's file, whole or not at all as long as the system runs.
	write(sha256 string, png []byte) error
	// remove removes a picture's file if it is there.
	remove(sha256 string) error
}

type file struct {
	sha256 string
	size   int64
	since  time.Time
}

// writer does what the disk has to do. One goroutine has it.
type writer struct {
	*Store
	failing bool // the last write failed
}

// step does one thing; false: there was nothing to do.
func (w *writer) step() bool {
	w.mu.Lock()
	gone := w.gone
	w.gone = nil
	var next *picture
	if i := slices.IndexFunc(w.order, func(p *picture) bool { return !p.filed }); i >= 0 {
		next = w.order[i]
		next.filed = true // from here on there may be a file
	}
	w.mu.Unlock()
	// Removed first: next may be one of them that was taken again.
	for _, sha256 := range gone {
		if err := w.disk.remove(sha256); err != nil {
			w.log.Warn("a screenshot's file was not removed", logkeys.Digest, sha256, logkeys.Error, err)
		}
	}
	if next != nil {
		w.file(next)
	}
	return next != nil || gone != nil
}

func (w *writer) file(p *picture) {
	err := w.disk.write(p.sha256, p.png)
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		p.done()
	}()
	if failing := err != nil; failing != w.failing {
		w.failing = failing
		if failing {
			w.log.Warn("screenshots wait in memory alone: the disk does not take them", logkeys.Error, err)
		} else {
			w.log.Info("screenshots wait on the disk again")
		}
	}
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byDigest[p.sha256] == p {
		w.held -= p.size
		p.png = nil
	}
}

// folder is a disk of the operating system.
type folder string

// unfinished ends the name of a file that is being written.
const unfinished = ".new"

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// errTorn says that a file is not the picture that it is named after.
var errTorn = errors.New("the file has another digest: it was not written to its end")

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

func (f folder) list() ([]file, error) {
	entries, err := os.ReadDir(string(f))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []file
	var errs []error
	for _, e := range entries {
		switch info, err := e.Info(); {
		case err != nil:
			errs = append(errs, err)
		case strings.HasSuffix(e.Name(), unfinished):
			errs = append(errs, os.Remove(f.path(e.Name())))
		case digest.MatchString(e.Name()) && info.Mode().IsRegular():
			files = append(files, file{e.Name(), info.Size(), info.ModTime()})
		}
	}
	slices.SortStableFunc(files, func(a, b file) int { return a.since.Compare(b.since) })
	return files, errors.Join(errs...)
}

func (f folder) read(name string) ([]byte, error) {
	png, err := os.ReadFile(f.path(name))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(png); hex.EncodeToString(sum[:]) != name {
		return nil, errTorn
	}
	return png, nil
}

// write needs no sync: what a power cut tears has another digest.
func (f folder) write(name string, png []byte) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	temp := f.path(name + unfinished)
	if err := os.WriteFile(temp, png, 0o600); err != nil {
		return errors.Join(err, f.remove(name+unfinished))
	}
	return os.Rename(temp, f.path(name))
}

func (f folder) remove(name string) error {
	if err := os.Remove(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
