package service

import (
	"errors"
	"os"
	"path/filepath"
)

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
