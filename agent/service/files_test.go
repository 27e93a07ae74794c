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

// recorded is a folder whose rights are not set but written down.
func recorded(path, account string, commands *[]string) Folder {
	return Folder{Path: path, Account: account, icacls: func(_ context.Context, args ...string) error {
		*commands = append(*commands, strings.ReplaceAll(strings.Join(args, " "), path, "DIR"))
		return nil
	}}
}

// A user may have made the folder, and files in it, before the service was installed.
func TestAFolderIsTakenOverBeforeAnythingIsWrittenToIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "reprise")
	for _, account := range []string{LocalSystem, `NT AUTHORITY\LocalService`} { // the second time it is there
		var commands []string
		if err := recorded(path, account, &commands).Protect(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"DIR /setowner *S-1-5-32-544 /T /L /Q",
			"DIR /reset /T /L /Q",
			"DIR /inheritance:r /grant:r *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F /Q",
		}
		if account != LocalSystem {
			want[2] = strings.Replace(want[2], " /Q", " "+account+":(OI)(CI)F /Q", 1)
		}
		if diff := cmp.Diff(want, commands); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestALinkOrAFileInThePlaceOfTheFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(os.Symlink(t.TempDir(), link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"link": link, "file": file} {
		t.Run(name, func(t *testing.T) {
			if info, err := os.Lstat(path); err != nil || info.IsDir() {
				t.Skipf("this system shows no links, as Wine 8 does not: %v", err)
			}
			var commands []string
			if err := recorded(path, "", &commands).Protect(t.Context()); err == nil || len(commands) != 0 {
				t.Errorf("%v, %v", err, commands)
			}
		})
	}
}

func TestAFolderThatCannotBeProtectedIsAFault(t *testing.T) {
	refusal := errors.New("access is denied")
	f := Folder{Path: filepath.Join(t.TempDir(), "reprise"), icacls: func(context.Context, ...string) error { return refusal }}
	if err := f.Protect(t.Context()); !errors.Is(err, refusal) {
		t.Errorf("Protect = %v", err)
	}
}

func TestSettingsThatAreThereAreKeptUnlessForced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.yaml")
	for _, tt := range []struct {
		content string
		force   bool
		written bool
		want    string
	}{{"a", false, true, "a"}, {"b", false, false, "a"}, {"c", true, true, "c"}} {
		written, err := WriteConfig(path, []byte(tt.content), tt.force)
		got, _ := os.ReadFile(path)
		if err != nil || written != tt.written || string(got) != tt.want {
			t.Errorf("%+v: %v, %v, %q", tt, written, err, got)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if _, err := WriteConfig(filepath.Join(dir, "none", "agent.yaml"), nil, false); err == nil {
		t.Error("a folder that is not there is no fault")
	}
}
