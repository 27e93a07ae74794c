package evidence

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// begin starts an upload that the test ends.
func begin(t *testing.T, s *Store, digest string, offset int) *Upload {
	t.Helper()
	u, err := s.Begin(t.Context(), digest, int64(offset))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func received(t *testing.T, s *Store, digest string) int64 {
	t.Helper()
	n, err := s.Received(digest)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// arrive leaves content lying aside, as an upload that was cut does.
func arrive(t *testing.T, s *Store, digest string, content []byte) {
	t.Helper()
	u := begin(t, s, digest, 0)
	if _, err := u.Write(content); err != nil {
		t.Fatal(err)
	}
	u.Close()
	if n := received(t, s, digest); n != int64(len(content)) {
		t.Fatalf("%d bytes lie aside, want %d", n, len(content))
	}
}

// finish goes on with an upload to its end.
func finish(t *testing.T, s *Store, digest string, content []byte, offset int) error {
	t.Helper()
	u := begin(t, s, digest, offset)
	defer u.Close()
	if _, err := u.Write(content[offset:]); err != nil {
		return err
	}
	_, err := u.Commit()
	return err
}

func TestWhatHasArrivedSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	content, digest := picture(t, 40, 30)
	half := len(content) / 2
	u := begin(t, open(t, dir, 0), digest, 0) // and the process is killed
	if _, err := u.Write(content[:half]); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, 0)
	if has, err := s.Has(digest); has || err != nil || received(t, s, digest) != int64(half) {
		t.Errorf("Has = %v, %v; %d received", has, err, received(t, s, digest))
	}
	if err := finish(t, s, digest, content, half); err != nil {
		t.Error(err)
	}
	if names := files(t, dir); len(names) != 1 {
		t.Errorf("files: %v", names)
	}
}

// What lies aside and is wrong would be resumed for ever: it goes with the refusal,
// and the next upload from the start succeeds.
func TestWrongBytesOnTheDiskAreRefusedOnce(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	content, digest := picture(t, 40, 30)
	wrong := bytes.Clone(content[:100])
	wrong[50] ^= 1
	arrive(t, s, digest, wrong)
	if err := finish(t, s, digest, content, 100); !errors.Is(err, ErrMismatch) {
		t.Errorf("resumed on wrong bytes: %v", err)
	}
	if n := received(t, s, digest); n != 0 {
		t.Errorf("%d wrong bytes lie aside", n)
	}
	if err := finish(t, s, digest, content, 0); err != nil {
		t.Error(err)
	}
}

func TestAnOffsetKeepsWhatIsBeforeItAndDropsTheRest(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	content, digest := picture(t, 40, 30)
	arrive(t, s, digest, append(bytes.Clone(content[:100]), bytes.Repeat([]byte{7}, 10_000)...))
	if _, err := s.Begin(t.Context(), digest, 10_101); !errors.Is(err, ErrOffset) {
		t.Errorf("beyond what has arrived: %v", err)
	}
	if n := received(t, s, digest); n != 10_100 {
		t.Errorf("%d bytes lie aside after the refusal", n)
	}
	if err := finish(t, s, digest, content, 100); err != nil {
		t.Error(err)
	}
	if _, err := s.Begin(t.Context(), sha(nil), 1); !errors.Is(err, ErrOffset) {
		t.Errorf("an offset where nothing has arrived: %v", err)
	}
	if names := files(t, s.dir); len(names) != 1 {
		t.Errorf("files: %v", names)
	}
}

// A lower limit after a restart holds for what has arrived before it, too.
func TestWhatHasArrivedAndIsTooLargeIsRefusedAndGoes(t *testing.T) {
	dir := t.TempDir()
	content, digest := picture(t, 40, 30)
	arrive(t, open(t, dir, 0), digest, content)
	s := open(t, dir, int64(len(content))-1)
	if _, err := s.Begin(t.Context(), digest, int64(len(content))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("left over: %v", names)
	}
}

// The uploader is gone, its handler has not noticed yet: the next one goes on at
// once, and the first can do no harm any more.
func TestAnUploadWhoseUploaderIsGoneIsReplacedAtOnce(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	content, digest := picture(t, 40, 30)
	ctx, cancel := context.WithCancel(t.Context())
	gone, err := s.Begin(ctx, digest, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Write(content[:100]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(t.Context(), digest, 0); !errors.Is(err, ErrUnderWay) {
		t.Fatalf("while it goes on: %v", err)
	}
	cancel()
	next := begin(t, s, digest, 100)
	if _, err := gone.Write([]byte("late")); !errors.Is(err, ErrUnderWay) {
		t.Errorf("a late write: %v", err)
	}
	if _, err := gone.Commit(); !errors.Is(err, ErrUnderWay) {
		t.Errorf("a late commit: %v", err)
	}
	gone.Close()
	if _, err := s.Begin(t.Context(), digest, 0); !errors.Is(err, ErrUnderWay) {
		t.Errorf("the late end has opened the door: %v", err)
	}
	if _, err := next.Write(content[100:]); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Commit(); err != nil {
		t.Error(err)
	}
}

func TestAFullDiskIsSaidAndLeavesNothing(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	content, digest := picture(t, 40, 30)
	u := begin(t, s, digest, 0)
	if _, err := u.Write(content[:100]); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full: ", err)
	}
	_ = u.file.Close()
	u.file = full
	if _, err := u.Write(content[100:]); !errors.Is(err, ErrFull) {
		t.Errorf("Write = %v", err)
	}
	if _, err := u.Commit(); err == nil {
		t.Error("what is not on the disk was committed")
	}
	if names := files(t, s.dir); len(names) != 0 {
		t.Errorf("left over: %v", names)
	}
	if err := finish(t, s, digest, content, 0); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
}

// Whatever cuts, restarts, lies and repetitions come before: what is stored is the
// picture, and an honest uploader who asks what has been received gets it stored
// within two tries.
func TestAnHonestUploadSucceedsAfterWhateverCameBefore(t *testing.T) {
	content, digest := picture(t, 8, 8)
	dir := t.TempDir()
	s := open(t, dir, 0)
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(0, 6).Draw(rt, "uploads") {
			offset := rapid.IntRange(0, len(content)+10).Draw(rt, "offset")
			u, err := s.Begin(t.Context(), digest, int64(offset))
			if offset > int(received(t, s, digest)) && err == nil {
				rt.Fatalf("offset %d was taken", offset)
			}
			if err == nil {
				data := content[min(offset, len(content)):]
				if rapid.Bool().Draw(rt, "lie") {
					data = rapid.SliceOfN(rapid.Byte(), 1, len(content)).Draw(rt, "data")
				}
				r := io.Reader(bytes.NewReader(data))
				if rapid.Bool().Draw(rt, "cut") {
					r = iotest.TimeoutReader(iotest.HalfReader(r))
				}
				if _, err := io.Copy(u, r); err == nil {
					_, _ = u.Commit()
				}
				u.Close()
			}
			if rapid.Bool().Draw(rt, "restart") {
				s = open(t, dir, 0)
			}
		}
		err := honest(t, s, digest, content)
		if err != nil {
			err = honest(t, s, digest, content)
		}
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := os.ReadFile(s.path(digest)); err != nil || !bytes.Equal(got, content) {
			rt.Fatalf("%d bytes are stored, %v", len(got), err)
		}
		if err := os.Remove(s.path(digest)); err != nil {
			rt.Fatal(err)
		}
	})
}

func honest(t *testing.T, s *Store, digest string, content []byte) error {
	t.Helper()
	from := min(int(received(t, s, digest)), len(content))
	return finish(t, s, digest, content, from)
}
