package winapi

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestB07_AKeyIsReadWithItsModifiersOrNotAtAll(t *testing.T) {
	for name, c := range map[string]struct {
		answer uint16
		want   Key
		ok     bool
	}{
		"a":                            {0x0041, Key{VK: 0x41}, true},
		"A":                            {0x0141, Key{VK: 0x41, Shift: true}, true},
		"at sign by AltGr":             {0x0630, Key{VK: 0x30, Ctrl: true, Alt: true}, true},
		"all three":                    {0x07ba, Key{VK: 0xba, Shift: true, Ctrl: true, Alt: true}, true},
		"on no key":                    {0xffff, Key{}, false},
		"on no key, older answer":      {0x00ff, Key{}, false},
		"with the kana key":            {0x0841, Key{}, false},
		"with a state of the layout's": {0x1041, Key{}, false},
		"the call is missing":          {0, Key{}, false},
	} {
		if got, ok := keyOf(c.answer); ok != c.ok || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

func TestB07_ADeadKeyIsSeenInEveryStateOfTheKeyboard(t *testing.T) {
	const marked, plain = 0x8000005e, 0x36
	for name, c := range map[string]struct {
		key       Key
		unshifted uint32
		chars     int32
		want      bool
	}{
		"circumflex of the French layout":                 {Key{VK: 0xdd}, marked, -1, true},
		"marked, by a Windows that types it all the same": {Key{VK: 0xdd}, marked, 1, true},
		"circumflex over the 6 of US international":       {Key{VK: 0x36, Shift: true}, plain, -1, true},
		"6 of US international":                           {Key{VK: 0x36}, plain, 1, false},
		"a character over a dead key":                     {Key{VK: 0xc0, Shift: true}, marked, 1, false},
		"a letter":                                        {Key{VK: 0x41}, 0x41, 1, false},
	} {
		if got := isDead(c.key, c.unshifted, c.chars); got != c.want {
			t.Errorf("%s: dead = %v", name, got)
		}
	}
	state := keyboardState(Key{VK: 0x30, Ctrl: true, Alt: true})
	if state[vkShift] != 0 || state[vkControl] != 0x80 || state[vkMenu] != 0x80 {
		t.Errorf("AltGr: shift %#x, ctrl %#x, alt %#x", state[vkShift], state[vkControl], state[vkMenu])
	}
}

func TestB24_ScanCodesAreThoseOfTheWire(t *testing.T) {
	for name, c := range map[string]struct {
		vk       uint16
		answer   uint32
		scan     uint16
		extended bool
	}{
		"a":                         {0x41, 0x1e, 0x1e, false},
		"left, named as of the pad": {0x25, 0x4b, 0x4b, true},
		"4 of the number pad":       {0x64, 0x4b, 0x4b, false},
		"right ctrl":                {0xa3, 0xe01d, 0x1d, true},
		"left ctrl":                 {0xa2, 0x1d, 0x1d, false},
		"volume up":                 {0xaf, 0xe030, 0x30, true},
		"num lock":                  {0x90, 0x45, 0x45, true},
		"pause, two codes":          {vkPause, 0xe11d, 0x45, false},
		"print screen":              {vkSnapshot, 0x54, 0x37, true},
		"right shift":               {0xa1, 0x36, 0x36, false},
		"none":                      {0xe8, 0, 0, false},
	} {
		if scan, extended := scanOf(c.vk, c.answer); scan != c.scan || extended != c.extended {
			t.Errorf("%s: %#x, extended %v", name, scan, extended)
		}
	}
}

// fakeDPI is a Windows that knows some contexts.
type fakeDPI struct {
	takes   map[dpiContext]bool
	has     map[dpiContext]bool
	unknown bool // it can't tell
	older   error
	asked   []dpiContext
}

func (d *fakeDPI) setContext(c dpiContext) error {
	d.asked = append(d.asked, c)
	if d.takes[c] {
		return nil
	}
	return errors.New("refused")
}

func (d *fakeDPI) setAware() error { return d.older }

func (d *fakeDPI) hasContext(c dpiContext) (bool, error) {
	if d.unknown {
		return false, ErrNotHere
	}
	return d.has[c], nil
}

func TestB03_TheBestAwarenessIsAskedForAndTheTrueOneTold(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		system fakeDPI
		want   string
		asked  []dpiContext
	}{
		"Windows 10 since 1703":      {fakeDPI{takes: map[dpiContext]bool{-4: true, -3: true, -2: true}}, AwarePerMonitorV2, []dpiContext{-4}},
		"Windows 10 before":          {fakeDPI{takes: map[dpiContext]bool{-3: true, -2: true}}, AwarePerMonitor, []dpiContext{-4, -3}},
		"only as the system is":      {fakeDPI{takes: map[dpiContext]bool{-2: true}}, AwareSystem, []dpiContext{-4, -3, -2}},
		"decided by a manifest":      {fakeDPI{has: map[dpiContext]bool{-4: true}, older: refused}, AwarePerMonitorV2, []dpiContext{-4, -3, -2}},
		"the older call, and told":   {fakeDPI{has: map[dpiContext]bool{-3: true}}, AwarePerMonitor, []dpiContext{-4, -3, -2}},
		"the older call, and untold": {fakeDPI{unknown: true}, AwareSystem, []dpiContext{-4, -3, -2}},
	} {
		got, err := awareOfDPI(&c.system)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
		if diff := cmp.Diff(c.asked, c.system.asked); diff != "" {
			t.Errorf("%s: asked (-want +got):\n%s", name, diff)
		}
	}
	got, err := awareOfDPI(&fakeDPI{older: refused})
	if got != Unaware || !errors.Is(err, refused) {
		t.Errorf("none to be had: %q, %v", got, err)
	}
}

func TestB01_ASessionIsLockedOnlyWhenWindowsSaysSo(t *testing.T) {
	for _, c := range []struct {
		state uint32
		flags int32
		want  Session
	}{
		{0, 1, Session{User: "ann"}},
		{0, 0, Session{User: "ann", Locked: true}},
		{0, -1, Session{User: "ann"}},
		{4, 1, Session{User: "ann", Disconnected: true}},
		{4, 0, Session{User: "ann", Disconnected: true, Locked: true}},
		{1, -1, Session{User: "ann"}},
	} {
		if got := sessionOf("ann", c.state, c.flags); got != c.want {
			t.Errorf("state %d, flags %d: %+v", c.state, c.flags, got)
		}
	}
}

func TestB17_MoreRightsAreALevelAboveOursOrADenial(t *testing.T) {
	const medium, high = 0x2000, 0x3000
	for _, c := range []struct {
		own, other uint32
		denied     bool
		want       bool
	}{{medium, medium, false, false}, {medium, high, false, true}, {high, medium, false, false}, {medium, 0, true, true}, {medium, 0, false, false}} {
		if got := outranks(c.own, c.other, c.denied); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestB08_TextGoesThroughTheClipboardUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }).Draw(t, "text")
		units, err := clipboardUnits(text)
		if err != nil {
			t.Fatal(err)
		}
		// A memory block may be longer than what was put into it.
		units = append(units, rapid.SliceOfN(rapid.Uint16(), 0, 5).Draw(t, "rest")...)
		if got := textOf(units); got != strings.ToValidUTF8(text, "\ufffd") {
			t.Errorf("%q came back as %q", text, got)
		}
	})
	if _, err := clipboardUnits("a\x00b"); err == nil {
		t.Error("a NUL within a text would cut it off")
	}
	if got := textOf([]uint16{'n', 'o', 'N', 'U', 'L'}); got != "noNUL" {
		t.Errorf("without a NUL at its end: %q", got)
	}
}
