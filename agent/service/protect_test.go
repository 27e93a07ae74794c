package service

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rights are a file's or folder's, as far as they matter here: entries for it and all
// below, and whether those of the folder above count too.
type rights struct {
	Owner    string
	Entries  []string
	Inherits bool
}

// volume is a file system whose rights icacls sets. Users may read what lies in its root.
type volume struct {
	t      *testing.T
	root   string
	of     map[string]*rights
	calls  int
	refuse int    // the call that fails; 0: none
	before func() // each call
}

var errRefused = errors.New("access is denied")

func newVolume(t *testing.T) *volume {
	t.Helper()
	v := &volume{t: t, root: t.TempDir()}
	v.of = map[string]*rights{v.root: {Owner: sidSystem, Entries: []string{sidSystem, sidAdministrators, "users"}}}
	return v
}

// folder is the one that is to be protected.
func (v *volume) folder(account string) Folder {
	return Folder{Path: filepath.Join(v.root, "reprise"), Account: account, icacls: v.icacls}
}

// get returns the rights of a path: a new one is the administrators' and inherits.
func (v *volume) get(path string) *rights {
	if v.of[path] == nil {
		v.of[path] = &rights{Owner: sidAdministrators, Inherits: true}
	}
	return v.of[path]
}

// plant makes a folder with a file, which somebody else owns and has the rights of.
func (v *volume) plant(names ...string) {
	v.t.Helper()
	dir := filepath.Join(append([]string{v.root}, names...)...)
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		v.t.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		v.of[path] = &rights{Owner: "mallory", Entries: []string{"mallory"}, Inherits: path == dir}
	}
}

// entries are those of whoever is let in by a path's entries, or by those above.
func (v *volume) entries(path string) []string {
	r := v.get(path)
	if !r.Inherits {
		return r.Entries
	}
	return append(slices.Clone(r.Entries), v.entries(filepath.Dir(path))...)
}

// in is who gets in where: by the entries, or as an owner, who can give himself any.
func (v *volume) in(dir string) []string {
	v.t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all[v.get(path).Owner] = true
		for _, who := range v.entries(path) {
			all[who] = true
		}
		return err
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(all))
}

// icacls is the part of the program of that name that is used.
func (v *volume) icacls(_ context.Context, args ...string) error {
	if v.calls++; v.calls == v.refuse {
		return errRefused
	}
	if v.before != nil {
		v.before()
	}
	paths, err := filepath.Glob(args[0])
	if err != nil || len(paths) == 0 {
		v.t.Errorf("%v: %v, %d files", args, err, len(paths))
	}
	if slices.Contains(args, "/T") {
		v.t.Errorf("%v goes wherever a link in a folder of somebody else leads", args)
	}
	for _, path := range paths {
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
			v.t.Errorf("%v of a link: %v", args, err)
		}
		if err := v.set(path, args[1:]); err != nil {
			return err
		}
	}
	return nil
}

func (v *volume) set(path string, args []string) error {
	r := v.get(path)
	switch args[0] {
	case "/setowner":
		r.Owner = args[1]
	case "/reset":
		r.Entries, r.Inherits = nil, true
	case "/inheritance:r":
		r.Inherits = false
		for _, grant := range args[2 : len(args)-1] {
			who, ok := strings.CutSuffix(grant, ":(OI)(CI)F")
			if !ok || args[1] != "/grant:r" {
				v.t.Errorf("grant %q by %v", grant, args)
			}
			r.Entries = append(slices.DeleteFunc(r.Entries, func(e string) bool { return e == who }), who)
		}
	case "/save":
		content, err := json.Marshal(map[string]*rights{filepath.Base(path): r})
		if err != nil {
			return err
		}
		return os.WriteFile(args[1], content, 0o600)
	case "/restore":
		return v.restore(path, args[1])
	default:
		v.t.Errorf("icacls does not know %v", args)
	}
	return nil
}

