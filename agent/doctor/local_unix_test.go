//go:build unix

package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestB26_TheModeSaysWhoElseMayRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("t"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := local(t)
	for mode, want := range map[fs.FileMode][]string{0o600: nil, 0o640: {"its group"}, 0o604: {"everybody"}, 0o644: {"its group", "everybody"}, 0o622: nil} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got, err := l.Others(path); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%v: %v, %v", mode, got, err)
		}
	}
	if _, err := l.Others(path + "x"); err == nil {
		t.Error("of a file that is not there it was said who may read it")
	}
}
