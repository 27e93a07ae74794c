//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/reprise-rpa/reprise/server/journal"
)

// held returns [journal.ErrLocked], with who it is, while a server has the data
// folder, and nil when none has or it cannot be found out. It asks for a lock that
// is shared and lets go of it at once; the journal's is exclusive.
func held(dataDir string) error {
	f, err := os.Open(filepath.Join(dataDir, "journal.lock"))
	if err != nil {
		return nil
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	}
	holder := "another process"
	if pid, err := os.ReadFile(f.Name()); err == nil && len(pid) > 0 {
		holder = "process " + strings.TrimSpace(string(pid))
	}
	return fmt.Errorf("%w: %s is held by %s", journal.ErrLocked, dataDir, holder)
}