// restore sets the entries of what is in a folder, and no owner.
func (v *volume) restore(dir, file string) error {
	if who := v.in(file); !slices.Equal(who, []string{sidSystem, sidAdministrators}) {
		v.t.Errorf("%v can change which rights are set", who)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var saved map[string]*rights
	if err := json.Unmarshal(content, &saved); err != nil {
		return err
	}
	for name, r := range saved {
		to := v.get(filepath.Join(dir, name))
		to.Entries, to.Inherits = r.Entries, r.Inherits
	}
	return nil
}

// protected is a folder with files that was protected before.
func protected(t *testing.T) (*volume, Folder) {
	t.Helper()
	v := newVolume(t)
	f := v.folder(LocalSystem)
	file := filepath.Join(f.Path, "state", "spool", "file")
	if err := errors.Join(f.Protect(t.Context()), os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	v.calls = 0
	return v, f
}

var ours = []string{sidSystem, sidAdministrators}

func TestAFolderOfSomebodyElseIsTakenOverWithAllInIt(t *testing.T) {
	for _, account := range []string{LocalSystem, `NT AUTHORITY\LocalService`} {
		v := newVolume(t)
		v.plant("reprise")
		v.plant("reprise", "state", "spool")
		v.plant("reprise", "logs")
		f := v.folder(account)
		if err := f.Protect(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(ours)
		if account != LocalSystem {
			want = append(want, account)
		}
		if diff := cmp.Diff(want, v.in(f.Path)); diff != "" {
			t.Errorf("who gets in (-want +got)\n%s", diff)
		}
		if beside, err := os.ReadDir(v.root); err != nil || len(beside) != 1 {
			t.Errorf("left behind: %v, %v", beside, err)
		}
	}
}

func TestAFolderThatIsProtectedIsOpenAtNoMoment(t *testing.T) {
	v, f := protected(t)
	v.before = func() {
		if diff := cmp.Diff(ours, v.in(f.Path)); diff != "" {
			t.Errorf("who gets in before call %d (-want +got)\n%s", v.calls, diff)
		}
	}
	defer v.before() // and at last
	if err := f.Protect(t.Context()); err != nil || v.calls == 0 {
		t.Errorf("Protect = %v after %d calls", err, v.calls)
	}
}

// What fails in the middle is an error, opens nothing, and is made good by the next try.
func TestAFolderThatCannotBeProtectedIsAFaultAndNotOpened(t *testing.T) {
	v, f := protected(t)
	if err := f.Protect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for refuse := range v.calls {
		v, f := protected(t)
		v.refuse = refuse + 1
		if err := f.Protect(t.Context()); !errors.Is(err, errRefused) || !strings.Contains(err.Error(), f.Path) || v.calls != v.refuse {
			t.Errorf("Protect = %v after %d calls, of which %d fails", err, v.calls, v.refuse)
		}
		if diff := cmp.Diff(ours, v.in(f.Path)); diff != "" {
			t.Errorf("who gets in after call %d failed (-want +got)\n%s", v.refuse, diff)
		}
		if beside, err := os.ReadDir(v.root); err != nil || len(beside) != 1 {
			t.Errorf("left behind: %v, %v", beside, err)
		}
		if err := f.Protect(t.Context()); err != nil {
			t.Errorf("the next try: %v", err)
		}
	}
}

// Below a folder of somebody else a link may lead to any other one.
func TestALinkInTheFolderIsRefusedAndNotFollowed(t *testing.T) {
	v := newVolume(t)
	v.plant("elsewhere")
	v.plant("reprise", "state")
	link := filepath.Join(v.root, "reprise", "state", "link")
	if err := os.Symlink(filepath.Join(v.root, "elsewhere"), link); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.IsDir() {
		t.Skipf("this system shows no links, as Wine 8 does not: %v", err)
	}
	before := *v.get(filepath.Join(v.root, "elsewhere"))
	if err := v.folder("").Protect(t.Context()); err == nil || !strings.Contains(err.Error(), link) {
		t.Errorf("Protect = %v", err)
	}
	if diff := cmp.Diff(before, *v.get(filepath.Join(v.root, "elsewhere"))); diff != "" {
		t.Errorf("where the link leads (-before +after)\n%s", diff)
	}
}

// Where the rights are copied from nobody else puts anything.
func TestRightsThatSomebodyElseMadeAreNotTaken(t *testing.T) {
	v := newVolume(t)
	v.before = func() {
		if beside, _ := filepath.Glob(filepath.Join(v.root, "reprise.*")); len(beside) == 1 && v.calls == 1 {
			v.plant(filepath.Base(beside[0]), "reprise")
		}
	}
	if err := v.folder("").Protect(t.Context()); err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("Protect = %v", err)
	}
}

func TestALinkOrAFileInThePlaceOfTheFolderIsRefused(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(t.TempDir(), path) },
		"file": func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			v := newVolume(t)
			f := v.folder("")
			if err := make(f.Path); err != nil {
				t.Skipf("this system makes no links: %v", err)
			}
			if info, err := os.Lstat(f.Path); err != nil || info.IsDir() {
				t.Skipf("this system shows no links, as Wine 8 does not: %v", err)
			}
			if err := f.Protect(t.Context()); err == nil || v.calls != 0 {
				t.Errorf("Protect = %v after %d calls", err, v.calls)
			}
		})
	}
}
