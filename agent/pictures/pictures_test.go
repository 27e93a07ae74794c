package pictures

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shot is a picture of so many bytes, another one for each seed, and its digest.
func shot(seed, size int) (string, []byte) {
	data := bytes.Repeat([]byte(fmt.Sprintf("%06d.", seed)), size/7+1)[:size]
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), data
}

// running runs the store until the function that it returns is called.
func running(t *testing.T, s *Store) (stop func()) {
	t.Helper()
	over := errors.New("the test is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return func() {
		cancel(over)
		if err := <-ended; !errors.Is(err, over) {
			t.Errorf("Run = %v", err)
		}
	}
}

func put(s *Store, seeds ...int) (digests []string) {
	for _, seed := range seeds {
		sha256, png := shot(seed, 10)
		s.Put(sha256, png, false)
		digests = append(digests, sha256)
	}
	return digests
}

func (s *Store) expect(t *testing.T, digests ...string) {
	t.Helper()
	if got := s.Waiting(99); !slices.Equal(got, digests) {
		t.Errorf("%d wait, want %d, or the order is another one", len(got), len(digests))
	}
	for _, sha256 := range digests {
		png, ok := s.Get(sha256)
		if sum := sha256Of(png); !ok || sum != sha256 {
			t.Errorf("%.8s is %d bytes with the digest %.8s, %v", sha256, len(png), sum, ok)
		}
	}
}

func sha256Of(png []byte) string {
	sum := sha256.Sum256(png)
	return hex.EncodeToString(sum[:])
}

func TestWhatWaitsOutlivesTheProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pictures")
	s := Open(Config{Dir: dir})
	stop := running(t, s)
	digests := put(s, 1, 2, 3)
	s.Drop(digests[1])
	stop()
	if s.held != 0 {
		t.Errorf("%d bytes still lie in memory", s.held)
	}
	again := Open(Config{Dir: dir})
	slices.Sort(digests)
	left := again.Waiting(9)
	slices.Sort(left)
	if len(left) != 2 || again.bytes != 20 {
		t.Errorf("%d wait with %d bytes", len(left), again.bytes)
	}
	again.expect(t, again.Waiting(9)...)
	stop = running(t, again)
	for _, sha256 := range left {
		again.Drop(sha256)
	}
	stop()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
}

func TestFilesAreTheOwnersAloneAndTheOldestComeFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pictures")
	s := Open(Config{Dir: dir})
	stop := running(t, s)
	digests := put(s, 1, 2, 3)
	stop()
	for i, sha256 := range []string{digests[2], digests[0], digests[1]} {
		when := time.Now().Add(time.Duration(i-9) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, sha256), when, when); err != nil {
			t.Fatal(err)
		}
	}
	Open(Config{Dir: dir}).expect(t, digests[2], digests[0], digests[1])
	if runtime.GOOS == "windows" {
		return // its files have owners, and no such modes
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, digests[0]): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode().Perm(), err)
		}
	}
}

// A process that is killed, or a power cut, leaves parts of files.
func TestATornFileIsDroppedAndTheOthersAreKept(t *testing.T) {
	dir := t.TempDir()
	sound, png := shot(1, 100)
	torn, other := shot(2, 100)
	empty, _ := shot(3, 100)
	for name, content := range map[string][]byte{
		sound: png, torn: other[:99], empty: nil, sound + unfinished: png[:5], "notes.txt": []byte("not ours"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := Open(Config{Dir: dir})
	stop := running(t, s)
	for _, bad := range []string{torn, empty} {
		if png, ok := s.Get(bad); ok {
			t.Errorf("%d bytes of a torn file were taken", len(png))
		}
	}
	s.expect(t, sound)
	stop()
	var names []string
	files, err := os.ReadDir(dir)
	for _, f := range files {
		names = append(names, f.Name())
	}
	if want := []string{sound, "notes.txt"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("files %v, want %v; %v", names, want, err)
	}
}

func TestTooManyLoseTheOldest(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	s := Open(Config{Dir: dir, MaxBytes: 35, Log: slog.New(slog.NewTextHandler(&log, nil))})
	stop := running(t, s)
	digests := put(s, 1, 2)
	urgent, png := shot(3, 10)
	s.Put(urgent, png, true)
	digests = append(digests, put(s, 4, 5)...)
	big, png := shot(6, 36)
	s.Put(big, png, false)
	s.expect(t, urgent, digests[2], digests[3])
	stop()
	if n := strings.Count(log.String(), "is lost"); n != 3 {
		t.Errorf("%d losses are logged:\n%s", n, log.String())
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Errorf("%d files, %v", len(files), err)
	}
	Open(Config{Dir: dir, MaxBytes: 10}).expect(t, digests[3])

	many := Open(Config{})
	for i := range maxCount + 1 {
		put(many, i)
	}
	if first, _ := shot(0, 10); len(many.order) != maxCount || slices.Contains(many.Waiting(maxCount), first) {
		t.Errorf("%d wait", len(many.order))
	}
}

func TestWhatSomebodyWaitsForComesFirstInItsOrder(t *testing.T) {
	s := Open(Config{})
	digests := put(s, 1, 2, 3)
	for _, seed := range []int{4, 2, 4} {
		sha256, png := shot(seed, 10)
		s.Put(sha256, png, true)
	}
	fourth, _ := shot(4, 10)
	s.expect(t, fourth, digests[1], digests[0], digests[2])
	put(s, 1)
	if got := s.Waiting(2); !slices.Equal(got, []string{fourth, digests[1]}) || s.bytes != 40 {
		t.Errorf("the first two are others, or one is kept twice: %d bytes", s.bytes)
	}
}

// stuck is a disk whose writes wait, and fail if they are told to.
type stuck struct {
	disk
	began chan string
	end   chan error
}

func (s stuck) write(sha256 string, png []byte) error {
	s.began <- sha256
	if err := <-s.end; err != nil {
		return err
	}
	return s.disk.write(sha256, png)
}

func TestADiskThatHangsHoldsUpNobodyAndLosesTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := stuck{folder(t.TempDir()), make(chan string, 9), make(chan error)}
		s := open(Config{}, d)
		s.maxHeld = 35
		stop := running(t, s)
		digests := put(s, 1)
		<-d.began
		digests = append(digests, put(s, 2, 3, 4, 5)...) // the first one is being written
		s.expect(t, digests[2:]...)
		if s.held != 30 {
			t.Errorf("%d bytes in memory", s.held)
		}
		close(d.end)
		stop()
		s.expect(t, digests[2:]...)
		if files, err := d.list(); err != nil || len(files) != 3 || s.held != 0 {
			t.Errorf("%d files, %d bytes in memory, %v", len(files), s.held, err)
		}
	})
}

