package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// volume is a file system whose rights own sets.
type volume struct {
	t      *testing.T
	root   string
	others map[string]bool // what somebody else owns and gets into
	taken  []string        // in order, with the account that gets in too
	refuse int             // the call that fails; 0: none
	before func(path string)
}

var errRefused = errors.New("access is denied")

func newVolume(t *testing.T) *volume {
	t.Helper()
	return &volume{t: t, root: t.TempDir(), others: map[string]bool{}, before: func(string) {}}
}

// folder is the one that is to be protected.
func (v *volume) folder(account string) Folder {
	return Folder{Path: filepath.Join(v.root, "reprise"), Account: account, own: v.own}
}

// plant makes a folder with a file, both of somebody else.
func (v *volume) plant(names ...string) {
	v.t.Helper()
	dir := filepath.Join(append([]string{v.root}, names...)...)
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		v.t.Fatal(err)
	}
	v.others[dir], v.others[file] = true, true
}

// link makes a link to a folder of somebody else, where this system shows links.
func (v *volume) link(path string) {
	v.t.Helper()
	v.plant("elsewhere")
	if err := os.Symlink(filepath.Join(v.root, "elsewhere"), path); err != nil {
		v.t.Skipf("this system makes no links: %v", err)
	}
	if info, err := os.Lstat(path); err != nil || info.IsDir() {
		v.t.Skipf("this system shows no links, as Wine 8 does not: %v", err)
	}
}

// own gives a path to the administrators and to nobody else, if it is there and no link.
func (v *volume) own(path, account string) error {
	v.before(path)
	v.taken = append(v.taken, strings.TrimPrefix(path, v.root)+account)
	if len(v.taken) == v.refuse {
		return errRefused
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
		v.t.Errorf("own of a link: %s, %v", path, err)
	}
	delete(v.others, path)
	return nil
}

// open is where in a folder somebody else still gets in.
func (v *volume) open(dir string) []string {
	v.t.Helper()
	var open []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if v.others[path] {
			open = append(open, path)
		}
		return err
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return open
}

func TestAFolderOfSomebodyElseIsTakenOverWithAllInIt(t *testing.T) {
	for account, granted := range map[string]string{
		"": "", LocalSystem: "", `NT Authority\System`: "", `NT AUTHORITY\LocalService`: `NT AUTHORITY\LocalService`,
	} {
		v := newVolume(t)
		v.plant("reprise")
		v.plant("reprise", "state")
		v.plant("reprise", "state", "spool")
		f := v.folder(account)
		if err := f.Protect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if open := v.open(f.Path); len(open) > 0 {
			t.Errorf("somebody else gets into %v", open)
		}
		var want []string // a folder before what is in it
		for _, path := range []string{"", "/file", "/state", "/state/file", "/state/spool", "/state/spool/file"} {
			want = append(want, filepath.FromSlash("/reprise"+path)+granted)
		}
		if diff := cmp.Diff(want, v.taken); diff != "" {
			t.Errorf("taken over, account %q (-want +got)\n%s", account, diff)
		}
	}
}

// A folder made anew would be anybody's for a moment, as all that is made beside it.
func TestAFolderIsMadeOnceAndThenKept(t *testing.T) {
	v := newVolume(t)
	f := v.folder("")
	f.Path = filepath.Join(v.root, "data", "reprise")
	if err := f.Protect(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.Path, "file")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Protect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "kept" {
		t.Errorf("in the folder is %q, %v", content, err)
	}
	made := filepath.FromSlash("/data/reprise")
	if diff := cmp.Diff([]string{made, made, filepath.Join(made, "file")}, v.taken); diff != "" {
		t.Errorf("taken over (-want +got)\n%s", diff)
	}
}

// Until a folder is taken its owner may put there what he likes.
func TestWhatComesIntoAFolderUntilItIsTakenIsTakenToo(t *testing.T) {
	v := newVolume(t)
	v.plant("reprise", "state")
	f := v.folder("")
	v.before = func(path string) {
		if filepath.Base(path) != "file" && strings.Count(path, "late") < 2 && v.others[path] {
			v.plant(strings.TrimPrefix(path, v.root), "late")
		}
	}
	v.others[f.Path] = true
	if err := f.Protect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if open := v.open(f.Path); len(open) > 0 || len(v.taken) < 10 {
		t.Errorf("somebody else gets into %v; taken are %v", open, v.taken)
	}
}

