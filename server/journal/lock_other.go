//go:build !unix

package journal

import (
	"errors"
	"fmt"
	"os"
)

// lockDir refuses: the server runs where a directory can be locked.
func lockDir(dir string) (*os.File, error) {
	return nil, fmt.Errorf("lock %s: %w", dir, errors.ErrUnsupported)
}

// Locked knows nothing where nothing is locked.
func Locked(string) error { return nil }
