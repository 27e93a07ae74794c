package spool

import (
	"fmt"
	"os"
	"path/filepath"
)

// Inspect returns what the spool in a folder holds, as it lies on the disk. It
// takes no lock and changes nothing: for tests and for people, while no agent
// writes.
func Inspect(dir string) (*Memory, error) {
	data, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &Spool{memory: NewMemory()}
	if _, err := s.recover(data); err != nil {
		return nil, err
	}
	return s.memory, nil
}
