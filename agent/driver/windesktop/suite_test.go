package windesktop

import (
	"image"
	"slices"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/keyname"
)

// The promises are put to the driver's decisions here, on a Windows that is a fake;
// its calls are put to the same ones where there is a Windows.
func TestWindowsDesktopKeepsTheDriversPromises(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) drivertest.Fixture {
		w := newFake()
		w.screens = []image.Rectangle{image.Rect(0, 0, 1280, 800), image.Rect(-1024, 100, 0, 868)}
		w.doubleClick = 30 * time.Millisecond
		d, err := newDriver(Config{TypePace: time.Microsecond, RestoreClipboard: time.Millisecond}, w)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return &fakeFixture{driver: d, windows: w}
	})
}

type fakeFixture struct {
	driver  *Driver
	windows *fakeWindows
	opened  int
}

func (f *fakeFixture) Driver() driver.Driver { return f.driver }

// OffScreen is in the hole above the second monitor.
func (f *fakeFixture) OffScreen() image.Point { return image.Pt(-10, 50) }

func (f *fakeFixture) Exceptions() map[drivertest.Promise]string { return nil }

// OneCall is true of combos, with fault points too: between those nothing looks at a
// context.
func (f *fakeFixture) OneCall(in driver.Input) bool { return isCombo(in) }

func isCombo(in driver.Input) bool {
	_, combo := in.(driver.Combo)
	return combo
}

// OpenWindow opens the first one across negative coordinates.
func (f *fakeFixture) OpenWindow(_ *testing.T, title string) drivertest.Window {
	area := image.Rect(0, 0, 400, 200).Add(image.Pt(-600+450*f.opened, 300))
	f.opened++
	return f.windows.open(title, area)
}

func (f *fakeFixture) Lock(_ *testing.T, locked bool) {
	f.windows.mu.Lock()
	defer f.windows.mu.Unlock()
	f.windows.locked = locked
}

func (f *fakeFixture) Down(*testing.T) []string { return f.windows.downNames() }

func (w *fakeWindows) downNames() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := map[uint16]string{vkLeftButton: "left_button", vkRightButton: "right_button", vkMiddleButton: "middle_button", vkPacket: "a character"}
	names := []string{}
	for vk := range w.down {
		name, ok := said[vk]
		if !ok {
			name = fakeName(fakeLayouts[w.layout], vk)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (f *fakeFixture) LeaveDown(t *testing.T, keys ...string) {
	t.Helper()
	parsed, err := keyname.ParseAll(keys)
	if err != nil {
		t.Fatal(err)
	}
	events := []winapi.Event{winapi.MouseEvent{Flags: winapi.MouseLeftDown}}
	for _, k := range parsed {
		events = append(events, winapi.KeyEvent{Key: named[k.Code], Scan: fakeScans[named[k.Code]]})
	}
	if _, err := f.windows.SendInput(events); err != nil {
		t.Fatal(err)
	}
}

func (win *fakeWindow) Area() image.Rectangle { return win.area }

// Await need not wait: a fake has handled what it has taken.
func (win *fakeWindow) Await(_ *testing.T, done func(drivertest.Seen) bool) drivertest.Seen {
	seen := win.told()
	done(seen)
	return seen
}

func (win *fakeWindow) told() drivertest.Seen {
	win.of.mu.Lock()
	defer win.of.mu.Unlock()
	return drivertest.Seen{Text: win.seen.Text, Events: slices.Clone(win.seen.Events)}
}
