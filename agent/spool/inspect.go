package spool

import "fmt"

// Inspect returns what the spool in a directory holds, as it lies on the disk. It
// takes no lock and changes nothing: the agent may be running, or dead. A torn
// end is passed over.
func Inspect(path string) (*Memory, error) {
	data, err := dir(path).ReadFile(fileName)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &Spool{memory: NewMemory()}
	if _, err := s.recover(data); err != nil {
		return nil, err
	}
	return s.memory, nil
}
