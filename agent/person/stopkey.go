package person

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/keyname"
)

// The stop key where it is not set up, and how it is turned off.
const (
	DefaultStopKey = "ctrl+alt+backspace"
	NoStopKey      = "off"
)

// Virtual-key codes of winuser.h.
var (
	// modifierKeys are the left, the right and the common code of each modifier.
	modifierKeys = map[keyname.Code][]uint16{
		keyname.Shift: {0xA0, 0xA1, 0x10}, keyname.Ctrl: {0xA2, 0xA3, 0x11}, keyname.Alt: {0xA4, 0xA5, 0x12}, keyname.Win: {0x5B, 0x5C},
	}
	otherKeys = map[keyname.Code]uint16{
		keyname.Backspace: 0x08, keyname.Tab: 0x09, keyname.Enter: 0x0D, keyname.Escape: 0x1B, keyname.Space: 0x20,
		keyname.PageUp: 0x21, keyname.PageDown: 0x22, keyname.End: 0x23, keyname.Home: 0x24,
		keyname.Left: 0x25, keyname.Up: 0x26, keyname.Right: 0x27, keyname.Down: 0x28, keyname.Insert: 0x2D, keyname.Delete: 0x2E,
	}
)

// stopKey recognises the stop key among what the person presses.
type stopKey struct {
	modifiers []keyname.Code
	key       uint16          // virtual-key code of the other key; 0: there is no stop key
	down      map[uint16]bool // modifiers that the person holds, by their codes
	swallowed bool            // the other key went down, and no window got it
}

// parseStopKey reads the setting.
func parseStopKey(setting string) (*stopKey, error) {
	if setting == "" {
		setting = DefaultStopKey
	}
	k := &stopKey{down: map[uint16]bool{}}
	if setting == NoStopKey {
		return k, nil
	}
	keys, err := keyname.ParseAll(strings.Split(setting, "+"))
	if err != nil {
		return nil, fmt.Errorf("setting StopKey: %w", err)
	}
	for _, key := range keys {
		switch vk, ok := otherKey(key); {
		case key.Modifier():
			k.modifiers = append(k.modifiers, key.Code)
		case !ok:
			return nil, fmt.Errorf("setting StopKey: %q lies on different keys of different keyboards", key)
		case k.key != 0:
			return nil, errors.New("setting StopKey: more than one key beside the modifiers")
		default:
			k.key = vk
		}
	}
	return k, k.fault()
}

func (k *stopKey) fault() error {
	has := func(code keyname.Code) bool { return slices.Contains(k.modifiers, code) }
	switch {
	case k.key == 0:
		return errors.New("setting StopKey: a key beside the modifiers is missing")
	case len(k.modifiers) == 0 || len(k.modifiers) == 1 && has(keyname.Shift):
		return errors.New("setting StopKey: ctrl, alt or win is missing: programs are typed into")
	case has(keyname.Ctrl) && has(keyname.Alt) && k.key == otherKeys[keyname.Delete]:
		return errors.New("setting StopKey: Windows keeps ctrl+alt+delete to itself")
	case has(keyname.Win) && k.key == 'L':
		return errors.New("setting StopKey: Windows keeps win+l to itself")
	}
	return nil
}

// otherKey is the code of a key that is no modifier. Letters and digits have their own
// on every layout.
func otherKey(key keyname.Key) (uint16, bool) {
	switch r := key.Rune; {
	case r >= 'a' && r <= 'z':
		return uint16(r - 'a' + 'A'), true
	case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
		return uint16(r), true
	}
	if key.Code >= keyname.F1 && key.Code <= keyname.F24 {
		return 0x70 + uint16(key.Code-keyname.F1), true
	}
	vk, ok := otherKeys[key.Code]
	return vk, ok
}

// on says whether there is a stop key.
func (k *stopKey) on() bool { return k.key != 0 }

// sees takes a key of the person: whether it is the stop key, and whether no window is
// to get it. What the agent presses and lets go of meanwhile says nothing about the
// keys that the person holds.
func (k *stopKey) sees(s winapi.Seen) (stop, keep bool) {
	if s.Device != winapi.Keyboard || !k.on() {
		return false, false
	}
	if s.Key != k.key {
		k.hold(s)
		return false, false
	}
	if s.Up {
		keep, k.swallowed = k.swallowed, false
		return false, keep
	}
	if !k.held() {
		k.swallowed = false
		return false, false
	}
	stop, k.swallowed = !k.swallowed, true
	return stop, true
}

func (k *stopKey) hold(s winapi.Seen) {
	if s.FakeCtrl() {
		return
	}
	for _, vks := range modifierKeys {
		if slices.Contains(vks, s.Key) {
			k.down[s.Key] = !s.Up
		}
	}
}

// held says whether all modifiers are down; others may be as well.
func (k *stopKey) held() bool {
	for _, m := range k.modifiers {
		if !slices.ContainsFunc(modifierKeys[m], func(vk uint16) bool { return k.down[vk] }) {
			return false
		}
	}
	return true
}

// forget drops the modifiers that are not down any more: they went up where no hook
// sees it, such as on the lock screen.
func (k *stopKey) forget(pressed func(vk uint16) bool) {
	for vk, down := range k.down {
		if down && !pressed(vk) {
			delete(k.down, vk)
		}
	}
}
