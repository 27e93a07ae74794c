package evidence

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func nobody(string) bool { return false }

// aged stores a picture of its own size that was last wanted an age ago.
func aged(t *testing.T, s *Store, width int, age time.Duration) (digest string, size int64) {
	t.Helper()
	content, digest := picture(t, width, 1)
	if _, err := put(t.Context(), s, digest, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	makeOld(t, s.path(digest), age)
	return digest, int64(len(content))
}

func makeOld(t *testing.T, path string, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func sweepOnce(t *testing.T, s *Store, r Retention, inUse func(string) bool) Swept {
	t.Helper()
	done, err := s.Sweep(t.Context(), r, inUse)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// stored returns those of the digests that are still there.
func stored(t *testing.T, s *Store, digests ...string) (there []int) {
	t.Helper()
	for i, d := range digests {
		has, err := s.Has(d)
		if err != nil {
			t.Fatal(err)
		}
		if has {
			there = append(there, i)
		}
	}
	return there
}

func TestASweepDeletesWhatIsTooOldAndNotInUse(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	young, n0 := aged(t, s, 1, 59*time.Minute)
	old, n1 := aged(t, s, 2, 61*time.Minute)
	needed, n2 := aged(t, s, 3, 100*time.Hour)
	done := sweepOnce(t, s, Retention{MaxAge: time.Hour}, func(d string) bool { return d == needed })
	if diff := cmp.Diff(Swept{Deleted: 1, Bytes: n1, KeptBytes: n0 + n2}, done); diff != "" {
		t.Error(diff)
	}
	if there := stored(t, s, young, old, needed); !slices.Equal(there, []int{0, 2}) {
		t.Errorf("there are %v", there)
	}
	if pictures, bytes := s.Usage(); pictures != 2 || bytes != n0+n2 {
		t.Errorf("Usage = %d, %d", pictures, bytes)
	}
}

func TestASweepDeletesTheOldestUntilTheRestFits(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	a, n0 := aged(t, s, 1, 5*time.Hour)
	needed, n1 := aged(t, s, 2, 4*time.Hour)
	b, n2 := aged(t, s, 3, 3*time.Hour)
	c, n3 := aged(t, s, 4, 2*time.Hour)
	done := sweepOnce(t, s, Retention{MaxBytes: n1 + n3}, func(d string) bool { return d == needed })
	if diff := cmp.Diff(Swept{Deleted: 2, Bytes: n0 + n2, KeptBytes: n1 + n3}, done); diff != "" {
		t.Error(diff)
	}
	if there := stored(t, s, a, needed, b, c); !slices.Equal(there, []int{1, 3}) {
		t.Errorf("there are %v", there)
	}
	if done := sweepOnce(t, s, Retention{MaxBytes: n1 + n3}, nobody); done.Deleted != 0 {
		t.Errorf("what fits exactly lost %d", done.Deleted)
	}
	if done := sweepOnce(t, s, Retention{}, nobody); done.Deleted != 0 || done.KeptBytes != n1+n3 {
		t.Errorf("a sweep without limits: %+v", done)
	}
}

func TestWhatIsWantedAgainIsSpared(t *testing.T) {
	for name, want := range map[string]func(*Store, []byte, string) error{
		"touched": func(s *Store, _ []byte, digest string) error { return s.Touch(digest) },
		"stored again": func(s *Store, c []byte, digest string) error {
			_, err := put(t.Context(), s, digest, bytes.NewReader(c))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir(), 0)
			content, _ := picture(t, 7, 1)
			digest, _ := aged(t, s, 7, time.Hour)
			// While the sweep looks at it, which is after it was listed.
			done := sweepOnce(t, s, Retention{MaxAge: time.Minute, MaxBytes: 1}, func(d string) bool {
				if err := want(s, content, d); err != nil {
					t.Error(err)
				}
				return false
			})
			if done.Deleted != 0 || len(stored(t, s, digest)) != 1 {
				t.Errorf("it was deleted: %+v", done)
			}
		})
	}
}

func TestAPictureThatIsStoredDuringASweepIsSparedAndCounted(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	old, _ := aged(t, s, 1, time.Hour)
	content, fresh := picture(t, 9, 1)
	done := sweepOnce(t, s, Retention{MaxAge: time.Minute, MaxBytes: 1}, func(d string) bool {
		if d == old {
			if _, err := put(t.Context(), s, fresh, bytes.NewReader(content)); err != nil {
				t.Error(err)
			}
		}
		return false
	})
	if there := stored(t, s, old, fresh); done.Deleted != 1 || !slices.Equal(there, []int{1}) {
		t.Errorf("%+v; there are %v", done, there)
	}
	if pictures, n := s.Usage(); pictures != 1 || n != int64(len(content)) {
		t.Errorf("Usage = %d, %d", pictures, n)
	}
}

func TestTouchingWhatIsNotThereSaysSo(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	if err := s.Touch(sha(nil)); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	if err := s.Touch("../x"); !errors.Is(err, ErrBadDigest) {
		t.Errorf("%v", err)
	}
}

func TestAPictureIsReadToItsEndAlthoughItIsDeletedMeanwhile(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	want, _ := picture(t, 50, 1)
	digest, _ := aged(t, s, 50, time.Hour)
	r, err := s.Get(digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if done := sweepOnce(t, s, Retention{MaxAge: time.Minute}, nobody); done.Deleted != 1 {
		t.Fatalf("%+v", done)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestCutUploadsGoAfterADayAndThoseThatGoOnStay(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	content, _ := picture(t, 40, 30)
	cutNow, cutLong, goesOn := sha([]byte("1")), sha([]byte("2")), sha([]byte("3"))
	arrive(t, s, cutNow, content[:100])
	arrive(t, s, cutLong, content[:200])
	arrive(t, s, goesOn, content[:300])
	stray := filepath.Join(s.unfinished(), "0123abcd-42") // as an older version left them
	if err := os.WriteFile(stray, content[:50], 0o600); err != nil {
		t.Fatal(err)
	}
	u := begin(t, s, goesOn, 300)
	defer u.Close()
	makeOld(t, s.partial(cutNow), unfinishedAge-time.Minute)
	for _, path := range []string{s.partial(cutLong), s.partial(goesOn), stray} {
		makeOld(t, path, unfinishedAge+time.Minute)
	}
	if diff := cmp.Diff(Swept{Deleted: 2, Bytes: 250, KeptBytes: 400}, sweepOnce(t, s, Retention{}, nobody)); diff != "" {
		t.Error(diff)
	}
	if received(t, s, cutNow) != 100 || received(t, s, cutLong) != 0 || received(t, s, goesOn) != 300 {
		t.Errorf("left: %v", files(t, s.dir))
	}
	// They count for the size as well, and the one that goes on is spared.
	if diff := cmp.Diff(Swept{Deleted: 1, Bytes: 100, KeptBytes: 300}, sweepOnce(t, s, Retention{MaxBytes: 1}, nobody)); diff != "" {
		t.Error(diff)
	}
}

func TestASweepTouchesNothingThatIsNotAPicture(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	digest, _ := aged(t, s, 1, time.Hour)
	for _, name := range []string{"notes.txt", filepath.Join(digest[:2], "notes.png"), filepath.Join(digest[:2], sha(nil)), filepath.Join("archive", sha(nil)+".png")} {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		makeOld(t, path, 100*time.Hour)
	}
	if done := sweepOnce(t, s, Retention{MaxAge: time.Minute, MaxBytes: 1}, nobody); done.Deleted != 1 || len(files(t, s.dir)) != 4 {
		t.Errorf("%+v; left: %v", done, files(t, s.dir))
	}
}

func TestASweepStopsWithItsContext(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	for width := range 3 {
		aged(t, s, width+1, time.Hour)
	}
	cause := errors.New("going away")
	ctx, cancel := context.WithCancelCause(t.Context())
	done, err := s.Sweep(ctx, Retention{MaxAge: time.Minute}, func(string) bool { cancel(cause); return false })
	if !errors.Is(err, cause) || done.Deleted != 1 || len(files(t, s.dir)) != 2 {
		t.Errorf("%+v, %v; left: %v", done, err, files(t, s.dir))
	}
	if pictures, _ := s.Usage(); pictures != 2 {
		t.Errorf("%d pictures are shown", pictures)
	}
}

func TestAwaitEndsWhenThePictureIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir(), 0)
		content, digest := picture(t, 3, 3)
		_, otherDigest := picture(t, 4, 4)
		done := make(chan error, 2)
		for range 2 {
			go func() { done <- s.Await(t.Context(), digest) }()
		}
		synctest.Wait()
		aged(t, s, 5, 0) // another one
		synctest.Wait()
		if len(done) != 0 {
			t.Fatalf("it ended with %v before the picture came", <-done)
		}
		if _, err := put(t.Context(), s, digest, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if err := s.Await(t.Context(), digest); err != nil {
			t.Errorf("what is there already: %v", err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, io.ErrNoProgress)
		defer cancel()
		if err := s.Await(ctx, otherDigest); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("what never comes: %v", err)
		}
	})
}

// Whoever asks for a picture before it makes a workflow of it still has it when a
// sweep comes in between.
func TestAskingForAPictureMakesItYoung(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	digest, _ := aged(t, s, 1, time.Hour)
	if _, err := NewService(s, nil).FindMissing(t.Context(), &reprisev1.FindMissingRequest{Sha256: []string{digest}}); err != nil {
		t.Fatal(err)
	}
	if done := sweepOnce(t, s, Retention{MaxAge: time.Minute}, nobody); done.Deleted != 0 {
		t.Errorf("%+v", done)
	}
}
