package host

import (
	"fmt"
	"os"
	"path/filepath"
)

// private takes the journal's files out of sight of everyone but their owner:
// they hold what workflows type. It touches no mode of the folder itself, which
// may be one that others need, and no file that is not the journal's.
func private(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "journal.*"))
	if err != nil {
		return fmt.Errorf("the journal's files: %w", err)
	}
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil {
			return fmt.Errorf("the journal's files: %w", err)
		}
		if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(name, info.Mode().Perm()&0o700); err != nil {
			return fmt.Errorf("the journal's files must be private: %w", err)
		}
	}
	return nil
}
