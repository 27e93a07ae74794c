package x11desktop

import (
	"slices"

	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/internal/keyname"
)

// The keysyms that the driver names, from X11/keysymdef.h.
const (
	symBackspace = 0xff08
	symTab       = 0xff09
	symReturn    = 0xff0d
	symEscape    = 0xff1b
	symHome      = 0xff50
	symLeft      = 0xff51
	symUp        = 0xff52
	symRight     = 0xff53
	symDown      = 0xff54
	symPageUp    = 0xff55
	symPageDown  = 0xff56
	symEnd       = 0xff57
	symInsert    = 0xff63
	symF1        = 0xffbe
	symShift     = 0xffe1
	symControl   = 0xffe3
	symCapsLock  = 0xffe5
	symAlt       = 0xffe9
	symSuper     = 0xffeb
	symDelete    = 0xffff
	symUnicode   = 0x01000000 // and a rune
)

var keysyms = map[keyname.Code]xproto.Keysym{
	keyname.Ctrl: symControl, keyname.Shift: symShift, keyname.Alt: symAlt, keyname.Win: symSuper,
	keyname.Enter: symReturn, keyname.Tab: symTab, keyname.Escape: symEscape, keyname.Space: ' ',
	keyname.Backspace: symBackspace, keyname.Delete: symDelete, keyname.Insert: symInsert,
	keyname.Home: symHome, keyname.End: symEnd, keyname.PageUp: symPageUp, keyname.PageDown: symPageDown,
	keyname.Left: symLeft, keyname.Right: symRight, keyname.Up: symUp, keyname.Down: symDown,
}

// keysym is the symbol of a key.
func keysym(k keyname.Key) xproto.Keysym {
	switch {
	case k.Code == keyname.Character:
		return runeSym(k.Rune)
	case k.Code >= keyname.F1 && k.Code <= keyname.F24:
		return symF1 + xproto.Keysym(k.Code-keyname.F1)
	default:
		return keysyms[k.Code]
	}
}

// runeSym is the symbol of a character: Latin-1 stands for itself.
func runeSym(r rune) xproto.Keysym {
	if r >= 0x20 && r <= 0x7e || r >= 0xa0 && r <= 0xff {
		return xproto.Keysym(r)
	}
	return symUnicode | xproto.Keysym(r)
}

// layout is what the display's keys mean at one moment.
type layout struct {
	first     xproto.Keycode
	width     int             // symbols of one key
	syms      []xproto.Keysym // of all keys
	modifiers []xproto.Keycode
	group     int // the group that is switched on, 0 the first
}

// stroke is one press of a key, with or without shift.
type stroke struct {
	code  xproto.Keycode
	shift bool
}

func (l *layout) key(i int) []xproto.Keysym { return l.syms[i*l.width : (i+1)*l.width] }

func (l *layout) keys() int { return len(l.syms) / l.width }

// find says which stroke gives a symbol. Only the plain and the shifted level of
// the group in use count: what needs more is put on a spare key instead.
func (l *layout) find(sym xproto.Keysym) (stroke, bool) {
	level := 2 * l.group
	for shift := range 2 {
		if level+shift >= l.width {
			break
		}
		for i := range l.keys() {
			code := l.first + xproto.Keycode(i)
			// A modifier's own key types nothing, whatever else it means.
			if l.key(i)[level+shift] == sym && (shift == 0 || !slices.Contains(l.modifiers, code)) {
				return stroke{code: code, shift: shift == 1}, true
			}
		}
	}
	return stroke{}, false
}

// spare lists the keys that mean nothing: those without a symbol, and those that
// a driver which died left bound.
func (l *layout) spare() []xproto.Keycode {
	var codes []xproto.Keycode
	for i := range l.keys() {
		code := l.first + xproto.Keycode(i)
		if (blank(l.key(i)) || bound(l.key(i))) && !slices.Contains(l.modifiers, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// left lists the keys that a driver which died left bound.
func (l *layout) left() []xproto.Keycode {
	var codes []xproto.Keycode
	for i := range l.keys() {
		if bound(l.key(i)) {
			codes = append(codes, l.first+xproto.Keycode(i))
		}
	}
	return codes
}

func blank(syms []xproto.Keysym) bool {
	return !slices.ContainsFunc(syms, func(s xproto.Keysym) bool { return s != 0 })
}

// bound says whether a key means one foreign character on its first four levels
// and nothing beyond, as no layout's key does.
func bound(syms []xproto.Keysym) bool {
	if len(syms) < boundLevels || !foreign(syms[0]) {
		return false
	}
	for i, s := range syms {
		if i < boundLevels && s != syms[0] || i >= boundLevels && s != 0 && s != syms[0] {
			return false
		}
	}
	return true
}

// foreign says whether a symbol is a character beyond ASCII.
func foreign(s xproto.Keysym) bool {
	return s >= 0xa0 && s <= 0xff || s >= symUnicode+0x100 && s <= symUnicode+0x10ffff
}

// boundLevels is on how many levels a spare key gets its character: two groups
// of two, so that neither shift nor the group matters.
const boundLevels = 4
