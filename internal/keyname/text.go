package keyname

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// CheckText says whether a text can be typed: LF is the enter key and HT the tab
// key; any other control character, and what is not UTF-8, has no key on any
// desktop and is ErrUnknown. The error names the place, never the text.
func CheckText(text string) error {
	for at, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[at:]); size == 1 {
				return fmt.Errorf("byte %d is not UTF-8: %w", at, ErrUnknown)
			}
		}
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return fmt.Errorf("control character at byte %d: %w", at, ErrUnknown)
		}
	}
	return nil
}
