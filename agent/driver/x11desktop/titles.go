package x11desktop

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jezek/xgb/xproto"
)

// latin1 decodes the X type STRING.
func latin1(b []byte) string {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

// toLatin1 encodes text as STRING. It says false if it has other characters.
func toLatin1(text string) ([]byte, bool) {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return nil, false
		}
		b = append(b, byte(r))
	}
	return b, true
}

// decodeText decodes a text property by its type; what is not declared as UTF-8
// and is not valid as such is Latin-1.
func decodeText(value []byte, isLatin1 bool) string {
	value = bytes.TrimRight(value, "\x00")
	if isLatin1 || !utf8.Valid(value) {
		return latin1(value)
	}
	return string(value)
}

// decodeClass takes the class out of WM_CLASS, which holds instance and class.
func decodeClass(value []byte) string {
	_, class, _ := bytes.Cut(value, []byte{0})
	return latin1(bytes.TrimRight(class, "\x00"))
}

// windowID is a window's id as xwininfo and others print it.
func windowID(w xproto.Window) string { return "0x" + strconv.FormatUint(uint64(w), 16) }

func parseWindowID(id string) (xproto.Window, bool) {
	base := 10
	digits, hex := strings.CutPrefix(id, "0x")
	if hex {
		base = 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return xproto.Window(n), err == nil
}
