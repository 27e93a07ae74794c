package windesktop

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// sent is what a combo under a layout sends, as one call.
func sent(t *testing.T, layout winapi.HKL, keys ...string) []winapi.Event {
	t.Helper()
	w := newFake()
	w.layout = layout
	d, _ := open(t, w, Config{})
	if err := d.Do(t.Context(), driver.Combo{Keys: keys}); err != nil {
		t.Fatalf("%q: %v", keys, err)
	}
	if len(w.calls) != 1 {
		t.Fatalf("%q: %d calls, want 1", keys, len(w.calls))
	}
	return w.calls[0]
}

// pressing is the keys in order, and in reverse going up.
func pressing(keys ...winapi.KeyEvent) []winapi.Event {
	events := make([]winapi.Event, 2*len(keys))
	for i, k := range keys {
		events[i] = k
		k.Flags |= winapi.KeyUp
		events[len(events)-1-i] = k
	}
	return events
}

var (
	ctrlKey  = winapi.KeyEvent{Key: vkLControl, Scan: 0x1D}
	shiftKey = winapi.KeyEvent{Key: vkLShift, Scan: 0x2A}
	altKey   = winapi.KeyEvent{Key: vkLMenu, Scan: 0x38}
	altGrKey = winapi.KeyEvent{Key: vkRMenu, Scan: 0x38, Flags: winapi.KeyExtended}
)

func TestB07_CombosGoByTheLayoutOfTheWindowInFront(t *testing.T) {
	wholeCalls(t)
	key := func(vk, scan uint16) winapi.KeyEvent { return winapi.KeyEvent{Key: vk, Scan: scan} }
	for _, c := range []struct {
		name   string
		layout winapi.HKL
		keys   []string
		want   []winapi.KeyEvent
	}{
		{"ctrl+a on a French keyboard", layoutFR, []string{"ctrl", "a"}, []winapi.KeyEvent{ctrlKey, key('A', 0x10)}},
		{"ctrl+a on an American one", layoutUS, []string{"ctrl", "a"}, []winapi.KeyEvent{ctrlKey, key('A', 0x1E)}},
		{"ctrl+z on a German one", layoutDE, []string{"ctrl", "z"}, []winapi.KeyEvent{ctrlKey, key('Z', 0x15)}},
		{"the key of a digit in a shortcut", layoutFR, []string{"ctrl", "1"}, []winapi.KeyEvent{ctrlKey, key('1', 0x02)}},
		{"a digit that needs shift", layoutFR, []string{"1"}, []winapi.KeyEvent{shiftKey, key('1', 0x02)}},
		{"shift is not pressed twice", layoutFR, []string{"shift", "1"}, []winapi.KeyEvent{shiftKey, key('1', 0x02)}},
		{"a capital is meant to the letter", layoutUS, []string{"ctrl", "A"}, []winapi.KeyEvent{ctrlKey, shiftKey, key('A', 0x1E)}},
		{"shift once for two capitals", layoutUS, []string{"A", "B"}, []winapi.KeyEvent{shiftKey, key('A', 0x1E), key('B', 0x30)}},
		{"AltGr is the right alt", layoutFR, []string{"ctrl", "@"}, []winapi.KeyEvent{ctrlKey, altGrKey, key('0', 0x0B)}},
		{"AltGr is ctrl and alt where both are down", layoutDE, []string{"ctrl", "alt", "€"}, []winapi.KeyEvent{ctrlKey, altKey, key('E', 0x12)}},
		{"a dead key is a key", layoutFR, []string{"ctrl", "~"}, []winapi.KeyEvent{ctrlKey, altGrKey, key('2', 0x03)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(pressing(c.want...), sent(t, c.layout, c.keys...)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestB24_KeysCarryTheirScanCodeAndTheExtendedBit(t *testing.T) {
	wholeCalls(t)
	const plain, ext = uint32(0), uint32(winapi.KeyExtended)
	for name, want := range map[string]winapi.KeyEvent{
		"ctrl": ctrlKey, "shift": shiftKey, "alt": altKey, "win": {Key: vkLWin, Scan: 0x5B, Flags: ext},
		"enter": {Key: 0x0D, Scan: 0x1C}, "tab": {Key: 0x09, Scan: 0x0F}, "escape": {Key: 0x1B, Scan: 0x01},
		"space": {Key: 0x20, Scan: 0x39}, "backspace": {Key: 0x08, Scan: 0x0E},
		"insert": {Key: 0x2D, Scan: 0x52, Flags: ext}, "delete": {Key: 0x2E, Scan: 0x53, Flags: ext},
		"home": {Key: 0x24, Scan: 0x47, Flags: ext}, "end": {Key: 0x23, Scan: 0x4F, Flags: ext},
		"pageup": {Key: 0x21, Scan: 0x49, Flags: ext}, "pagedown": {Key: 0x22, Scan: 0x51, Flags: ext},
		"left": {Key: 0x25, Scan: 0x4B, Flags: ext}, "up": {Key: 0x26, Scan: 0x48, Flags: ext},
		"right": {Key: 0x27, Scan: 0x4D, Flags: ext}, "down": {Key: 0x28, Scan: 0x50, Flags: ext},
		"f1": {Key: 0x70, Scan: 0x3B, Flags: plain}, "f12": {Key: 0x7B, Scan: 0x58}, "f24": {Key: 0x87, Scan: 0x76},
	} {
		if diff := cmp.Diff(pressing(want), sent(t, layoutUS, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCombosThatNoHandPressesAreRefused(t *testing.T) {
	w := newFake()
	w.layout = layoutFR
	d, _ := open(t, w, Config{})
	for _, keys := range [][]string{
		{}, {"ctrl", "hyper"}, {"ctrl", "ctrl"}, {"ctrl", "漢"}, {"a", "A"}, {"shift", "&", "1"}, {"win", "win"},
	} {
		if err := d.Do(t.Context(), driver.Combo{Keys: keys}); !errors.Is(err, driver.ErrUnsupported) || !driver.NothingSent(err) {
			t.Errorf("%q: %v; want %v with nothing sent", keys, err, driver.ErrUnsupported)
		}
	}
	if got := w.taken(); len(got) != 0 {
		t.Errorf("sent: %v", got)
	}
}

func TestACombosKeysNeedNoWindowInFront(t *testing.T) {
	wholeCalls(t)
	w := newFake()
	d, _ := open(t, w, Config{})
	w.bring(0)
	if err := d.Do(t.Context(), driver.Combo{Keys: []string{"win", "r"}}); err != nil || len(w.calls) != 1 {
		t.Errorf("%v, %d calls", err, len(w.calls))
	}
}
