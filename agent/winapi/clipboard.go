package winapi

import (
	"encoding/binary"
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

// markBytes is a mark as it lies on the clipboard.
func markBytes(mark uint64) []byte { return binary.LittleEndian.AppendUint64(nil, mark) }

// markOf is the mark in a memory block, which may be larger than what was put there; 0:
// none.
func markOf(content []byte) uint64 {
	if len(content) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(content)
}
