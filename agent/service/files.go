package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// SIDs that every Windows has, in whatever language: [MS-DTYP] 2.4.2.4.
const (
	sidSystem         = "*S-1-5-18"
	sidAdministrators = "*S-1-5-32-544"
)

// Folder is where a service keeps its settings, state and logs.
type Folder struct {
	Path string
	// Account is whom the service runs as, who may read and write there beside the
	// system and its administrators; empty: nobody else.
	Account string

	icacls func(ctx context.Context, args ...string) error // nil: that of Windows
}

// Protect makes the folder, and keeps everybody out of it but the system, its
// administrators and the service's account. Any user may make a folder beside it, so
// one that was there before is taken over with all that is in it; a link is refused.
func (f Folder) Protect(ctx context.Context) error {
	run := f.icacls
	if run == nil {
		run = icacls
	}
	if err := f.make(); err != nil {
		return err
	}
	// The owner could always give himself the rights back.
	steps := [][]string{
		{f.Path, "/setowner", sidAdministrators, "/T", "/L", "/Q"},
		{f.Path, "/reset", "/T", "/L", "/Q"},
		append([]string{f.Path, "/inheritance:r", "/grant:r"}, f.grants()...),
	}
	for _, step := range steps {
		if err := run(ctx, step...); err != nil {
			return fmt.Errorf("keep others out of %s: %w", f.Path, err)
		}
	}
	return nil
}

// grants are full rights, for all files and folders below too.
func (f Folder) grants() []string {
	const full = ":(OI)(CI)F"
	grants := []string{sidSystem + full, sidAdministrators + full}
	if f.Account != "" && f.Account != LocalSystem {
		grants = append(grants, f.Account+full)
	}
	return append(grants, "/Q")
}

func (f Folder) make() error {
	err := os.MkdirAll(filepath.Dir(f.Path), 0o700)
	if err == nil {
		err = os.Mkdir(f.Path, 0o700)
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(f.Path)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeDir:
		return fmt.Errorf("%s is no folder, but a link or a file: remove it", f.Path)
	}
	return nil
}

// WriteConfig writes a configuration file, whole or not at all. One that is there is
// kept, and is no error, unless force is set; written says which.
func WriteConfig(path string, content []byte, force bool) (written bool, err error) {
	if _, err := os.Lstat(path); err == nil && !force {
		return false, nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return false, err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return false, errors.Join(err, os.Remove(file.Name()))
	}
	return true, nil
}
