package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// FS is the directory that a spool lies in. Names have no path.
type FS interface {
	// Lock keeps other processes out until the closer is closed; ErrLocked when
	// one is in.
	Lock() (io.Closer, error)
	// ReadFile returns a file's content, or an error that is fs.ErrNotExist.
	ReadFile(name string) ([]byte, error)
	// Create makes a file, empty even if it was there.
	Create(name string) (File, error)
	// Append opens a file that is there, to write at its end.
	Append(name string) (File, error)
	// Rename puts a file in the place of another one, in one step.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// SyncDir makes creations and renames durable.
	SyncDir() error
}

// File is an open file that is written at its end.
type File interface {
	io.WriteCloser
	// Sync makes what was written durable.
	Sync() error
}

// dir is a directory of the operating system.
type dir string

// Dir returns the directory at path, which is made if it is not there, readable
// by its owner only.
func Dir(path string) (FS, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return dir(path), nil
}

func (d dir) path(name string) string { return filepath.Join(string(d), name) }

func (d dir) Lock() (io.Closer, error) { return lockFile(d.path("spool.lock")) }

func (d dir) ReadFile(name string) ([]byte, error) { return os.ReadFile(d.path(name)) }

func (d dir) Create(name string) (File, error) {
	return openFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND)
}

func (d dir) Append(name string) (File, error) {
	return openFile(d.path(name), os.O_WRONLY|os.O_APPEND)
}

func (d dir) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d dir) Remove(name string) error { return os.Remove(d.path(name)) }

func (d dir) SyncDir() error {
	if !dirsCanSync {
		return nil
	}
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func openFile(path string, flag int) (File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}
