package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

// local is this machine.
func local(t *testing.T) *Local {
	t.Helper()
	l, err := NewLocal(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// opened opens a spool, as an agent does.
func opened(t *testing.T, path string) *spool.Spool {
	t.Helper()
	dir, err := spool.Dir(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := spool.Open(spool.Config{FS: dir, BootID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func entries(t *testing.T, path string) []string {
	t.Helper()
	list, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestLookingAtAMemoryChangesNothingAndSeesWhoHasIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "state")
	l := local(t)
	st := l.State(path)
	if !st.Missing || !st.NoMemory || st.Write != nil || st.FreeErr != nil || st.Free == 0 {
		t.Errorf("of one that is not there: %+v", st)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	s := opened(t, path)
	if err := s.Append(spool.Record{Type: spool.TypeStarted, Ref: work.Ref{ActionID: "a", AttemptID: "a.1", ReplayID: "r"}}); err != nil {
		t.Fatal(err)
	}
	before := entries(t, path)
	if st = l.State(path); !st.Held || st.LockErr != nil || st.Spool != nil || st.Actions != 1 || st.Missing || st.NoMemory {
		t.Errorf("of one that is held: %+v", st)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the lock was given back
		if st = l.State(path); st.Held || st.LockErr != nil {
			t.Errorf("of one that was given up: %+v", st)
		}
	}
	if diff := cmp.Diff(before, entries(t, path)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	data, err := os.ReadFile(filepath.Join(path, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	data[5] ^= 0xff
	if err := os.WriteFile(filepath.Join(path, "spool"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if st = l.State(path); !errors.Is(st.Spool, spool.ErrCorrupt) {
		t.Errorf("of a damaged one: %+v", st)
	}
}

func TestATokenFileIsReadAsTheAgentReadsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	l := local(t)
	if got := l.Token(path); got.Err == nil {
		t.Error("a token was found in no file")
	}
	if err := os.WriteFile(path, []byte("rpa_secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := l.Token(path); got.Err != nil {
		t.Error(got.Err)
	}
}

func TestALogFileThatCannotBeWrittenIsFoundWithoutMakingIt(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("a line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := local(t)
	for path, good := range map[string]bool{
		file:                                       true,
		filepath.Join(dir, "new.log"):              true,
		filepath.Join(dir, "a", "b", "new.log"):    true,
		filepath.Join(file, "agent.log"):           false,
		filepath.Join(file, "a", "b", "agent.log"): false,
		dir: false,
	} {
		if err := l.LogFile(path); (err == nil) != good {
			t.Errorf("%s: %v", path, err)
		}
	}
	if diff := cmp.Diff([]string{"file"}, entries(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "a line\n" {
		t.Errorf("%v, it holds %q", err, content)
	}
}
