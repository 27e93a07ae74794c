package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

// picture is a PNG of noise, so that its size is about 4 bytes per pixel.
func picture(t testing.TB, width, height int) (content []byte, digest string) {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	noise := uint32(1)
	for i := range img.Pix {
		noise = noise*1664525 + 1013904223
		img.Pix[i] = uint8(noise >> 24)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), sha(b.Bytes())
}

func sha(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func open(t testing.TB, dir string, maxBytes int64) *Store {
	t.Helper()
	s, err := Open(dir, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put stores what r holds in one upload. When r fails, the upload is cut.
func put(ctx context.Context, s *Store, digest string, r io.Reader) (int64, error) {
	u, err := s.Begin(ctx, digest, 0)
	if err != nil {
		return 0, err
	}
	defer u.Close()
	if _, err := io.Copy(u, r); err != nil {
		return 0, err
	}
	return u.Commit()
}

// files lists all files below dir.
func files(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestAPictureComesBackAsItWas(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	want, digest := picture(t, 40, 30)
	if has, err := s.Has(digest); has || err != nil {
		t.Fatalf("before: %v, %v", has, err)
	}
	if _, err := s.Get(digest); !errors.Is(err, ErrNotFound) {
		t.Fatalf("before: %v", err)
	}
	for range 2 { // the second time changes nothing
		if n, err := put(t.Context(), s, digest, bytes.NewReader(want)); n != int64(len(want)) || err != nil {
			t.Fatalf("put = %d, %v", n, err)
		}
	}
	s = open(t, dir, 0)
	r, err := s.Get(digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
	}
	if names := files(t, dir); len(names) != 1 {
		t.Errorf("files: %v", names)
	}
}

func TestWhatIsRefusedLeavesNothing(t *testing.T) {
	content, digest := picture(t, 40, 30)
	truncated := content[:20]
	broken := bytes.Clone(content)
	broken[0] ^= 1
	tests := []struct {
		name    string
		digest  string
		content io.Reader
		max     int64
		want    error
	}{
		{"another content", digest, bytes.NewReader(append(bytes.Clone(content), 0)), 0, ErrMismatch},
		{"nothing", digest, bytes.NewReader(nil), 0, ErrMismatch},
		{"an empty file", sha(nil), bytes.NewReader(nil), 0, ErrNotPNG},
		{"text", sha([]byte("text")), bytes.NewReader([]byte("text")), 0, ErrNotPNG},
		{"a cut header", sha(truncated), bytes.NewReader(truncated), 0, ErrNotPNG},
		{"another signature", sha(broken), bytes.NewReader(broken), 0, ErrNotPNG},
		{"one byte too many", digest, bytes.NewReader(content), int64(len(content)) - 1, ErrTooLarge},
		{"a digest in upper case", "A" + digest[1:], bytes.NewReader(content), 0, ErrBadDigest},
		{"a path", "../../../../etc/passwd", bytes.NewReader(content), 0, ErrBadDigest},
		{"a reader that fails at once", digest, iotest.ErrReader(iotest.ErrTimeout), 0, iotest.ErrTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, tt.max)
			if _, err := put(t.Context(), s, tt.digest, tt.content); !errors.Is(err, tt.want) {
				t.Errorf("put = %v, want %v", err, tt.want)
			}
			if names := files(t, dir); len(names) != 0 {
				t.Errorf("left over: %v", names)
			}
		})
	}
}

func TestAPictureOfExactlyTheLimitIsTaken(t *testing.T) {
	content, digest := picture(t, 40, 30)
	if _, err := put(t.Context(), open(t, t.TempDir(), int64(len(content))), digest, bytes.NewReader(content)); err != nil {
		t.Error(err)
	}
}

func TestAScreenTooLargeToDecodeIsRefused(t *testing.T) {
	content, _ := picture(t, 1, 1)
	huge := bytes.Clone(content)
	copy(huge[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 by 65536
	copy(huge[29:], crcOf(huge[12:29]))
	if _, err := put(t.Context(), open(t, t.TempDir(), 0), sha(huge), bytes.NewReader(huge)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("put = %v", err)
	}
}

func TestStoringAgainMakesAPictureYoung(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	content, digest := picture(t, 4, 3)
	if _, err := put(t.Context(), s, digest, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(s.path(digest), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := put(t.Context(), s, digest, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.path(digest))
	if err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("%v, %v", info.ModTime(), err)
	}
}

// Many send the same picture at once: one is taken, the others are told so or come
// later, and there is one file.
func TestTheSamePictureFromManySendersIsOneFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	content, digest := picture(t, 40, 30)
	var wg sync.WaitGroup
	var taken atomic.Int32
	for range 8 {
		wg.Go(func() {
			switch _, err := put(t.Context(), s, digest, bytes.NewReader(content)); {
			case err == nil:
				taken.Add(1)
			case !errors.Is(err, ErrUnderWay):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if names := files(t, dir); len(names) != 1 || taken.Load() == 0 {
		t.Errorf("%d were taken; files: %v", taken.Load(), names)
	}
}

func TestOnlyAWholePictureEverGetsAName(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	content, digest := picture(t, 8, 8)
	rapid.Check(t, func(rt *rapid.T) {
		sent := bytes.Clone(content)
		switch rapid.IntRange(0, 2).Draw(rt, "damage") {
		case 0:
			sent = sent[:rapid.IntRange(0, len(sent)-1).Draw(rt, "cut")]
		case 1:
			sent[rapid.IntRange(0, len(sent)-1).Draw(rt, "at")] ^= byte(rapid.IntRange(1, 255).Draw(rt, "flip"))
		case 2:
			sent = append(sent, rapid.SliceOfN(rapid.Byte(), 1, 10).Draw(rt, "more")...)
		}
		if _, err := put(t.Context(), s, digest, bytes.NewReader(sent)); err == nil {
			rt.Fatal("taken")
		}
		if names := files(t, dir); len(names) != 0 {
			rt.Fatalf("left over: %v", names)
		}
		if has, err := s.Has(digest); has || err != nil {
			rt.Fatalf("Has = %v, %v", has, err)
		}
	})
}

func TestAFolderThatIsAFileIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, 0); err == nil {
		t.Error("opened")
	}
}
