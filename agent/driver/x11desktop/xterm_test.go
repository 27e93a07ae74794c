//go:build x11

package x11desktop

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/vision"
)

// xtermSettle is what a terminal gets to read a changed layout on a machine that has much
// else to do.
const xtermSettle = time.Second

// startXterm runs a command in a terminal and returns its window.
func startXterm(t *testing.T, d *Driver, display, title string, command ...string) driver.Window {
	t.Helper()
	args := append([]string{"-u8", "-geometry", "80x12+60+40", "-T", title, "-e"}, command...)
	cmd := exec.CommandContext(context.Background(), "xterm", args...)
	cmd.Env = append(os.Environ(), "DISPLAY="+display, "LC_ALL=C.UTF-8")
	if err := cmd.Start(); err != nil {
		t.Fatalf("xterm: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var found driver.Window
	await(t, "the terminal's window", func() bool {
		windows, err := d.Windows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(windows, func(w driver.Window) bool { return w.Title == title })
		if i >= 0 {
			found = windows[i]
		}
		return i >= 0
	})
	return found
}

// await asks again and again until something holds, as long as the tests have patience.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	bound := time.After(patience)
	for !holds() {
		select {
		case <-again.C:
		case <-bound:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func do(t *testing.T, d *Driver, inputs ...driver.Input) {
	t.Helper()
	for _, in := range inputs {
		if err := d.Do(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
}

func keep(t *testing.T, name string, img image.Image) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.ArtifactDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err = png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
}

func TestTerminalGetsTypedAndPastedTextToTheLetter(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display, Settle: xtermSettle})
	dir := t.TempDir()
	ready, file := filepath.Join(dir, "ready"), filepath.Join(dir, "written")
	script := fmt.Sprintf("printf 'notes:\\n'; : >%s; cat >%s", ready, file)
	w := startXterm(t, d, display, "Notes: ward 3, à côté", "sh", "-c", script)
	await(t, "cat", func() bool { _, err := os.Stat(ready); return err == nil })
	if w.Class != "XTerm" || w.Process != "" && w.Process != "xterm" {
		t.Errorf("window = %+v", w)
	}
	before, err := d.Capture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "before.png", before.Image)
	// cat on a terminal takes ctrl+d as the end only at the beginning of a line.
	typed := "Déjà vu, œuvre, Grüße, 5 € → ÀÉÎÕÜ 😀 | {[~@#\\^]} <b>'\"`$&;\n"
	pasted := "SELECT prénom FROM séjours WHERE salle = 'é€';\n"
	do(t, d, driver.Focus{WindowID: w.ID}, driver.Type{Text: typed}, driver.Paste{Text: pasted}, driver.Combo{Keys: []string{"ctrl", "d"}})
	// The terminal closes when cat has ended, and then all is in the file.
	await(t, "the terminal's end", func() bool {
		windows, err := d.Windows(t.Context())
		return err == nil && len(windows) == 0
	})
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != typed+pasted {
		t.Errorf("written: %q\nwant     %q", got, typed+pasted)
	}
}

func TestScreenshotShowsWhatWasTyped(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	d := open(t, Config{Display: display, Settle: xtermSettle})
	w := startXterm(t, d, display, "typing", "cat")
	do(t, d, driver.Focus{WindowID: w.ID})
	before := settled(t, d)
	keep(t, "before.png", before)
	do(t, d, driver.Type{Text: "Déjà vu: àçéèù ÀÉÎÕÜ ßñ ¿¡\n"})
	var after *image.RGBA
	await(t, "the echo of the text", func() bool {
		after = settled(t, d)
		change, err := vision.Compare(before, after, vision.CompareOptions{Caret: image.Pt(10, 20)})
		if err != nil {
			t.Fatal(err)
		}
		// Echo and cat: two lines of 13 pixels.
		return change.Seen() && change.Bounds.In(w.Bounds) && change.Bounds.Dy() > 20
	})
	keep(t, "after.png", after)
	if vision.Uniform(after) {
		t.Error("the screenshot is of one colour")
	}
}

// settled captures until two pictures in a row agree.
func settled(t *testing.T, d *Driver) *image.RGBA {
	t.Helper()
	var last *image.RGBA
	await(t, "a picture that stays", func() bool {
		p, err := d.Capture(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same := last != nil
		if same {
			change, err := vision.Compare(last, p.Image, vision.CompareOptions{})
			same = err == nil && !change.Seen()
		}
		last = p.Image
		return same
	})
	return last
}
