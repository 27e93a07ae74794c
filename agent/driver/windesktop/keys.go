package windesktop

import (
	"fmt"
	"slices"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/internal/keyname"
)

// Virtual-key codes that the hands use: VK_… of winuser.h. Those of letters and
// digits depend on the layout and come from KeyOf.
const (
	vkLeftButton   = 0x01
	vkRightButton  = 0x02
	vkMiddleButton = 0x04
	vkXButton1     = 0x05
	vkXButton2     = 0x06
	vkBack         = 0x08
	vkTab          = 0x09
	vkReturn       = 0x0D
	vkShift        = 0x10
	vkControl      = 0x11
	vkMenu         = 0x12 // alt
	vkCapital      = 0x14 // caps lock
	vkEscape       = 0x1B
	vkSpace        = 0x20
	vkPrior        = 0x21 // page up
	vkNext         = 0x22 // page down
	vkEnd          = 0x23
	vkHome         = 0x24
	vkLeft         = 0x25
	vkUp           = 0x26
	vkRight        = 0x27
	vkDown         = 0x28
	vkSnapshot     = 0x2C // print screen
	vkInsert       = 0x2D
	vkDelete       = 0x2E
	vkLWin         = 0x5B
	vkRWin         = 0x5C
	vkApps         = 0x5D // the menu key
	vkDivide       = 0x6F // of the number pad
	vkF1           = 0x70
	vkNumLock      = 0x90
	vkLShift       = 0xA0
	vkRShift       = 0xA1
	vkLControl     = 0xA2
	vkRControl     = 0xA3
	vkLMenu        = 0xA4
	vkRMenu        = 0xA5 // the right alt, which is AltGr on layouts that have one
	vkBrowserBack  = 0xA6 // the first of the keys for browsers, sound and programs
	vkLaunchApp2   = 0xB7 // the last of them
	vkPacket       = 0xE7 // what a KeyUnicode event goes by
	vkUnassigned   = 0xE8 // no key has it and no program waits for it
)

var named = map[keyname.Code]uint16{
	keyname.Ctrl: vkLControl, keyname.Shift: vkLShift, keyname.Alt: vkLMenu, keyname.Win: vkLWin,
	keyname.Enter: vkReturn, keyname.Tab: vkTab, keyname.Escape: vkEscape, keyname.Space: vkSpace,
	keyname.Backspace: vkBack, keyname.Delete: vkDelete, keyname.Insert: vkInsert,
	keyname.Home: vkHome, keyname.End: vkEnd, keyname.PageUp: vkPrior, keyname.PageDown: vkNext,
	keyname.Left: vkLeft, keyname.Right: vkRight, keyname.Up: vkUp, keyname.Down: vkDown,
}

// extended are the keys whose scan code is told apart from another key's by the
// extended bit alone: without it an arrow is a digit of the number pad. Windows'
// own table answers with the number pad's for some of them (see "Keyboard Input
// Overview", Extended-Key Flag, of Microsoft).
var extended = []uint16{
	vkPrior, vkNext, vkEnd, vkHome, vkLeft, vkUp, vkRight, vkDown, vkSnapshot, vkInsert, vkDelete,
	vkLWin, vkRWin, vkApps, vkDivide, vkNumLock, vkRControl, vkRMenu,
}

func isExtended(vk uint16) bool {
	return slices.Contains(extended, vk) || vk >= vkBrowserBack && vk <= vkLaunchApp2
}

// board is the keyboard as the window in front understands it.
type board struct {
	system handsSystem
	front  winapi.HWND // the window that has the keyboard; 0: none
	layout winapi.HKL
}

// newBoard reads the layout of the window in front: each thread has its own.
func newBoard(system handsSystem) board {
	front := system.Foreground()
	return board{system: system, front: front, layout: system.Layout(front)}
}

// key is the event of one key, with its virtual-key code and its scan code:
// programs read the one, viewers of remote desktops the other.
func (b board) key(vk uint16, down bool) winapi.KeyEvent {
	scan, ext := b.system.ScanCode(vk, b.layout)
	e := winapi.KeyEvent{Key: vk, Scan: scan}
	if ext || isExtended(vk) {
		e.Flags |= winapi.KeyExtended
	}
	if !down {
		e.Flags |= winapi.KeyUp
	}
	return e
}

