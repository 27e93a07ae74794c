package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// dirsCanSync says that a rename is durable without syncing the directory, as
// NTFS journals it.
const dirsCanSync = false

// errSharingViolation is ERROR_SHARING_VIOLATION.
const errSharingViolation = syscall.Errno(32)

// lockFile opens the file so that nobody else can; the system closes it with
// the process, however that ends.
func lockFile(path string) (io.Closer, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("spool: lock %s: %w", path, err)
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	}
	if err != nil {
		return nil, fmt.Errorf("spool: lock %s: %w", path, err)
	}
	return os.NewFile(uintptr(handle), path), nil
}
