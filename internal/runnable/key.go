package runnable

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyNames are the schema's names of keys that type nothing.
var keyNames = []string{
	"ctrl", "shift", "alt", "win", "enter", "tab", "escape", "space", "backspace", "delete", "insert",
	"home", "end", "pageup", "pagedown", "left", "right", "up", "down",
}

const functionKeys = 24

// KeyNames returns the names of keys that a key combo takes beside characters.
func KeyNames() []string {
	names := slices.Clone(keyNames)
	for n := 1; n <= functionKeys; n++ {
		names = append(names, "f"+strconv.Itoa(n))
	}
	return names
}

// isKey says whether the schema has a key of this name: a character, or a
// name, ignoring case. Which of them a machine can press is the agent's to say.
func isKey(name string) bool {
	if r, size := utf8.DecodeRuneInString(name); size == len(name) {
		return r == ' ' || unicode.IsGraphic(r) && r != utf8.RuneError
	}
	lower := strings.ToLower(name)
	if digits, ok := strings.CutPrefix(lower, "f"); ok {
		n, err := strconv.Atoi(digits)
		return err == nil && n >= 1 && n <= functionKeys && strconv.Itoa(n) == digits
	}
	return slices.Contains(keyNames, lower)
}
