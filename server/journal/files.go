package journal

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// files are the database and its log as they lie on disk, read without SQLite.
// What the log holds of a page counts, not what the database has in its place: a
// crash while the log is moved into the database spoils only pages that are
// still in the log.
type files struct {
	db     *os.File
	path   string
	size   int               // of a page, in bytes
	pages  uint32            // in the database, a last one that is cut off included
	inUse  bool              // a server writes meanwhile: the log is left out
	logged map[uint32][]byte // pages in the log, by number from 1
}

// openFiles opens what lies at path. It returns nil when there is nothing yet, and
// ErrDamaged when the log or the database cannot be what this program left: it
// makes the database under another name, so that one without content is one
// that was cut off. While a server writes, the log means nothing and is
// left out.
func openFiles(path string, inUse bool) (_ *files, err error) {
	var log []byte
	if !inUse {
		if log, err = os.ReadFile(path + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	db, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && len(log) == 0 {
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damagedSo(path, "the file is missing, and its log is there; put back a copy of "+path+"*", nil)
	}
	if err != nil {
		return nil, err
	}
	f := &files{db: db, path: path, inUse: inUse}
	if err := f.read(log); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

func errEmpty(path string) error {
	return damagedSo(path, "the file is empty, which no journal is; put back a copy of "+path+"*, or remove the file to start without any replay", nil)
}

func (f *files) close() error { return f.db.Close() }

func (f *files) read(log []byte) error {
	info, err := f.db.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return errEmpty(f.path)
	}
	if err := f.readSize(); err != nil {
		return err
	}
	f.pages = uint32((info.Size() + int64(f.size) - 1) / int64(f.size))
	f.logged, err = readLog(f.path, log, f.size)
	return err
}

// readSize reads the size of a page from the database's header.
func (f *files) readSize() error {
	var b [2]byte
	if _, err := f.db.ReadAt(b[:], 16); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	f.size = int(binary.BigEndian.Uint16(b[:]))
	if f.size == 1 {
		f.size = 1 << 16
	}
	if f.size < 512 || f.size&(f.size-1) != 0 {
		return damagedSo(f.path, "its first page is not one of a journal; put back a copy of "+f.path+"*", nil)
	}
	return nil
}

// page returns a page's content.
func (f *files) page(n uint32) ([]byte, error) {
	if p, ok := f.logged[n]; ok {
		return p, nil
	}
	p := make([]byte, f.size)
	_, err := f.db.ReadAt(p, int64(n-1)*int64(f.size))
	return p, err
}
