//go:build unix

package doctor

import (
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/desktop"
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

// onDisplay is this machine with an agent that drives an X display.
func onDisplay(t *testing.T, display string) *Local {
	t.Helper()
	l, err := NewLocal(Settings{Driver: driverX11, Display: display, MinDisplay: image.Pt(640, 480)})
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

func TestADisplayThatCannotBeOpenedIsADisconnectedDesktop(t *testing.T) {
	t.Setenv("DISPLAY", "")
	for display, why := range map[string]string{"": "no display is named", ":9077": ":9077", "left": "left"} {
		l := onDisplay(t, display)
		d, err := l.Desktop(t.Context())
		if err != nil || d.State.Kind != desktop.Disconnected || !strings.Contains(d.State.Detail, why) {
			t.Errorf("%q: %+v, %v", display, d, err)
		}
		if _, err := l.Display(t.Context()); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("the monitors of %q: %v", display, err)
		}
	}
}