// press presses keys in order and releases them in reverse.
func (b board) press(vks ...uint16) []winapi.Event {
	events := make([]winapi.Event, 0, 2*len(vks))
	for _, vk := range vks {
		events = append(events, b.key(vk, true))
	}
	for _, vk := range slices.Backward(vks) {
		events = append(events, b.key(vk, false))
	}
	return events
}

// stroke is the key of a character and what must be down for it.
type stroke struct {
	vk           uint16
	shift, altGr bool
	dead         bool // it types nothing by itself
}

// stroke says where a character lies on the layout; false: on no key of its own.
func (b board) stroke(r rune) (stroke, bool) {
	at, ok := b.system.KeyOf(r, b.layout)
	if !ok || at.Ctrl != at.Alt { // with one of them alone it is no character
		return stroke{}, false
	}
	return stroke{vk: at.VK, shift: at.Shift, altGr: at.Ctrl && at.Alt, dead: at.Dead}, true
}

// keys are the stroke's keys in the order in which they go down. AltGr is the right
// alt: ctrl and alt by themselves are shortcuts of programs.
func (s stroke) keys() []uint16 {
	var vks []uint16
	if s.shift {
		vks = append(vks, vkLShift)
	}
	if s.altGr {
		vks = append(vks, vkRMenu)
	}
	return append(vks, s.vk)
}

// combo resolves the names of a combo to the keys that go down, in order. A
// character is meant to the letter: one that needs shift or AltGr gets it.
func (b board) combo(names []string) ([]uint16, error) {
	keys, err := keyname.ParseAll(names)
	if err != nil {
		return nil, unsupported(err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("a combo without keys: %w", driver.ErrUnsupported)
	}
	has := func(code keyname.Code) bool {
		return slices.ContainsFunc(keys, func(k keyname.Key) bool { return k.Code == code })
	}
	shifted, third := has(keyname.Shift), has(keyname.Ctrl) && has(keyname.Alt)
	shortcut := has(keyname.Ctrl) || has(keyname.Alt) || has(keyname.Win)
	var vks []uint16
	for _, k := range keys {
		s, ok := b.of(k)
		if shortcut && k.Rune >= '0' && k.Rune <= '9' {
			// Ctrl+1 is the key of that digit on every keyboard, also where the digit
			// itself needs shift: programs go by the key.
			s, ok = stroke{vk: uint16(k.Rune)}, true
		}
		if !ok {
			return nil, fmt.Errorf("key %q is not on the layout of the window in front: %w", k, driver.ErrUnsupported)
		}
		s.shift, s.altGr = s.shift && !shifted, s.altGr && !third
		shifted, third = shifted || s.shift, third || s.altGr
		for _, vk := range s.keys() {
			if slices.Contains(vks, vk) {
				return nil, fmt.Errorf("key %q is down already, as another name's: %w", k, driver.ErrUnsupported)
			}
			vks = append(vks, vk)
		}
	}
	return vks, nil
}

// of is the key that a name of a combo stands for.
func (b board) of(k keyname.Key) (stroke, bool) {
	switch {
	case k.Code == keyname.Character:
		return b.stroke(k.Rune)
	case k.Code >= keyname.F1 && k.Code <= keyname.F24:
		return stroke{vk: vkF1 + uint16(k.Code-keyname.F1)}, true
	}
	vk, ok := named[k.Code]
	return stroke{vk: vk}, ok
}

// modifiers resolves the names of the keys that are held around a click.
func (b board) modifiers(names []string) ([]uint16, error) {
	keys, err := keyname.ParseAll(names)
	if err != nil {
		return nil, unsupported(err)
	}
	vks := make([]uint16, len(keys))
	for i, k := range keys {
		if !k.Modifier() {
			return nil, fmt.Errorf("%q as a modifier: %w", k, driver.ErrUnsupported)
		}
		vks[i] = named[k.Code]
	}
	return vks, nil
}

func unsupported(err error) error { return fmt.Errorf("%w: %w", driver.ErrUnsupported, err) }
