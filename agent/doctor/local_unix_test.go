//go:build unix

package doctor

import (
	"bufio"
	"context"
	"image"
	"io/fs"
	"os"
	"os/exec"
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

func TestALogFileNeedsAFolderThatTakesFiles(t *testing.T) {
	const folder = "/proc" // which takes none, not even root's
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no folder here refuses root: %v", err)
	}
	if err := local(t).LogFile(folder + "/logs/agent.log"); err == nil {
		t.Error("it can be written")
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

func TestADisplayIsLookedAtAsTheDriverSeesIt(t *testing.T) {
	display := xvfb(t, "800x600x24")
	l := onDisplay(t, display)
	if d, err := l.Desktop(t.Context()); err != nil || !d.State.Usable() || d.Input != display {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := l.Display(t.Context()); err != nil || len(d.Monitors) != 1 || d.Monitors[0].Bounds != image.Rect(0, 0, 800, 600) {
		t.Errorf("%+v, %v", d, err)
	}
}

// xvfb starts a display of its own and ends it with the test.
func xvfb(t *testing.T, size string) string {
	t.Helper()
	program, err := exec.LookPath("Xvfb")
	if err != nil {
		t.Skipf("there is no X display to look at: %v", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "-displayfd", "3", "-screen", "0", size, "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{write}
	if err = cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v", err)
	}
	return ":" + strings.TrimSpace(number)
}
