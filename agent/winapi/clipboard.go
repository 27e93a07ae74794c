package winapi

import (
	"errors"
	"strings"
	"unicode/utf16"
)

// The formats that keep a text out of clipboard histories, other machines and
// programs that watch; Microsoft documents them under "Clipboard Formats, Cloud
// Clipboard and Clipboard History Formats". Those with a value hold it as a DWORD;
// the first one works by being there.
const (
	formatExclude = "ExcludeClipboardContentFromMonitorProcessing"
	formatHistory = "CanIncludeInClipboardHistory"
	formatCloud   = "CanUploadToCloudClipboard"
)

// unseen are the formats beside a text.
var unseen = []string{formatExclude, formatHistory, formatCloud}

// clipboardUnits is a text as CF_UNICODETEXT holds it, with the NUL that ends it. A
// NUL within would cut it off.
func clipboardUnits(text string) ([]uint16, error) {
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("a text for the clipboard holds a NUL")
	}
	return append(utf16.Encode([]rune(text)), 0), nil
}

// clipboardString is the text in a memory block of CF_UNICODETEXT: up to the first
// NUL, or to the block's end where a program forgot it.
func clipboardString(units []uint16) string {
	for i, u := range units {
		if u == 0 {
			return string(utf16.Decode(units[:i]))
		}
	}
	return string(utf16.Decode(units))
}
