package limits

import (
	"errors"
	"image"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
)

func TestB12_AForbiddenWindowIsBlackInEveryPicture(t *testing.T) {
	f := (&fake{}).show(mail, vault)
	d := limited(t, f, nil, keepass)
	p, err := d.Capture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !blackAt(p, 100, 0) || !blackAt(p, 199, 99) || blackAt(p, 99, 50) || blackAt(p, 200, 50) || blackAt(p, 150, 100) {
		t.Error("not the window, and only it, is black")
	}
	if want := "as it was; 1 windows are black by the limits of this machine ([never-picture])"; p.Note != want {
		t.Errorf("note %q", p.Note)
	}
	// A window that moves while the picture is taken was somewhere between.
	f.during = func() {
		moved := vault
		moved.Bounds = moved.Bounds.Add(image.Pt(50, 80))
		f.show(mail, moved)
	}
	if p, err = d.Capture(t.Context()); err != nil || !blackAt(p, 110, 10) || !blackAt(p, 240, 170) {
		t.Errorf("a window that moved shows: %v", err)
	}
	// One that opens or closes meanwhile may be in it.
	f.show(mail, vault)
	f.during = func() { f.show(mail) }
	if p, err = d.Capture(t.Context()); err != nil || !blackAt(p, 150, 50) {
		t.Errorf("a window that closed shows: %v", err)
	}
	f.during = func() { f.show(mail, vault) }
	if p, err = d.Capture(t.Context()); err != nil || !blackAt(p, 150, 50) {
		t.Errorf("a window that opened shows: %v", err)
	}
	f.listed = errors.New("no windows")
	if _, err = d.Capture(t.Context()); !errors.Is(err, f.listed) {
		t.Errorf("without a list of windows: %v", err)
	}
}

func TestNoPictureIsTakenOfAForbiddenWindow(t *testing.T) {
	f := (&fake{method: driver.MethodWindow}).show(mail, vault)
	d := limited(t, f, nil, keepass)
	taken := false
	f.during = func() { taken = true }
	_, err := d.CaptureWindow(t.Context(), "vault")
	if told, ok := driver.Telling(err); !errors.Is(err, driver.ErrBlocked) || !ok || !strings.Contains(told, "never-picture") || taken {
		t.Errorf("CaptureWindow = %v, taken: %v", err, taken)
	}
	p, err := d.CaptureWindow(t.Context(), "mail")
	if err != nil || blackAt(p, 150, 50) {
		t.Errorf("a window that drew itself: %v, made black: %v", err, err == nil)
	}
	f.method = driver.MethodScreenCrop
	if p, err = d.CaptureWindow(t.Context(), "mail"); err != nil || !blackAt(p, 150, 50) {
		t.Errorf("a picture cut from the screen shows what lies over it: %v", err)
	}
	f.during = func() { // it becomes what is forbidden while it is pictured
		turned := mail
		turned.Process = "keepass.exe"
		f.show(turned)
	}
	if p, err = d.CaptureWindow(t.Context(), "mail"); !errors.Is(err, driver.ErrBlocked) || p.Image != nil {
		t.Errorf("a window that turned: %v", err)
	}
}
