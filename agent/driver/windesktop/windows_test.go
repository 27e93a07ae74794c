package windesktop

import (
	"errors"
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

func TestWindowsAreListedTopmostFirstHungOnesToo(t *testing.T) {
	f := newFakeEyes()
	f.hung[terminal] = true
	want := []driver.Window{
		{
			ID: "0x1a02f4-9c4", Title: "Déjà vu - Notepad", Class: "Notepad", Process: "notepad.exe",
			Bounds: image.Rect(20, 20, 120, 90), Active: true,
		},
		{ID: "0x20412-38", Title: "cmd", Class: "ConsoleWindowClass", Process: "conhost.exe", Bounds: image.Rect(-100, 30, 60, 60)},
	}
	got, err := newEyes(f, image.Point{}).Windows(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("windows: %v (-want +got):\n%s", err, diff)
	}
	f.front = terminal // Windows says so; the topmost is another
	got, err = newEyes(f, image.Point{}).Windows(t.Context())
	if err != nil || got[0].Active || !got[1].Active {
		t.Errorf("with the keyboard in the second: %+v, %v", got, err)
	}
	f.front, f.windows[0].HWND = 0, 0
	if got, _ = newEyes(f, image.Point{}).Windows(t.Context()); got[0].Active || got[1].Active {
		t.Errorf("with the keyboard nowhere: %+v", got)
	}
	f.windowsErr = errDenied
	if _, err = newEyes(f, image.Point{}).Windows(t.Context()); !errors.Is(err, errDenied) {
		t.Errorf("windows that can't be asked for: %v", err)
	}
}

func TestAWindowIsFoundByItsIDAsItIsNow(t *testing.T) {
	f := newFakeEyes()
	e := newEyes(f, image.Point{})
	id := windowID(notes, 0x9c4)
	f.windows[0].Title, f.windows[0].Bounds = "*Déjà vu - Notepad", image.Rect(1, 2, 30, 40)
	if got, err := e.find(id); err != nil || got != f.windows[0] {
		t.Errorf("found %+v, %v", got, err)
	}
	f.windows[0].PID = 0x9c5
	if got, err := e.find(id); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a handle that another program's window has now is taken for the old one: %+v, %v", got, err)
	}
	f.windows = f.windows[1:]
	if _, err := e.find(id); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a window that was closed: %v", err)
	}
}

func TestWindowIDsComeBackAndNoOthersAreTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, pid := winapi.HWND(rapid.Uint32().Draw(t, "window")), rapid.Uint32().Draw(t, "process")
		gotW, gotPID, ok := parseWindowID(windowID(w, pid))
		if !ok || gotW != w || gotPID != pid {
			t.Errorf("%x of %x comes back as %x of %x, %v", w, pid, gotW, gotPID, ok)
		}
	})
	for _, id := range []string{"", "0x", "0x1a02f4", "0x1a02f4-", "1a02f4-9c4", "0x-9c4", "0x01-2", "0x1A-2", "0x1-2-3", "0x1-100000000", "0x11111111111111111-1", "2147483646", "0x1-+2"} {
		if w, pid, ok := parseWindowID(id); ok {
			t.Errorf("%q is taken for window %x of process %x", id, w, pid)
		}
	}
}
