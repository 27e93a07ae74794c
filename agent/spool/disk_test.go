package spool_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/reprise-rpa/reprise/agent/spool"
)

var (
	errNoSpace = errors.New("no space left")
	errFault   = errors.New("the disk failed")
)

// disk is a directory in memory that knows what a power cut would leave. It is
// used by one goroutine.
type disk struct {
	files   map[string]*inode // names as the running system sees them
	durable map[string]*inode // names as of the last SyncDir
	space   int               // bytes that can still be written; -1 means no bound
	steps   int               // operations so far
	failAt  int               // the operation that fails; 0 means none
	locked  bool
}

type inode struct{ data, synced []byte }

func newDisk() *disk {
	return &disk{files: map[string]*inode{}, durable: map[string]*inode{}, space: -1}
}

// crash returns what a power cut leaves: synced bytes under synced names.
func (d *disk) crash() *disk {
	after := newDisk()
	for name, f := range d.durable {
		after.put(name, f.synced)
	}
	return after
}

func (d *disk) put(name string, data []byte) {
	f := &inode{data: slices.Clone(data), synced: slices.Clone(data)}
	d.files[name], d.durable[name] = f, f
}

func (d *disk) size(name string) int { return len(d.files[name].data) }

func (d *disk) content(name string) []byte { return slices.Clone(d.files[name].data) }

func (d *disk) step() error {
	d.steps++
	if d.steps == d.failAt {
		return errFault
	}
	return nil
}

func (d *disk) Lock() (io.Closer, error) {
	d.locked = true
	return closer(func() { d.locked = false }), nil
}

type closer func()

func (c closer) Close() error { c(); return nil }

func (d *disk) ReadFile(name string) ([]byte, error) {
	f, ok := d.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(f.data), nil
}

func (d *disk) Create(name string) (spool.File, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	d.files[name] = &inode{}
	return &handle{d, d.files[name]}, nil
}

func (d *disk) Append(name string) (spool.File, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, ok := d.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &handle{d, f}, nil
}

func (d *disk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.files[to] = d.files[from]
	delete(d.files, from)
	return nil
}

func (d *disk) Remove(name string) error {
	if _, ok := d.files[name]; !ok {
		return fs.ErrNotExist
	}
	delete(d.files, name)
	return nil
}

func (d *disk) SyncDir() error {
	if err := d.step(); err != nil {
		return err
	}
	d.durable = maps.Clone(d.files)
	return nil
}

type handle struct {
	d *disk
	f *inode
}

func (h *handle) Write(p []byte) (int, error) {
	if err := h.d.step(); err != nil {
		return 0, err
	}
	n := len(p)
	if h.d.space >= 0 {
		n = min(n, h.d.space)
		h.d.space -= n
	}
	h.f.data = append(h.f.data, p[:n]...)
	if n < len(p) {
		return n, errNoSpace
	}
	return n, nil
}

func (h *handle) Sync() error {
	if err := h.d.step(); err != nil {
		return err
	}
	h.f.synced = slices.Clone(h.f.data)
	return nil
}

func (h *handle) Close() error { return nil }
