//go:build unix

package doctor

import (
	"fmt"
	"os"
	"syscall"
)

// disk is what the system tells of files.
type disk struct{}

// freeSpace is how many bytes this process's user may still write on the disk of a
// folder that is there.
func (disk) freeSpace(folder string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(folder, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", folder, err)
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // other systems have other types
}

// Others implements FileFacts by the mode.
func (disk) Others(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var others []string
	if info.Mode()&0o040 != 0 {
		others = append(others, "its group")
	}
	if info.Mode()&0o004 != 0 {
		others = append(others, "everybody")
	}
	return others, nil
}
