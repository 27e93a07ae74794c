package album

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The files of a folder besides its pictures.
const (
	ReplayFile = "replay.json"
	IndexFile  = "index.json"
)

// ErrTaken says that a folder holds something else.
var ErrTaken = errors.New("give another folder")

// Folder is where an album lies. What is in it is whole: a file gets its name
// when its content is complete.
type Folder struct{ path string }

// Open makes the folder if it is not there. A folder that holds another replay's
// album, or files of these names that are no album's, is refused.
func Open(path, replayID string) (Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return Folder{}, err
	}
	f := Folder{path}
	for _, name := range []string{ReplayFile, IndexFile} {
		data, err := os.ReadFile(f.At(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Folder{}, err
		}
		var of struct {
			ReplayID string `json:"replayId"`
		}
		if json.Unmarshal(data, &of) != nil || of.ReplayID == "" {
			return Folder{}, fmt.Errorf("%s is not the evidence of a replay: %w", f.At(name), ErrTaken)
		}
		if of.ReplayID != replayID {
			return Folder{}, fmt.Errorf("%s holds the evidence of replay %s: %w", path, of.ReplayID, ErrTaken)
		}
	}
	return f, nil
}

// At is the path of a file in the folder.
func (f Folder) At(name string) string { return filepath.Join(f.path, name) }

// Has says whether the file is there with this digest.
func (f Folder) Has(name, digest string) bool {
	file, err := os.Open(f.At(name))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // only read
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return err == nil && hex.EncodeToString(sum.Sum(nil)) == digest
}

// Put gives a file the content that write writes, or leaves the folder as it was.
func (f Folder) Put(name string, write func(io.Writer) error) error {
	return Write(f.At(name), true, write)
}

// Same makes a file the same as another one of the folder: a link to it, or a
// copy where the file system knows no links.
func (f Folder) Same(name, as string) error {
	to := f.At(name)
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(f.At(as), to) == nil {
		return nil
	}
	return f.Put(name, func(w io.Writer) error {
		from, err := os.Open(f.At(as))
		if err != nil {
			return err
		}
		defer func() { _ = from.Close() }() // only read
		_, err = io.Copy(w, from)
		return err
	})
}

// Index is what the index of a folder says.
type Index struct {
	ReplayID string    `json:"replayId"`
	Pictures []Picture `json:"pictures"`
}

// PutIndex writes the index.
func (f Folder) PutIndex(i Index) error {
	return f.Put(IndexFile, func(w io.Writer) error {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(i)
	})
}

// Write gives the file at path the content that write writes, for its owner's eyes
// alone. The file appears when it is complete. One that is there is replaced or,
// without replace, left as it is, with an error that is fs.ErrExist.
func Write(path string, replace bool, write func(io.Writer) error) error {
	part, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.part")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone already when all went well
	err = write(part)
	if closing := part.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	if replace {
		return os.Rename(part.Name(), path)
	}
	if err := os.Link(part.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(path); err == nil { // a file system without links
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrExist}
	}
	return os.Rename(part.Name(), path)
}
