package winapi

import (
	"errors"
	"strings"
	"unicode/utf16"
)

// clipboardUnits is a text as CF_UNICODETEXT holds it, with the NUL that ends it. A
// NUL within would cut it off.
func clipboardUnits(text string) ([]uint16, error) {
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("a text for the clipboard holds a NUL")
	}
	return append(utf16.Encode([]rune(text)), 0), nil
}

// textOf is the text in units of UTF-16: up to the first NUL, or to the end where a
// program forgot it.
func textOf(units []uint16) string {
	for i, u := range units {
		if u == 0 {
			return string(utf16.Decode(units[:i]))
		}
	}
	return string(utf16.Decode(units))
}
