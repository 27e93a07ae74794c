//go:build windows && wine

package winapi_test

import (
	"errors"
	"image"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/windows/registry"

	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

func TestTheRegistryIsReadAndWhatIsMissingIsNoError(t *testing.T) {
	const path = `Software\RepriseTest`
	key, _, err := registry.CreateKey(registry.CURRENT_USER, path, registry.ALL_ACCESS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = registry.DeleteKey(registry.CURRENT_USER, path) })
	if err := errors.Join(key.SetStringValue("text", "é"), key.SetDWordValue("number", 900), key.Close()); err != nil {
		t.Fatal(err)
	}
	if v, found, err := system.RegistryText(winapi.CurrentUser, path, "text"); v != "é" || !found || err != nil {
		t.Errorf("text %q, %v, %v", v, found, err)
	}
	if v, found, err := system.RegistryNumber(winapi.CurrentUser, path, "number"); v != 900 || !found || err != nil {
		t.Errorf("number %d, %v, %v", v, found, err)
	}
	if _, found, err := system.RegistryText(winapi.CurrentUser, path, "none"); found || err != nil {
		t.Errorf("a value that is not there: %v, %v", found, err)
	}
	if _, found, err := system.RegistryNumber(winapi.LocalMachine, path+`\none`, "none"); found || err != nil {
		t.Errorf("a key that is not there: %v, %v", found, err)
	}
	if _, _, err := system.RegistryNumber(winapi.CurrentUser, path, "text"); err == nil {
		t.Error("a text was read as a number")
	}
}

func TestTheProcessKnowsItsSessionAndItsRights(t *testing.T) {
	if session, err := system.OwnSession(); session == 0 || err != nil {
		t.Errorf("session %d, %v", session, err)
	}
	own, err := system.OwnIntegrity()
	if own < winapi.IntegrityMedium || err != nil {
		t.Errorf("integrity %#x, %v", own, err)
	}
	if same, err := system.IntegrityOf(uint32(os.Getpid())); same != own || err != nil {
		t.Errorf("integrity %#x, %v; own %#x", same, err, own)
	}
	if _, err := system.IntegrityOf(3); err == nil { // ids of processes are multiples of 4
		t.Error("a process that is not there has rights")
	}
}

func TestFilesTellTheirRoomAndTheirReaders(t *testing.T) {
	dir := t.TempDir()
	if free, err := system.FreeSpace(dir); free == 0 || err != nil {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	if _, err := system.FreeSpace(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has room")
	}
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	grants, err := system.GrantsOn(file)
	if err != nil || len(grants) == 0 {
		t.Fatalf("grants %v, %v", grants, err)
	}
	readable := false
	for _, g := range grants {
		readable = readable || g.Reads()
	}
	if !readable {
		t.Errorf("nobody reads it: %+v", grants)
	}
	if _, err := system.GrantsOn(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there has readers")
	}
}

func TestWhatIsTypedIntoAnEditBoxIsItsText(t *testing.T) {
	box, err := winapi.OpenEditBox("box", image.Rect(100, 100, 500, 300))
	if err != nil {
		t.Fatal(err)
	}
	winapitest.Await(t, "the box is in front", func() bool {
		return system.Foreground() == box.Window() || system.BringToFront(box.Window()) != nil
	})
	for _, r := range "hé€" {
		down := winapi.KeyEvent{Scan: uint16(r), Flags: winapi.KeyUnicode}
		up := winapi.KeyEvent{Scan: uint16(r), Flags: winapi.KeyUnicode | winapi.KeyUp}
		if _, err := system.SendInput([]winapi.Event{down, up}); err != nil {
			t.Fatal(err)
		}
	}
	winapitest.Await(t, "the text is there", func() bool { return box.Text() == "hé€" })
	began := time.Now()
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	if err := system.BringToFront(box.Window()); !errors.Is(err, winapi.ErrGone) {
		t.Errorf("it is still there after %v: %v", time.Since(began), err)
	}
}

// Wine does not tell; a Windows does.
func TestPowerSettingsAreToldOrSaidNotToBeHere(t *testing.T) {
	for _, onBattery := range []bool{false, true} {
		if seconds, err := system.PowerSetting(winapi.PowerSleep, winapi.PowerStandby, onBattery); err != nil && !errors.Is(err, winapi.ErrNotHere) {
			t.Errorf("%d s, %v", seconds, err)
		}
	}
}
