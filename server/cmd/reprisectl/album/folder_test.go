package album

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func open(t *testing.T, path string) Folder {
	t.Helper()
	f, err := Open(path, "r-1")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAFolderOfSomethingElseIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		file, content string
		refused       bool
	}{
		"an empty one":                {"", "", false},
		"this replay's":               {ReplayFile, `{"replayId":"r-1"}`, false},
		"one with other files":        {"notes.txt", "hello", false},
		"another replay's":            {ReplayFile, `{"replayId":"r-2"}`, true},
		"another replay's index":      {IndexFile, `{"replayId":"r-2"}`, true},
		"a file of that name":         {IndexFile, `{"dependencies":[]}`, true},
		"a file that is no JSON even": {ReplayFile, `hello`, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "some", "where")
			if tt.file != "" {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Open(dir, "r-1"); errors.Is(err, ErrTaken) != tt.refused || !tt.refused && err != nil {
				t.Errorf("Open = %v, want it refused: %t", err, tt.refused)
			}
		})
	}
}

func TestAFileIsThereWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	cut := errors.New("cut")
	half := func(w io.Writer) error { return errors.Join(text("half")(w), cut) }
	if err := f.Put("a.png", half); !errors.Is(err, cut) {
		t.Errorf("Put = %v, want %v", err, cut)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("a write that failed left %v", left)
	}
	if err := f.Put("a.png", text("whole")); err != nil {
		t.Fatal(err)
	}
	if err := f.Put("a.png", half); !errors.Is(err, cut) || !f.Has("a.png", digest("whole")) {
		t.Errorf("Put = %v, and what was there is gone", err)
	}
	if f.Has("a.png", digest("half")) || f.Has("b.png", digest("whole")) {
		t.Error("it has what it has not")
	}
	if info, err := os.Stat(f.At("a.png")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: a picture of a screen is for its owner's eyes", info.Mode(), err)
	}
}

func TestTheSamePictureLiesThereOnce(t *testing.T) {
	f := open(t, t.TempDir())
	for name, content := range map[string]string{"a.png": "picture", "b.png": "an older one"} {
		if err := f.Put(name, text(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Same("b.png", "a.png"); err != nil || !f.Has("b.png", digest("picture")) {
		t.Fatalf("Same = %v", err)
	}
	a, errA := os.Stat(f.At("a.png"))
	b, errB := os.Stat(f.At("b.png"))
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		t.Error("the picture takes its room twice")
	}
	if err := f.Put("b.png", text("another")); err != nil || !f.Has("a.png", digest("picture")) {
		t.Error("writing one name changed the other")
	}
}

func TestAFileThatIsThereIsReplacedOnlyWhenTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "now.png")
	for i, tt := range []struct {
		replace bool
		content string
		err     error
		want    string
	}{{false, "first", nil, "first"}, {false, "second", fs.ErrExist, "first"}, {true, "third", nil, "third"}} {
		err := Write(path, tt.replace, text(tt.content))
		if got, _ := os.ReadFile(path); !errors.Is(err, tt.err) || string(got) != tt.want {
			t.Errorf("write %d = %v, and the file holds %q; want %v and %q", i, err, got, tt.err, tt.want)
		}
	}
}

func TestTheIndexIsReadBackAsTheFoldersOwn(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).PutIndex(Index{ReplayID: "r-1", Pictures: []Picture{{File: "a.png", Missing: "gone"}}}); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if _, err := Open(dir, "r-2"); !errors.Is(err, ErrTaken) {
		t.Errorf("Open = %v, want %v", err, ErrTaken)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, IndexFile)); !strings.Contains(string(got), "\n      \"missing\": \"gone\"") {
		t.Errorf("the index is not for people: %s", got)
	}
}
