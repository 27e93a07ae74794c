// Package workflow reads workflow files: YAML with the schema's JSON names. It
// decides what a file may say, where in the file each fault is, what of it is not
// supported yet, and which pictures beside it belong to it. It leaves sending to its callers, and it
// knows nothing of machines or replays.
//
// Beyond protojson's spelling it takes two shorter ones, because people write
// these files: an enum value without its type's prefix, in any case (`right`
// for `MOUSE_BUTTON_RIGHT`), and a duration in Go's form (`500ms`, `2m`). It is
// stricter in one point: a key without a value is a fault, unless it is a kind of
// action (`screenshot:`).
// A text that ends in blanks must stand in quotes: a block loses them. YAML's own anchors, aliases, tags and merge keys are refused, so that every
// place in a workflow has one place in its file.
package workflow

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// aWorkflow is what most files hold.
const aWorkflow = "a workflow is"

// MaxSize is the largest workflow file that is read, in bytes.
const MaxSize = 8 << 20

// File is a workflow file with all that belongs to it.
type File struct {
	// Workflow is ready to be sent: each anchor has its digest and no path.
	Workflow *reprisev1.Workflow
	// Pictures are the anchors' pictures, each digest once, in the order in
	// which the workflow names them first.
	Pictures []Picture
	// Warnings are what server or agents do not support yet; the file is sound
	// all the same.
	Warnings []Warning
}

// Load reads the workflow file at path and the pictures that it names. All
// faults of the content come together as Faults; any other error says that the
// file itself cannot be read.
func Load(path string) (File, error) {
	data, err := readFile(path)
	if err != nil {
		return File{}, fmt.Errorf("workflow: %w", err)
	}
	d := decode(path, aWorkflow, data)
	d.check()
	pictures, err := d.pictures(filepath.Dir(path))
	if err != nil {
		return File{}, err
	}
	if err := d.faults.err(); err != nil {
		return File{}, err
	}
	return File{Workflow: d.workflow, Pictures: pictures, Warnings: d.unsupported()}, nil
}

// Parse reads a workflow without its pictures: anchors keep their paths, and
// nothing is looked up. The name is what faults call the file. Its errors are
// Faults.
func Parse(name string, data []byte) (*reprisev1.Workflow, error) {
	d := decode(name, aWorkflow, data)
	d.check()
	if err := d.faults.err(); err != nil {
		return nil, err
	}
	return d.workflow, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%s has more than %d bytes", path, MaxSize)
	}
	return data, nil
}
