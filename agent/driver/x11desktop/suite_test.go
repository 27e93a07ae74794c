//go:build x11

package x11desktop

import (
	"image"
	"slices"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/internal/keyname"
)

func TestX11DesktopKeepsTheDriversPromises(t *testing.T) {
	display, _ := drivertest.Xvfb(t, "1280x800x24")
	drivertest.Run(t, func(t *testing.T) drivertest.Fixture {
		f := &fixture{display: display, driver: open(t, Config{Display: display}), client: newClient(t, display)}
		f.client.settles(f.driver)
		return f
	})
}

type fixture struct {
	display string
	driver  *Driver
	client  *client
	opened  int
}

func (f *fixture) Driver() driver.Driver { return f.driver }

func (f *fixture) OffScreen() image.Point { return image.Pt(1280, 400) }

func (f *fixture) Exceptions() map[drivertest.Promise]string {
	return map[drivertest.Promise]string{
		drivertest.LockedDesktop: "X has no lock of its own; a locking program is a window like any other",
	}
}

func (f *fixture) OpenWindow(t *testing.T, title string) drivertest.Window {
	t.Helper()
	f.opened++
	return f.client.openWindow(t, f.opened-1, title, "Client")
}

func (f *fixture) Down(t *testing.T) []string {
	t.Helper()
	k, err := f.client.link.keyboard()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, b := range k.buttons {
		names = append(names, map[byte]string{1: "left_button", 2: "middle_button", 3: "right_button", 4: "wheel_up", 5: "wheel_down"}[b])
	}
	for _, code := range k.down {
		names = append(names, symName(k.layout.key(int(code - k.layout.first))[0]))
	}
	slices.Sort(names)
	return names
}

func (f *fixture) LeaveDown(t *testing.T, keys ...string) {
	t.Helper()
	config := f.driver.config
	dying, err := dial(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer dying.close()
	k, err := dying.keyboard()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := keyname.ParseAll(keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range parsed {
		s, ok := k.layout.find(keysym(key))
		if !ok {
			t.Fatalf("no key %v", key)
		}
		dying.fake(xproto.KeyPress, byte(s.code), image.Point{})
	}
	dying.fake(xproto.ButtonPress, 1, image.Point{})
	if err = dying.sync(); err != nil {
		t.Fatal(err)
	}
}

func (w *window) Area() image.Rectangle { return w.area }

func (w *window) Await(t *testing.T, done func(drivertest.Seen) bool) drivertest.Seen {
	t.Helper()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	bound := time.After(patience)
	for {
		w.client.mu.Lock()
		seen := drivertest.Seen{Text: w.seen.Text, Events: slices.Clone(w.seen.Events)}
		w.client.mu.Unlock()
		if done(seen) {
			return seen
		}
		select {
		case <-again.C:
		case <-bound:
			return seen
		}
	}
}

func (w *window) awaitText(t *testing.T, want string) string {
	t.Helper()
	return w.Await(t, func(s drivertest.Seen) bool { return s.Text == want }).Text
}
