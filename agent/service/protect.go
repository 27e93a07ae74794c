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
// one that was there before is taken over with all that is in it; a link is refused,
// in it too. Whoever was out before is out at each moment, and after an error.
func (f Folder) Protect(ctx context.Context) error {
	if f.icacls == nil {
		f.icacls = icacls
	}
	err := f.make()
	if err == nil {
		err = f.shut(ctx)
	}
	if err == nil {
		err = f.takeOver(ctx, f.Path)
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

// shut takes the folder itself from its owner, who could always give himself the rights
// back, and gives it the rights of f and no others.
func (f Folder) shut(ctx context.Context) (err error) {
	rights, remove, err := f.rights(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := f.icacls(ctx, f.Path, "/setowner", sidAdministrators, "/L", "/Q"); err != nil {
		return err
	}
	if err := f.grant(ctx, f.Path); err != nil {
		return err
	}
	// What others were given by name is still there.
	return f.icacls(ctx, filepath.Dir(f.Path), "/restore", rights, "/L", "/Q")
}

// grant replaces the rights that a file inherits by full ones for those of f, which are
// for all below too. Rights that it has of its own stay.
func (f Folder) grant(ctx context.Context, path string) error {
	const full = ":(OI)(CI)F"
	args := []string{path, "/inheritance:r", "/grant:r", sidSystem + full, sidAdministrators + full}
	if f.Account != "" && f.Account != LocalSystem {
		args = append(args, f.Account+full)
	}
	return f.icacls(ctx, append(args, "/Q")...)
}

// rights returns a file with the rights of f and no others, as icacls /restore takes
// them, and how to remove it. They are saved from a new folder, which nobody has given
// others, and lie in one that the administrators alone can change.
func (f Folder) rights(ctx context.Context) (file string, remove func() error, err error) {
	outer, err := os.MkdirTemp(filepath.Dir(f.Path), filepath.Base(f.Path)+".*")
	if err != nil {
		return "", nil, err
	}
	model := filepath.Join(outer, filepath.Base(f.Path)) // rights are restored by the name
	file = filepath.Join(outer, "rights")
	remove = func() error {
		_, _ = os.Remove(file), os.Remove(model) // they may not be there yet
		return os.Remove(outer)
	}
	err = Folder{icacls: f.icacls}.grant(ctx, outer)
	if err == nil {
		err = empty(outer) // nobody was quicker
	}
	if err == nil {
		err = os.Mkdir(model, 0o700)
	}
	if err == nil {
		err = f.grant(ctx, model)
	}
	if err == nil {
		err = f.icacls(ctx, model, "/save", file, "/Q")
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return file, remove, nil
}

func empty(dir string) error {
	in, err := os.ReadDir(dir)
	if err == nil && len(in) > 0 {
		err = fmt.Errorf("somebody else has made %s: try again", filepath.Join(dir, in[0].Name()))
	}
	return err
}

// takeOver gives all that is in dir to the administrators, with the rights of dir and no
// others. Nobody else can put anything into dir by then, and so it goes on, folder by
// folder: icacls would go where a link leads that somebody makes meanwhile.
func (f Folder) takeOver(ctx context.Context, dir string) error {
	in, err := noLinks(dir)
	if err != nil || len(in) == 0 {
		return err // icacls finds nothing in an empty folder, which is an error
	}
	all := filepath.Join(dir, "*")
	if err := f.icacls(ctx, all, "/setowner", sidAdministrators, "/L", "/Q"); err != nil {
		return err
	}
	if err := f.icacls(ctx, all, "/reset", "/L", "/Q"); err != nil {
		return err
	}
	if in, err = noLinks(dir); err != nil { // its owner may have made a link of a folder
		return err
	}
	for _, one := range in {
		if one.IsDir() {
			if err := f.takeOver(ctx, filepath.Join(dir, one.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// noLinks returns what is in a folder; a link there is an error.
func noLinks(dir string) ([]fs.DirEntry, error) {
	in, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, one := range in {
		if !one.IsDir() && !one.Type().IsRegular() {
			return nil, fmt.Errorf("%s is a link, or no file: remove it", filepath.Join(dir, one.Name()))
		}
	}
	return in, nil
}
