package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folder is where a service keeps its settings, state and logs.
type Folder struct {
	Path string // full
	// Account is whom the service runs as, who may read and write there beside the
	// system and its administrators; empty: nobody else.
	Account string

	own func(path, account string) error // nil: that of Windows
}

// Protect makes the folder, and keeps everybody out of it but the system, its
// administrators and the service's account. Any user may make a folder beside it, so
// one that was there before is taken over with all that is in it; a link is refused,
// in it too. Whoever was out before is out at each moment, and after an error. Whoever
// has a file open keeps it until it is closed, as everywhere on Windows.
func (f Folder) Protect(ctx context.Context) error {
	if f.own == nil {
		f.own = own
	}
	if IsLocalSystem(f.Account) {
		f.Account = ""
	}
	err := f.make()
	if err == nil {
		err = f.takeOver(ctx, f.Path, true)
	}
	if err != nil {
		return fmt.Errorf("keep others out of %s, before anything is written there: %w", f.Path, err)
	}
	return nil
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
		return errors.New("it is no folder, but a link or a file: remove it")
	}
	return nil
}

// takeOver gives a file, or a folder with all that is in it, to the administrators. A
// folder comes before what is in it: from then on nobody else puts anything there, or
// a link in the place of what is listed.
func (f Folder) takeOver(ctx context.Context, path string, folder bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := f.own(path, f.Account); err != nil {
		return err
	}
	if !folder {
		return nil
	}
	in, err := list(path)
	if err != nil {
		return err
	}
	for _, one := range in {
		if err := f.takeOver(ctx, filepath.Join(path, one.Name()), one.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

// list returns what is in a folder. A link there is an error, and so is a name that
// leads Windows to another file: of a path it drops dots and blanks at the end.
func list(dir string) ([]fs.DirEntry, error) {
	in, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, one := range in {
		path := filepath.Join(dir, one.Name())
		if !one.IsDir() && !one.Type().IsRegular() {
			return nil, fmt.Errorf("%s is a link, or no file: remove it", path)
		}
		if strings.TrimRight(one.Name(), ". ") != one.Name() {
			return nil, fmt.Errorf("the name %q ends with a dot or a blank, which no program of ours makes: remove it, by its path after \\\\?\\", path)
		}
	}
	return in, nil
}
