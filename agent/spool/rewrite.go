package spool

import (
	"errors"
	"fmt"
	"os"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// compact rewrites the file when most of it is past. A failure before the old
// file is replaced leaves everything as it was.
func (s *Spool) compact() {
	if s.records < 8*s.cfg.Keep {
		return
	}
	memory := s.memory.Clone()
	memory.Trim(s.cfg.Keep)
	if err := s.replace(memory); err != nil {
		s.cfg.Log.Warn("the spool was not compacted", logkeys.Error, err)
	}
}

// Rewrite replaces the whole file by what memory holds and makes the spool
// writable again.
func (s *Spool) Rewrite(memory *Memory) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil && s.broken == nil {
		return ErrClosed
	}
	memory = memory.Clone()
	memory.Trim(s.cfg.Keep)
	return s.replace(memory)
}

// replace writes memory to a new file and puts it in the place of the old one.
func (s *Spool) replace(memory *Memory) error {
	records := append([]Record{
		{Type: TypeHeader, Version: version, SpoolID: s.id},
		{Type: TypeOpened, BootID: s.cfg.BootID},
	}, memory.records()...)
	if err := s.writeTemp(records); err != nil {
		return fmt.Errorf("spool: write %s: %w", tempName, errors.Join(err, ignoreNotExist(s.cfg.FS.Remove(tempName))))
	}
	// From here on the old file may be gone: a failure leaves the spool broken.
	err := s.closeFile()
	if err == nil {
		err = s.cfg.FS.Rename(tempName, fileName)
	}
	if err == nil {
		err = s.cfg.FS.SyncDir()
	}
	if err == nil {
		s.file, err = s.cfg.FS.Append(fileName)
	}
	if err != nil {
		s.file, s.broken = nil, err
		return fmt.Errorf("spool: put %s in place: %w", tempName, err)
	}
	s.memory, s.records, s.broken = memory, len(records), nil
	return nil
}

func (s *Spool) writeTemp(records []Record) error {
	file, err := s.cfg.FS.Create(tempName)
	if err != nil {
		return err
	}
	var all []byte
	for _, r := range records {
		frame, err := encode(r)
		if err != nil {
			return errors.Join(err, file.Close())
		}
		all = append(all, frame...)
	}
	if _, err := file.Write(all); err != nil {
		return errors.Join(err, file.Close())
	}
	return errors.Join(file.Sync(), file.Close())
}

func ignoreNotExist(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