// What fails in the middle is an error, ends it, and is made good by the next try.
func TestAFolderThatCannotBeProtectedIsAFault(t *testing.T) {
	for refuse := 1; refuse <= 4; refuse++ {
		v := newVolume(t)
		v.plant("reprise", "state", "spool")
		f := v.folder("")
		v.refuse = refuse
		err := f.Protect(t.Context())
		if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), f.Path) || len(v.taken) != refuse {
			t.Errorf("Protect = %v after %d calls, of which %d fails", err, len(v.taken), refuse)
		}
		if err := f.Protect(t.Context()); err != nil || len(v.open(f.Path)) > 0 {
			t.Errorf("the next try: %v; somebody else gets into %v", err, v.open(f.Path))
		}
	}
}

func TestAnInstallationThatEndsTakesNothingMoreOver(t *testing.T) {
	v := newVolume(t)
	v.plant("reprise")
	f := v.folder("")
	ended := errors.New("terminated")
	ctx, end := context.WithCancelCause(t.Context())
	v.before = func(string) { end(ended) }
	if err := f.Protect(ctx); !errors.Is(err, ended) || len(v.taken) != 1 {
		t.Errorf("Protect = %v; taken are %v", err, v.taken)
	}
}

// Below a folder of somebody else a link may lead to any other one.
func TestALinkInTheFolderIsRefusedAndNotFollowed(t *testing.T) {
	for name, meanwhile := range map[string]bool{"there before": false, "in the place of a folder": true} {
		t.Run(name, func(t *testing.T) {
			v := newVolume(t)
			v.plant("reprise", "state", "spool")
			state := filepath.Join(v.root, "reprise", "state")
			link := filepath.Join(state, "link")
			if meanwhile {
				link = filepath.Join(state, "spool")
				v.before = func(path string) { // the last moment in which its owner can
					if path == state {
						if err := os.RemoveAll(link); err != nil {
							t.Fatal(err)
						}
						v.link(link)
					}
				}
			} else {
				v.link(link)
			}
			if err := v.folder("").Protect(t.Context()); err == nil || !strings.Contains(err.Error(), link) {
				t.Errorf("Protect = %v", err)
			}
			if open := v.open(filepath.Join(v.root, "elsewhere")); len(open) != 2 || len(v.taken) != 2 {
				t.Errorf("where the link leads %v stay as they were; taken are %v", open, v.taken)
			}
		})
	}
}

// Windows would take another file over for such a name.
func TestANameThatLeadsToAnotherFileIsRefused(t *testing.T) {
	for _, name := range []string{"state.", "state ", "..."} {
		v := newVolume(t)
		f := v.folder("")
		path := filepath.Join(f.Path, name)
		if err := errors.Join(os.Mkdir(f.Path, 0o700), os.Mkdir(path, 0o700)); err != nil {
			t.Skipf("this system makes no such names: %v", err)
		}
		if in, err := os.ReadDir(f.Path); err != nil || len(in) != 1 || in[0].Name() != name {
			t.Skipf("this system makes no such names: %v, %v", in, err)
		}
		if err := f.Protect(t.Context()); err == nil || !strings.Contains(err.Error(), name) || len(v.taken) != 1 {
			t.Errorf("%q: Protect = %v; taken are %v", name, err, v.taken)
		}
	}
}

func TestALinkOrAFileInThePlaceOfTheFolderIsRefused(t *testing.T) {
	for name, plant := range map[string]func(v *volume, path string) error{
		"link": func(v *volume, path string) error { v.link(path); return nil },
		"file": func(_ *volume, path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			v := newVolume(t)
			f := v.folder("")
			if err := plant(v, f.Path); err != nil {
				t.Fatal(err)
			}
			if err := f.Protect(t.Context()); err == nil || len(v.taken) != 0 {
				t.Errorf("Protect = %v; taken are %v", err, v.taken)
			}
		})
	}
}
