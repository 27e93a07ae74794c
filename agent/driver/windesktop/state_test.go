package windesktop

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// least is the smallest usable primary monitor of these tests.
var least = image.Pt(300, 200)

func stateOf(t *testing.T, f *fakeEyes) desktop.State {
	t.Helper()
	state, err := newEyes(f, least).State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// obstacles keep input away, the farthest cause first. Detail is what a person must
// be told.
var obstacles = []struct {
	name   string
	put    func(*fakeEyes)
	kind   desktop.Kind
	detail string
}{
	{"nobody is logged on", func(f *fakeEyes) { f.session.User = "" }, desktop.NoUser, "log the user on"},
	{"a remote session was closed", func(f *fakeEyes) { f.session.Disconnected = true }, desktop.Disconnected, "connect to it again"},
	{"the workstation is locked", func(f *fakeEyes) { f.session.Locked = true }, desktop.Locked, "unlock it"},
	{"a consent prompt", func(f *fakeEyes) { f.desktop = "Winlogon" }, desktop.SecureDesktop, "answer it"},
	{"an elevated window", func(f *fakeEyes) { f.elevated[f.front] = true }, desktop.ElevatedWindow, `"Déjà vu - Notepad" in front, of notepad.exe, runs with more rights than the agent; close it`},
	{"a small display", func(f *fakeEyes) { f.monitors[1].Bounds = image.Rect(0, 0, 299, 200) }, desktop.DisplayTooSmall, "299×200, at least 300×200"},
}

func TestB01_WhatKeepsInputAwayIsNamedByItsFarthestCause(t *testing.T) {
	if state := stateOf(t, newFakeEyes()); state != (desktop.State{Kind: desktop.Active}) {
		t.Errorf("nothing keeps input away: %+v", state)
	}
	for i, far := range obstacles {
		for _, near := range obstacles[i:] {
			f := newFakeEyes()
			near.put(f)
			far.put(f)
			if state := stateOf(t, f); state.Kind != far.kind || !strings.Contains(state.Detail, far.detail) {
				t.Errorf("%s, and %s: %+v; want %v, %q", far.name, near.name, state, far.kind, far.detail)
			}
		}
	}
}

func TestB01_ADesktopInFrontThatIsNotTheUsersGetsNothing(t *testing.T) {
	locked := func(f *fakeEyes) { f.session.Locked = true }
	for _, c := range []struct {
		name   string
		put    func(*fakeEyes)
		kind   desktop.Kind
		detail string
	}{
		{"the user's", func(f *fakeEyes) { f.desktop = "default" }, desktop.Active, ""},
		{"the screen saver", func(f *fakeEyes) { f.desktop = "Screen-saver" }, desktop.SecureDesktop, "switch it off"},
		{"another one of the user's", func(f *fakeEyes) { f.desktop = "Work" }, desktop.SecureDesktop, `"Work"`},
		{"closed to programs", func(f *fakeEyes) { f.desktopErr = errDenied }, desktop.SecureDesktop, "access is denied"},
		{"closed to programs, and the session is locked", func(f *fakeEyes) { f.desktopErr = errDenied; locked(f) }, desktop.Locked, "unlock"},
		{"the lock screen, and the session is locked", func(f *fakeEyes) { f.desktop = "Winlogon"; locked(f) }, desktop.Locked, "unlock"},
	} {
		f := newFakeEyes()
		c.put(f)
		if state := stateOf(t, f); state.Kind != c.kind || !strings.Contains(state.Detail, c.detail) {
			t.Errorf("%s: %+v; want %v, %q", c.name, state, c.kind, c.detail)
		}
	}
}

var errDenied = errors.New("access is denied")

func TestB01_WhereWindowsCanNotTellAboutTheSessionTheInputDesktopDecides(t *testing.T) {
	for name, kind := range map[string]desktop.Kind{"Default": desktop.Active, "Winlogon": desktop.SecureDesktop} {
		f := newFakeEyes()
		f.session, f.sessionErr, f.desktop = winapi.Session{}, errors.Join(errDenied, winapi.ErrNotHere), name
		if state := stateOf(t, f); state.Kind != kind {
			t.Errorf("desktop %s: %+v, want %v", name, state, kind)
		}
	}
	f := newFakeEyes() // one that tells of the lock and not of the user
	f.session, f.sessionErr = winapi.Session{Locked: true}, winapi.ErrNotHere
	if state := stateOf(t, f); state.Kind != desktop.Locked {
		t.Errorf("known to be locked: %+v", state)
	}
}

func TestB01_AStateThatCanNotBeLearnedIsNotAnActiveOne(t *testing.T) {
	for name, put := range map[string]func(*fakeEyes){
		"session":  func(f *fakeEyes) { f.sessionErr = errDenied },
		"monitors": func(f *fakeEyes) { f.monitorsErr = errDenied },
	} {
		f := newFakeEyes()
		put(f)
		state, err := newEyes(f, least).State(t.Context())
		if !errors.Is(err, errDenied) || !strings.Contains(err.Error(), name) || state.Usable() {
			t.Errorf("%s: %+v, %v", name, state, err)
		}
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errDenied)
	if state, err := newEyes(newFakeEyes(), least).State(ended); !errors.Is(err, errDenied) || state.Usable() {
		t.Errorf("of a context that ended: %+v, %v", state, err)
	}
}

func TestB01_ADesktopWithoutMonitorsTakesNoInput(t *testing.T) {
	f := newFakeEyes()
	f.monitors = nil
	if state := stateOf(t, f); state.Kind != desktop.Disconnected || !strings.Contains(state.Detail, "no monitor") {
		t.Errorf("state %+v", state)
	}
	if _, err := newEyes(f, least).Capture(t.Context()); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("capture: %v, want unavailable", err)
	}
}

func TestB01_AWindowOutOfReachIsNamedAsFarAsItIsKnown(t *testing.T) {
	for name, put := range map[string]func(*fakeEyes){
		`the window "Déjà vu - Notepad" in front runs`: func(f *fakeEyes) { f.windows[0].Process = "" },
		"the window in front runs":                     func(f *fakeEyes) { f.windows = nil },
		"the window in front runs with more":           func(f *fakeEyes) { f.windowsErr = errDenied },
	} {
		f := newFakeEyes()
		f.elevated[f.front] = true
		put(f)
		if state := stateOf(t, f); state.Kind != desktop.ElevatedWindow || !strings.Contains(state.Detail, name) {
			t.Errorf("%+v, want %q", state, name)
		}
	}
	f := newFakeEyes() // nothing has the keyboard
	f.front, f.elevated[0] = 0, true
	if state := stateOf(t, f); !state.Usable() {
		t.Errorf("with no window in front: %+v", state)
	}
}

func TestB01_AScreenThatCanNotBeHadNamesTheState(t *testing.T) {
	for _, c := range []struct {
		name   string
		locked bool
		want   string
	}{
		{"locked", true, "locked: "},
		{"for another reason", false, "access is denied"},
	} {
		f := newFakeEyes()
		f.session.Locked = c.locked
		f.screen = func(image.Rectangle) (*image.RGBA, error) { return nil, errDenied }
		p, err := newEyes(f, least).Capture(t.Context())
		if !errors.Is(err, errDenied) || errors.Is(err, driver.ErrUnavailable) != c.locked || !strings.Contains(err.Error(), c.want) || p.Image != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