func TestAFullDiskLeavesPicturesInMemoryAndIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d := stuck{folder(t.TempDir()), make(chan string, 9), make(chan error)}
		s := open(Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, d)
		stop := running(t, s)
		digests := put(s, 1, 2, 3)
		full := errors.New("no space left on device")
		for _, err := range []error{full, full, nil} {
			<-d.began
			d.end <- err
		}
		stop()
		s.expect(t, digests...)
		if s.held != 20 || strings.Count(log.String(), "no space left") != 1 || !strings.Contains(log.String(), "on the disk again") {
			t.Errorf("%d bytes in memory; the log:\n%s", s.held, log.String())
		}
	})
}

func TestWhoeverPutsAPictureKnowsWhenTheDiskHasItOrNeedNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := stuck{folder(t.TempDir()), make(chan string, 9), make(chan error)}
		s := open(Config{MaxBytes: 100}, d)
		stop := running(t, s)
		defer stop()
		tried := func(seed, size int) (<-chan struct{}, string) {
			sha256, png := shot(seed, size)
			return s.Put(sha256, png, false), sha256
		}
		want := func(what string, tried <-chan struct{}, want bool) {
			t.Helper()
			synctest.Wait()
			select {
			case <-tried:
				if !want {
					t.Errorf("%s: known too early", what)
				}
			default:
				if want {
					t.Errorf("%s: not known", what)
				}
			}
		}
		written, _ := tried(1, 10)
		again, _ := tried(1, 10)
		refused, _ := tried(2, 10)
		dropped, digest := tried(3, 10)
		large, _ := tried(4, 101)
		want("larger than all that may wait", large, true)
		want("being written", written, false)
		d.end <- nil
		want("written", written, true)
		want("put again", again, true)
		want("the next one", refused, false)
		d.end <- errors.New("no space left on device")
		want("refused", refused, true)
		s.Drop(digest)
		want("dropped while it is written", dropped, true)
		d.end <- nil
	})
	_, png := shot(1, 10)
	select {
	case <-Open(Config{}).Put("digest", png, false):
	default:
		t.Error("a disk is waited for where there is none")
	}
}

func TestAFolderThatCanNotBeThereIsNoFault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(Config{Dir: filepath.Join(file, "pictures")})
	stop := running(t, s)
	digests := put(s, 1)
	stop()
	s.expect(t, digests...)
}

// Dropped and taken again while it is written: the file must not outlive the one,
// nor the other lose its file.
func TestAPictureTakenAgainWhileItsFileGoesIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := stuck{folder(t.TempDir()), make(chan string, 9), make(chan error)}
		s := open(Config{}, d)
		stop := running(t, s)
		digests := put(s, 1)
		<-d.began
		s.Drop(digests[0])
		put(s, 1)
		close(d.end)
		stop()
		s.expect(t, digests...)
		if files, err := d.list(); err != nil || len(files) != 1 || s.held != 0 || s.bytes != 10 {
			t.Errorf("%d files, %d bytes held, %d in all, %v", len(files), s.held, s.bytes, err)
		}
	})
}
