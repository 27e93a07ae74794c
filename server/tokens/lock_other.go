//go:build !unix

package tokens

import (
	"fmt"
	"os"
)

// lock refuses when another process holds the lock: it does not wait. A lock
// that a crash left behind is removed by hand.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return func() { _ = f.Close(); _ = os.Remove(path) }, nil
}

// keepOwner has nothing to do where files belong to users and not to processes.
func keepOwner(*os.File) error { return nil }
