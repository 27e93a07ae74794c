package journal

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"
)

// disk is a file system that passes all calls on to the operating system's, and
// knows beside it what a power cut would leave: of each file the bytes at its
// last sync. It can refuse writes and syncs.
type disk struct {
	vfs.VFS
	name string

	syncs    atomic.Int64                      // of the write-ahead log
	refuse   atomic.Pointer[error]             // answer to writes, once writesLeft are used up
	writes   atomic.Int64                      // writes left before refuse counts
	failSync atomic.Pointer[error]             // answer to syncs
	atSync   atomic.Pointer[func(synced bool)] // called before and after each sync, with nothing locked

	mu    sync.Mutex
	files map[string]*tracked // by base name
}

// tracked is one file: what is durable, and what was done since.
type tracked struct {
	durable []byte
	synced  bool
	pending []change
}

// change is a write, or a truncation when data is nil.
type change struct {
	at   int64
	data []byte
}

func (c change) apply(b []byte) []byte {
	if c.data == nil {
		return slices.Grow(b, max(0, int(c.at)-len(b)))[:c.at]
	}
	if end := int(c.at) + len(c.data); end > len(b) {
		b = append(b, make([]byte, end-len(b))...)
	}
	copy(b[c.at:], c.data)
	return b
}

var disks atomic.Int64

func newDisk(t testing.TB) *disk {
	d := &disk{VFS: vfs.Find("os"), name: fmt.Sprintf("disk%d", disks.Add(1)), files: map[string]*tracked{}}
	vfs.Register(d.name, d)
	t.Cleanup(func() { vfs.Unregister(d.name) })
	return d
}

func (d *disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.VFS.(vfs.VFSFilename).OpenFilename(name, flags)
	if err != nil {
		return nil, flags, err
	}
	base := filepath.Base(name.String())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files[base] == nil {
		// A file that is there already was made durable by whoever put it there.
		was, err := os.ReadFile(name.String())
		if err != nil {
			return nil, flags, errors.Join(err, f.Close())
		}
		d.files[base] = &tracked{durable: was, synced: len(was) > 0}
	}
	return &diskFile{File: f, disk: d, base: base}, flags, nil
}

func (d *disk) Delete(name string, syncDir bool) error {
	d.mu.Lock()
	delete(d.files, filepath.Base(name))
	d.mu.Unlock()
	return d.VFS.Delete(name, syncDir)
}

// fill makes the disk answer every write with err after n more of them.
func (d *disk) fill(n int, err error) {
	d.writes.Store(int64(n))
	d.refuse.Store(&err)
}

func (d *disk) makeRoom() { d.refuse.Store(nil) }

// image is what lies on the disk after a power cut, by base name.
type image map[string][]byte

// cut gives what a power cut leaves now when nothing unsynced came through.
func (d *disk) cut() image {
	return d.cutWith(func(change) []change { return nil })
}

// cutTorn gives what it leaves when any part of the unsynced came through, by
// sectors.
func (d *disk) cutTorn(r *rand.Rand) image {
	const sector = 512
	return d.cutWith(func(c change) (kept []change) {
		if c.data == nil {
			if r.IntN(2) == 0 {
				kept = append(kept, c)
			}
			return kept
		}
		for off := 0; off < len(c.data); {
			n := min(len(c.data)-off, sector-int(c.at+int64(off))%sector)
			if r.IntN(2) == 0 {
				kept = append(kept, change{c.at + int64(off), c.data[off : off+n]})
			}
			off += n
		}
		return kept
	})
}

func (d *disk) cutWith(survives func(change) []change) image {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := image{}
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[name]
		if !f.synced {
			continue
		}
		b := slices.Clone(f.durable)
		for _, c := range f.pending {
			for _, part := range survives(c) {
				b = part.apply(b)
			}
		}
		out[name] = b
	}
	return out
}

// restore puts the image into a new data directory.
func (im image) restore(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, b := range im {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type diskFile struct {
	vfs.File
	disk *disk
	base string
}

func (f *diskFile) SharedMemory() vfs.SharedMemory {
	if s, ok := f.File.(vfs.FileSharedMemory); ok {
		return s.SharedMemory()
	}
	return nil
}

func (f *diskFile) note(c change) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if t := f.disk.files[f.base]; t != nil {
		t.pending = append(t.pending, c)
	}
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	if refuse := f.disk.refuse.Load(); refuse != nil && f.disk.writes.Add(-1) < 0 {
		return 0, *refuse
	}
	n, err := f.File.WriteAt(p, off)
	f.note(change{off, slices.Clone(p[:n])})
	return n, err
}

func (f *diskFile) Truncate(size int64) error {
	f.note(change{at: size})
	return f.File.Truncate(size)
}

func (f *diskFile) Sync(flags vfs.SyncFlag) error {
	if fail := f.disk.failSync.Load(); fail != nil {
		return *fail
	}
	f.disk.tell(false)
	if err := f.File.Sync(flags); err != nil {
		return err
	}
	if strings.HasSuffix(f.base, "-wal") {
		f.disk.syncs.Add(1)
	}
	f.disk.mu.Lock()
	if t := f.disk.files[f.base]; t != nil {
		for _, c := range t.pending {
			t.durable = c.apply(t.durable)
		}
		t.pending, t.synced = nil, true
	}
	f.disk.mu.Unlock()
	f.disk.tell(true)
	return nil
}

func (d *disk) tell(synced bool) {
	if f := d.atSync.Load(); f != nil {
		(*f)(synced)
	}
}

// SQLite's shared memory must see the wrapped file's; nothing else of the
// optional interfaces is passed on.
var (
	_ vfs.VFSFilename      = (*disk)(nil)
	_ vfs.FileSharedMemory = (*diskFile)(nil)
)

var errBroken = errors.New("the disk is broken")
