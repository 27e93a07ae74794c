//go:build windows && wine

package windesktop

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
	"github.com/reprise-rpa/reprise/internal/keyname"
)

// What is decided is put to the promises on every system, with a fake; this puts the
// calls to them as well.
func TestWindowsDesktopKeepsTheDriversPromisesOnWindows(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) drivertest.Fixture {
		return &realFixture{driver: openReal(t, Config{RestoreClipboard: takenWithin})}
	})
}

// openReal opens a driver of this Windows, which leaves nothing down with the test.
func openReal(t *testing.T, config Config) *Driver {
	t.Helper()
	d, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(d.Release(context.WithoutCancel(t.Context())), d.Close()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// realFixture opens windows of the test's own process.
type realFixture struct {
	driver *Driver
	system winapi.System
	opened int
}

func (f *realFixture) Driver() driver.Driver { return f.driver }

// OffScreen is in the hole that a lower monitor leaves, if there is one.
func (f *realFixture) OffScreen() image.Point {
	monitors, err := f.driver.monitors()
	if err != nil {
		return f.system.VirtualScreen().Max
	}
	for _, hole := range holes(f.system.VirtualScreen(), areas(monitors)) {
		return hole.Min.Add(hole.Size().Div(2))
	}
	return f.system.VirtualScreen().Max
}

func (f *realFixture) Exceptions() map[drivertest.Promise]string {
	return map[drivertest.Promise]string{
		drivertest.LockedDesktop: "Wine has no lock; the decisions are put to it with a fake",
	}
}

func (f *realFixture) OneCall(in driver.Input) bool { return isCombo(in) }

// OpenWindow opens the first one on the monitor that has negative places, if there is
// one, and the others on the primary one.
func (f *realFixture) OpenWindow(t *testing.T, title string) drivertest.Window {
	t.Helper()
	corner := image.Pt(40+420*f.opened, 60)
	if f.opened == 0 {
		corner = leftmost(t, f.driver).Min.Add(image.Pt(40, 60))
	}
	f.opened++
	return &realWindow{winapitest.Open(t, title, image.Rect(0, 0, 400, 300).Add(corner))}
}

// leftmost is the monitor farthest to the left: the one with negative places, where
// there is one.
func leftmost(t *testing.T, d *Driver) image.Rectangle {
	t.Helper()
	monitors, err := d.monitors()
	if err != nil || len(monitors) == 0 {
		t.Fatalf("%d monitors, %v", len(monitors), err)
	}
	return slices.MinFunc(monitors, func(a, b driver.Monitor) int { return a.Bounds.Min.X - b.Bounds.Min.X }).Bounds
}

func (f *realFixture) Down(*testing.T) []string {
	names := []string{}
	for _, vk := range f.driver.down() {
		names = append(names, realName(vk))
	}
	slices.Sort(names)
	return names
}

// leaver names the variable that tells a process of the test to press keys and to end
// with them down; its value are their names.
const leaver = "REPRISE_TEST_LEAVES_DOWN"

func TestMain(m *testing.M) {
	if keys := os.Getenv(leaver); keys != "" {
		if err := pressAndLeave(strings.Fields(keys)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(spinner) != "" {
		spin()
		return
	}
	os.Exit(m.Run())
}

func pressAndLeave(keys []string) error {
	parsed, err := keyname.ParseAll(keys)
	if err != nil {
		return err
	}
	events := []winapi.Event{winapi.MouseEvent{Flags: winapi.MouseLeftDown}}
	for _, k := range parsed {
		events = append(events, newBoard(winapi.System{}).key(named[k.Code], true))
	}
	_, err = winapi.System{}.SendInput(events)
	return err
}

// LeaveDown lets another process press and die. Wine takes a key up again that X does
// not have down when a window gets the keyboard, which a new window does a moment
// after it is in front: then another process has to.
func (f *realFixture) LeaveDown(t *testing.T, keys ...string) {
	t.Helper()
	still := 0
	winapitest.Await(t, "the keys stay down", func() bool {
		if still++; len(f.driver.down()) < 1+len(keys) {
			still = 0
			if err := again(t, leaver+"="+strings.Join(keys, " ")).Run(); err != nil {
				t.Fatal(err)
			}
		}
		return still == 10
	})
}

// again is this test program once more, with a variable that says what it is to do.
func again(t *testing.T, variable string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(t.Context(), program)
	process.Env = append(os.Environ(), variable)
	process.Stderr = os.Stderr
	return process
}

// realName is a key's name as the schema has it.
func realName(vk uint16) string {
	switch {
	case vk == vkLeftButton:
		return "left_button"
	case vk == vkRightButton:
		return "right_button"
	case vk == vkMiddleButton:
		return "middle_button"
	case vk >= vkF1 && vk < vkF1+24:
		return keyname.Key{Code: keyname.F1 + keyname.Code(vk-vkF1)}.String()
	}
	for code, of := range named {
		if sides, both := either[vk]; of == vk || both && sides[0] == of {
			return keyname.Key{Code: code}.String()
		}
	}
	return strings.ToLower(string(rune(vk)))
}
