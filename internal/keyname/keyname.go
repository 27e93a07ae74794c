// Package keyname reads the key names of the schema's key combos. It decides
// which names there are and which of them are modifiers; it leaves to each
// driver which key code of its system a name becomes.
package keyname

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrUnknown says that no key has this name.
var ErrUnknown = errors.New("no key has this name")

// ErrRepeated says that a combo names one key twice, which no hand can press.
var ErrRepeated = errors.New("a key is named twice")

// Code says which key it is.
type Code int

// The keys. Character stands for every key that is named by what it types.
const (
	Character Code = iota + 1
	Ctrl
	Shift
	Alt
	Win
	Enter
	Tab
	Escape
	Space
	Backspace
	Delete
	Insert
	Home
	End
	PageUp
	PageDown
	Left
	Right
	Up
	Down
	F1 // F1 to F24 follow one another: F11 is F1+10
)

// F24 is the last key.
const F24 = F1 + 23

var named = map[string]Code{
	"ctrl": Ctrl, "shift": Shift, "alt": Alt, "win": Win,
	"enter": Enter, "tab": Tab, "escape": Escape, "space": Space,
	"backspace": Backspace, "delete": Delete, "insert": Insert,
	"home": Home, "end": End, "pageup": PageUp, "pagedown": PageDown,
	"left": Left, "right": Right, "up": Up, "down": Down,
}

var nameOf = func() map[Code]string {
	names := make(map[Code]string, len(named))
	for name, code := range named {
		names[code] = name
	}
	return names
}()

// Names returns the names of the keys that are not named by what they type.
func Names() []string {
	var names []string
	for code := Ctrl; code <= F24; code++ {
		names = append(names, Key{Code: code}.String())
	}
	return names
}

// Key is one key of a keyboard.
type Key struct {
	Code Code
	Rune rune // what a Character key types; 0 for all others
}

// Modifier says whether the key changes what others do while it is down.
func (k Key) Modifier() bool {
	return k.Code == Ctrl || k.Code == Shift || k.Code == Alt || k.Code == Win
}

// String is the key's name as Parse reads it.
func (k Key) String() string {
	switch {
	case k.Code == Character:
		return string(k.Rune)
	case k.Code >= F1 && k.Code <= F24:
		return "f" + strconv.Itoa(int(k.Code-F1)+1)
	default:
		return nameOf[k.Code]
	}
}

// Parse reads one name: a single character, to the letter, or a key's name,
// ignoring case. A blank is the space key. ErrUnknown says there is none.
func Parse(name string) (Key, error) {
	if r, size := utf8.DecodeRuneInString(name); size > 0 && size == len(name) {
		return character(r, name)
	}
	lower := strings.ToLower(name)
	if code, ok := named[lower]; ok {
		return Key{Code: code}, nil
	}
	if digits, ok := strings.CutPrefix(lower, "f"); ok {
		n, err := strconv.Atoi(digits)
		if err == nil && n >= 1 && n <= 24 && strconv.Itoa(n) == digits {
			return Key{Code: F1 + Code(n-1)}, nil
		}
	}
	return Key{}, fmt.Errorf("%q: %w", name, ErrUnknown)
}

func character(r rune, name string) (Key, error) {
	switch {
	case r == ' ':
		return Key{Code: Space}, nil
	case r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.IsMark(r):
		return Key{}, fmt.Errorf("%q: %w", name, ErrUnknown)
	}
	return Key{Code: Character, Rune: r}, nil
}

// ParseAll reads the names of a combo in order. It fails on an unknown name and
// on a key that is named twice (ErrRepeated).
func ParseAll(names []string) ([]Key, error) {
	keys := make([]Key, 0, len(names))
	seen := make(map[Key]bool, len(names))
	for _, name := range names {
		key, err := Parse(name)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, fmt.Errorf("%q: %w", name, ErrRepeated)
		}
		seen[key] = true
		keys = append(keys, key)
	}
	return keys, nil
}
