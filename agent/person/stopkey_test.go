package person

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

func key(t *testing.T, setting string) *stopKey {
	t.Helper()
	k, err := parseStopKey(setting)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestTheStopKeyIsRecognisedWhoeverHoldsWhat(t *testing.T) {
	for _, c := range []struct {
		name    string
		setting string
		events  []winapi.Seen
		stops   bool
	}{
		{"its keys in order", "", []winapi.Seen{down(vkLCtrl), down(vkLAlt), down(vkBackspace)}, true},
		{"the right-hand keys, in another order", "", []winapi.Seen{down(vkRAlt), down(vkRCtrl), down(vkBackspace)}, true},
		{"with one more modifier", "", []winapi.Seen{down(vkLShift), down(vkLCtrl), down(vkLAlt), down(vkBackspace)}, true},
		{"the key alone", "", []winapi.Seen{down(vkBackspace)}, false},
		{"a modifier that is up again", "", []winapi.Seen{down(vkLCtrl), down(vkLAlt), up(vkLCtrl), down(vkBackspace)}, false},
		{"one of two that is up again", "", []winapi.Seen{down(vkLCtrl), down(vkRCtrl), down(vkLAlt), up(vkLCtrl), down(vkBackspace)}, true},
		{"AltGr is no ctrl and alt", "", []winapi.Seen{fakeCtrl(false), down(vkRAlt), down(vkBackspace)}, false},
		{"the key let go of", "", []winapi.Seen{down(vkLCtrl), down(vkLAlt), up(vkBackspace)}, false},
		{"a letter", "Ctrl+Win+q", []winapi.Seen{down(vkLCtrl), down(0x5B), down('Q')}, true},
		{"a function key", "ctrl+f12", []winapi.Seen{down(vkLCtrl), down(0x7B)}, true},
		{"turned off", "off", []winapi.Seen{down(vkLCtrl), down(vkLAlt), down(vkBackspace)}, false},
	} {
		k, stops := key(t, c.setting), false
		for _, e := range c.events {
			stop, _ := k.sees(e)
			stops = stops || stop
		}
		if stops != c.stops {
			t.Errorf("%s: stops %v", c.name, stops)
		}
	}
}

func TestNoWindowGetsTheStopKeyAndEveryOtherKeyPasses(t *testing.T) {
	k := key(t, "")
	var kept []bool
	stops := 0
	for _, e := range []winapi.Seen{
		down(vkLCtrl), down(vkLAlt), down(vkA), down(vkBackspace), down(vkBackspace), up(vkBackspace), // held: it repeats
		down(vkBackspace), up(vkBackspace), up(vkLAlt), up(vkLCtrl), down(vkBackspace), up(vkBackspace), pointer(1, 1),
	} {
		stop, keep := k.sees(e)
		kept = append(kept, keep)
		if stop {
			stops++
		}
	}
	want := []bool{false, false, false, true, true, true, true, true, false, false, false, false, false}
	if diff := cmp.Diff(want, kept); diff != "" || stops != 2 {
		t.Errorf("%d stops; kept (-want +got):\n%s", stops, diff)
	}
}

func TestB19_AModifierThatWentUpUnseenIsForgotten(t *testing.T) {
	k := key(t, "")
	for _, e := range []winapi.Seen{down(vkLCtrl), down(vkLAlt)} {
		k.sees(e)
	}
	k.forget(func(vk uint16) bool { return vk == vkLCtrl }) // alt went up on the lock screen
	if stop, keep := k.sees(down(vkBackspace)); stop || keep {
		t.Error("a key that nobody holds makes a stop key")
	}
	k.sees(down(vkLAlt))
	if stop, _ := k.sees(down(vkBackspace)); !stop {
		t.Error("a key that is still held was forgotten")
	}
}

func TestAStopKeyThatCouldNotWorkIsRefused(t *testing.T) {
	for setting, want := range map[string]string{
		"ctrl+alt": "missing", "a": "missing", "shift+a": "missing", "backspace": "missing",
		"ctrl+alt+delete": "to itself", "win+l": "to itself", "ctrl+a+b": "more than one", "ctrl+é": "different keys",
		"ctrl+ctrl+a": "twice", "ctrl+pause": "no key", "+": "no key", "Off": "no key",
	} {
		if _, err := parseStopKey(setting); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", setting, err, want)
		}
	}
}
