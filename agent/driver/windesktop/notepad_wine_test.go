//go:build windows && wine

package windesktop

import (
	"bytes"
	"image"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// awaitWindow waits for a window and returns it.
func awaitWindow(t *testing.T, d *Driver, what string, is func(driver.Window) bool) driver.Window {
	t.Helper()
	var found driver.Window
	winapitest.Await(t, what+" is there", func() bool {
		windows, err := d.Windows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(windows, is)
		if i >= 0 {
			found = windows[i]
		}
		return i >= 0
	})
	return found
}

// openNotepad starts Notepad, another program, and ends it with the test.
func openNotepad(t *testing.T, d *Driver) driver.Window {
	t.Helper()
	program := exec.CommandContext(t.Context(), "notepad.exe")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = program.Process.Kill()
		_ = program.Wait()
	})
	w := awaitWindow(t, d, "Notepad", func(w driver.Window) bool {
		_, pid, _ := parseWindowID(w.ID)
		return w.Class == "Notepad" && int(pid) == program.Process.Pid
	})
	if !strings.EqualFold(w.Process, "notepad.exe") {
		t.Errorf("Notepad is of the process %q", w.Process)
	}
	return w
}

func perform(t *testing.T, d *Driver, inputs ...driver.Input) {
	t.Helper()
	for _, in := range inputs {
		if err := d.Do(t.Context(), in); err != nil {
			t.Fatalf("%T: %v", in, err)
		}
	}
}

func TestB07_NotepadIsTypedIntoCopiedFromAndAskedToSave(t *testing.T) {
	d := openReal(t, Config{})
	copied(t, "before")
	notepad := openNotepad(t, d)
	text := "Déjà vu : œ € 😀 ÀÉ {[~@#^]}\n\taabbll"
	perform(t, d,
		driver.Focus{WindowID: notepad.ID}, driver.Type{Text: text},
		driver.Combo{Keys: []string{"ctrl", "a"}}, driver.Combo{Keys: []string{"ctrl", "c"}})
	awaitClipboard(t, strings.ReplaceAll(text, "\n", "\r\n"))
	perform(t, d, driver.Combo{Keys: []string{"ctrl", "s"}})
	dialog := awaitWindow(t, d, "the dialog", func(w driver.Window) bool { return w.Title == "Save As" && w.Active })
	if dialog.Class != "#32770" || dialog.Process != notepad.Process {
		t.Errorf("the dialog is %+v", dialog)
	}
	perform(t, d, driver.Combo{Keys: []string{"escape"}})
	winapitest.Await(t, "the dialog is gone", func() bool {
		_, err := d.find(dialog.ID)
		return err != nil && d.system.Foreground() != 0
	})
}

// Under Wine the window of another program draws nothing and says that it did.
func TestB12_ANotepadThatDrawsNothingIsCutFromTheScreen(t *testing.T) {
	d := openReal(t, Config{})
	notepad := openNotepad(t, d)
	perform(t, d, driver.Focus{WindowID: notepad.ID}, driver.Type{Text: "seen"}, driver.Move{At: image.Pt(1, 1)})
	winapitest.Await(t, "the picture is the screen's part", func() bool {
		p, err := d.CaptureWindow(t.Context(), notepad.ID)
		if err != nil {
			t.Fatal(err)
		}
		if p.Method != driver.MethodScreenCrop || p.Note != errBlank.Error() {
			t.Fatalf("taken by %q: %s", p.Method, p.Note)
		}
		screen, err := winapi.System{}.CaptureScreen(p.Image.Bounds())
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Equal(screen.Pix, p.Image.Pix) // but for a caret that blinks meanwhile
	})
}
