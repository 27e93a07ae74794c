//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockDir takes the directory for this process until the file is closed, be it
// by the end of the process.
func lockDir(dir string) (*os.File, error) {
	name := filepath.Join(dir, lockName)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		held := lockedBy(dir)
		closed := f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, held
		}
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), closed)
	}
	// For people who wonder who holds it; the lock itself does not need it.
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil && !isNoSpace(err) {
		return nil, errors.Join(fmt.Errorf("write %s: %w", name, err), f.Close())
	}
	return f, nil
}

// Locked returns ErrLocked, with who it is, while a process has the directory, and nil when
// none has or it can't be found out. For people who wonder why a server does not start:
// it asks for a shared lock and lets go of it at once, which a server that takes the
// directory in that moment is refused by.
func Locked(dir string) error {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // lets go
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	}
	return lockedBy(dir)
}

func lockedBy(dir string) error {
	holder := "another process"
	if b, err := os.ReadFile(filepath.Join(dir, lockName)); err == nil && len(b) > 0 {
		holder = "process " + strings.TrimSpace(string(b))
	}
	return fmt.Errorf("%w: %s is held by %s", ErrLocked, dir, holder)
}
