package journal

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// spaceFS is a file system that tells SQLite of a full disk by the code that
// SQLite has for it, as SQLite's own file systems do. The one it wraps answers a
// general error, and the cause is gone by the time a failed commit returns.
type spaceFS struct{ vfs.VFS }

// spaceOn makes the file system of that name, or the operating system's when it
// is empty, available under the name that it returns.
func spaceOn(name string) (string, error) {
	inner := vfs.Find(name)
	if inner == nil {
		return "", fmt.Errorf("no file system is registered as %q", name)
	}
	outer := "journal-" + name
	vfs.Register(outer, spaceFS{inner})
	return outer, nil
}

func (s spaceFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	var f vfs.File
	var err error
	if inner, ok := s.VFS.(vfs.VFSFilename); ok {
		f, flags, err = inner.OpenFilename(name, flags)
	} else {
		f, flags, err = s.VFS.Open(name.String(), flags) //nolint:staticcheck // QF1008: without the name it would call this very method
	}
	if err != nil {
		return nil, flags, full(err)
	}
	return spaceFile{f}, flags, nil
}

type spaceFile struct{ vfs.File }

func (f spaceFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, full(err)
}

func (f spaceFile) Sync(flags vfs.SyncFlag) error { return full(f.File.Sync(flags)) }

func (f spaceFile) SharedMemory() vfs.SharedMemory {
	if s, ok := f.File.(vfs.FileSharedMemory); ok {
		return s.SharedMemory()
	}
	return nil
}

func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}

// isNoSpace says whether err comes from a full disk. The file of the log's index
// is not opened through a file system's files; that it cannot grow has a code of
// its own.
func isNoSpace(err error) bool {
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, sqlite3.IOERR_SHMSIZE) ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
