//go:build windows && wine

package winapi_test

import (
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lxn/win"

	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

func listed(t *testing.T) []winapi.Window {
	t.Helper()
	list, err := system.Windows()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func find(t *testing.T, w *winapitest.Window) (int, winapi.Window) {
	t.Helper()
	list := listed(t)
	for i, l := range list {
		if l.HWND == w.HWND() {
			return i, l
		}
	}
	t.Fatalf("the window is not among %+v", list)
	return 0, winapi.Window{}
}

func TestB13_WindowsAreListedFromTheTopWithWhoTheyAre(t *testing.T) {
	lower := winapitest.Open(t, "a,b [x] (y) – lower", place)
	upper := winapitest.Open(t, "*upper €😀", place.Add(image.Pt(40, 30)))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		w     *winapitest.Window
		title string
	}{{lower, "a,b [x] (y) – lower"}, {upper, "*upper €😀"}} {
		_, got := find(t, c.w)
		want := winapi.Window{HWND: c.w.HWND(), Title: c.title, Class: winapitest.Class, Process: filepath.Base(exe), PID: uint32(os.Getpid()), Bounds: got.Bounds}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !c.w.Area().In(got.Bounds) {
			t.Errorf("%s at %v does not hold its area %v", c.title, got.Bounds, c.w.Area())
		}
	}
	inOrder := func(first, second *winapitest.Window) bool {
		i, _ := find(t, first)
		j, _ := find(t, second)
		return i < j
	}
	winapitest.Await(t, "the upper one is listed first", func() bool { return inOrder(upper, lower) })
	if err := system.BringToFront(lower.HWND()); err != nil {
		t.Fatal(err)
	}
	winapitest.Await(t, "the lower one is in front", func() bool { return system.Foreground() == lower.HWND() })
	if !inOrder(lower, upper) {
		t.Error("the lower one has the keyboard and is listed below the other")
	}
}

func TestB05_TheFrontIsClaimedByAHotKeyThatNoWindowGets(t *testing.T) {
	lower := winapitest.Open(t, "is to come", place)
	upper := winapitest.Open(t, "is in front", place.Add(image.Pt(40, 30)))
	winapitest.Await(t, "the upper one is in front", func() bool { return system.Foreground() == upper.HWND() })
	for _, w := range []*winapitest.Window{lower, upper, lower} { // the key is free again each time
		if err := system.ClaimFront(w.HWND()); err != nil {
			t.Fatal(err)
		}
		winapitest.Await(t, "it is in front", func() bool { return system.Foreground() == w.HWND() })
	}
	for _, w := range []*winapitest.Window{lower, upper} {
		for _, m := range w.Messages() {
			if m.ID == win.WM_KEYDOWN || m.ID == win.WM_SYSKEYDOWN {
				t.Errorf("a window got the key %#x", m.WParam)
			}
		}
	}
}

func TestB05_AWindowComesToTheFrontOutOfItsIcon(t *testing.T) {
	w := winapitest.Open(t, "was an icon", place)
	winapitest.Open(t, "is in front", place.Add(image.Pt(40, 30)))
	w.Minimize()
	winapitest.Await(t, "it is an icon", func() bool { _, l := find(t, w); return l.Bounds.Empty() })
	if _, err := system.CaptureWindow(w.HWND()); err == nil {
		t.Error("an icon has a picture")
	}
	// The window manager's word that it became an icon may come late, and Wine then
	// makes it one again: so it is asked for once in a while.
	var asked time.Time
	winapitest.Await(t, "it is in front, and no icon", func() bool {
		if time.Since(asked) > time.Second {
			asked = time.Now()
			if err := system.BringToFront(w.HWND()); err != nil {
				t.Fatal(err)
			}
		}
		_, l := find(t, w)
		return system.Foreground() == w.HWND() && !l.Bounds.Empty()
	})
}

func TestAWindowThatIsGoneSaysSo(t *testing.T) {
	const never = winapi.HWND(0x7ffffffe)
	if err := system.BringToFront(never); !errors.Is(err, winapi.ErrGone) {
		t.Errorf("bring to front: %v", err)
	}
	if _, err := system.CaptureWindow(never); !errors.Is(err, winapi.ErrGone) {
		t.Errorf("capture: %v", err)
	}
	if system.Hung(never) || system.Elevated(never) || system.IMEOpen(never) {
		t.Error("it is hung, elevated, or has an input method")
	}
}

func TestB13_AHungWindowHoldsNobodyUp(t *testing.T) {
	w := winapitest.OpenHung(t, "does not answer", place)
	began := time.Now()
	if _, l := find(t, w); l.Title != "does not answer" {
		t.Errorf("listed as %+v", l)
	}
	if _, err := system.CaptureWindow(w.HWND()); !errors.Is(err, winapi.ErrHung) {
		t.Errorf("capture: %v", err)
	}
	system.IMEOpen(w.HWND())
	if err := system.BringToFront(w.HWND()); err != nil {
		t.Errorf("bring to front: %v", err)
	}
	if took := time.Since(began); took > winapitest.Patience { // it answers when the test ends
		t.Errorf("it took %v", took)
	}
}

func TestB15_TheWindowAtAPlaceIsTheOneAPersonSees(t *testing.T) {
	w := winapitest.Open(t, "is looked at", place)
	for _, p := range []image.Point{w.Area().Min.Add(image.Pt(5, 5)), w.Area().Max.Sub(image.Pt(5, 5))} {
		if got := system.WindowAt(p); got != w.HWND() {
			t.Errorf("at %v: window %#x, want %#x", p, got, w.HWND())
		}
	}
	if got := system.WindowAt(w.Area().Max.Add(image.Pt(200, 200))); got == w.HWND() {
		t.Error("the window is where it is not")
	}
}

func TestB15_TheVirtualScreenIsRoundAllMonitors(t *testing.T) {
	monitors, err := system.Monitors()
	if err != nil {
		t.Fatal(err)
	}
	var union image.Rectangle
	primaries, names := 0, map[string]bool{}
	for _, m := range monitors {
		union = union.Union(m.Bounds)
		if m.Primary {
			primaries++
			if m.Bounds.Min != (image.Point{}) {
				t.Errorf("the primary monitor is at %v", m.Bounds)
			}
		}
		if m.DPI < 48 || m.DPI > 960 || !strings.HasPrefix(m.Name, `\\.\`) || names[m.Name] {
			t.Errorf("monitor %+v", m)
		}
		names[m.Name] = true
	}
	if primaries != 1 || union != system.VirtualScreen() {
		t.Errorf("%d primary monitors; together %v, virtual screen %v", primaries, union, system.VirtualScreen())
	}
}

func TestB01_TheDesktopThatGetsInputIsNamed(t *testing.T) {
	if name, err := system.InputDesktop(); err != nil || name != "Default" {
		t.Errorf("input desktop %q, %v", name, err)
	}
	session, err := system.Session()
	if err != nil && !errors.Is(err, winapi.ErrNotHere) {
		t.Errorf("session: %v", err)
	}
	if session.Locked || session.Disconnected {
		t.Errorf("session %+v", session)
	}
	t.Logf("session %+v, %v", session, err)
}

func TestB17_OurOwnWindowsAreWithinReach(t *testing.T) {
	if w := winapitest.Open(t, "has our rights", place); system.Elevated(w.HWND()) {
		t.Error("a window of this process counts as elevated")
	}
}

func TestB03_AwarenessIsToldAndNothingAborts(t *testing.T) {
	got, err := system.AwareOfDPI()
	switch {
	case err != nil && got != winapi.Unaware, err == nil && got != winapi.AwarePerMonitorV2 && got != winapi.AwarePerMonitor && got != winapi.AwareSystem:
		t.Errorf("%q, %v", got, err)
	}
	t.Logf("%q, %v", got, err)
}
