package windesktop

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// fakeKey is one key of a layout: what it types by itself, with shift, with AltGr; a
// blank is nothing. Dead are those of them that are dead there.
type fakeKey struct {
	scan, vk uint16
	types    string
	dead     string
}

// fakeLayout is a keyboard layout as Microsoft's layout tables have it.
type fakeLayout []fakeKey

// The OEM keys of winuser.h.
const (
	oem1, oemPlus, oemComma, oemMinus, oemPeriod, oem2, oem3 = 0xBA, 0xBB, 0xBC, 0xBD, 0xBE, 0xBF, 0xC0
	oem4, oem5, oem6, oem7, oem8, oem102                     = 0xDB, 0xDC, 0xDD, 0xDE, 0xDF, 0xE2
)

const (
	layoutUS winapi.HKL = iota + 1
	layoutUSIntl
	layoutFR
	layoutDE
)

var fakeLayouts = map[winapi.HKL]fakeLayout{
	layoutUS: letterKeys("qwertyuiop", "asdfghjkl", "zxcvbnm", nil,
		fakeKey{0x29, oem3, "`~", ""}, fakeKey{0x02, '1', "1!", ""}, fakeKey{0x03, '2', "2@", ""}, fakeKey{0x04, '3', "3#", ""},
		fakeKey{0x05, '4', "4$", ""}, fakeKey{0x06, '5', "5%", ""}, fakeKey{0x07, '6', "6^", ""}, fakeKey{0x08, '7', "7&", ""},
		fakeKey{0x09, '8', "8*", ""}, fakeKey{0x0A, '9', "9(", ""}, fakeKey{0x0B, '0', "0)", ""},
		fakeKey{0x0C, oemMinus, "-_", ""}, fakeKey{0x0D, oemPlus, "=+", ""}, fakeKey{0x1A, oem4, "[{", ""}, fakeKey{0x1B, oem6, "]}", ""},
		fakeKey{0x27, oem1, ";:", ""}, fakeKey{0x28, oem7, `'"`, ""}, fakeKey{0x2B, oem5, `\|`, ""},
		fakeKey{0x33, oemComma, ",<", ""}, fakeKey{0x34, oemPeriod, ".>", ""}, fakeKey{0x35, oem2, "/?", ""}),
	layoutUSIntl: letterKeys("qwertyuiop", "asdfghjkl", "zxcvbnm", map[rune]rune{'e': 'é', 'n': 'ñ', 's': 'ß', 'a': 'á'},
		fakeKey{0x29, oem3, "`~", "`~"}, fakeKey{0x02, '1', "1!¡", ""}, fakeKey{0x03, '2', "2@²", ""}, fakeKey{0x04, '3', "3#³", ""},
		fakeKey{0x05, '4', "4$¤", ""}, fakeKey{0x06, '5', "5%€", ""}, fakeKey{0x07, '6', "6^¼", "^"}, fakeKey{0x08, '7', "7&½", ""},
		fakeKey{0x09, '8', "8*¾", ""}, fakeKey{0x0A, '9', "9(‘", ""}, fakeKey{0x0B, '0', "0)’", ""},
		fakeKey{0x0C, oemMinus, "-_¥", ""}, fakeKey{0x0D, oemPlus, "=+×", ""}, fakeKey{0x1A, oem4, "[{«", ""}, fakeKey{0x1B, oem6, "]}»", ""},
		fakeKey{0x27, oem1, ";:¶", ""}, fakeKey{0x28, oem7, `'"´`, `'"`}, fakeKey{0x2B, oem5, `\|¬`, ""},
		fakeKey{0x33, oemComma, ",<ç", ""}, fakeKey{0x34, oemPeriod, ".>", ""}, fakeKey{0x35, oem2, "/?¿", ""}),
	layoutFR: letterKeys("azertyuiop", "qsdfghjklm", "wxcvbn", map[rune]rune{'e': '€'},
		fakeKey{0x29, oem7, "²", ""}, fakeKey{0x02, '1', "&1", ""}, fakeKey{0x03, '2', "é2~", "~"}, fakeKey{0x04, '3', `"3#`, ""},
		fakeKey{0x05, '4', "'4{", ""}, fakeKey{0x06, '5', "(5[", ""}, fakeKey{0x07, '6', "-6|", ""}, fakeKey{0x08, '7', "è7`", "`"},
		fakeKey{0x09, '8', `_8\`, ""}, fakeKey{0x0A, '9', "ç9^", ""}, fakeKey{0x0B, '0', "à0@", ""},
		fakeKey{0x0C, oem4, ")°]", ""}, fakeKey{0x0D, oemPlus, "=+}", ""}, fakeKey{0x1A, oem6, "^¨", "^¨"}, fakeKey{0x1B, oem1, "$£¤", ""},
		fakeKey{0x28, oem3, "ù%", ""}, fakeKey{0x2B, oem5, "*µ", ""}, fakeKey{0x56, oem102, "<>", ""},
		fakeKey{0x32, oemComma, ",?", ""}, fakeKey{0x33, oemPeriod, ";.", ""}, fakeKey{0x34, oem2, ":/", ""}, fakeKey{0x35, oem8, "!§", ""}),
	layoutDE: letterKeys("qwertzuiop", "asdfghjkl", "yxcvbnm", map[rune]rune{'q': '@', 'e': '€', 'm': 'µ'},
		fakeKey{0x29, oem5, "^°", "^"}, fakeKey{0x02, '1', "1!", ""}, fakeKey{0x03, '2', `2"²`, ""}, fakeKey{0x04, '3', "3§³", ""},
		fakeKey{0x05, '4', "4$", ""}, fakeKey{0x06, '5', "5%", ""}, fakeKey{0x07, '6', "6&", ""}, fakeKey{0x08, '7', "7/{", ""},
		fakeKey{0x09, '8', "8([", ""}, fakeKey{0x0A, '9', "9)]", ""}, fakeKey{0x0B, '0', "0=}", ""},
		fakeKey{0x0C, oem4, `ß?\`, ""}, fakeKey{0x0D, oem6, "´`", "´`"}, fakeKey{0x1A, oem1, "üÜ", ""}, fakeKey{0x1B, oemPlus, "+*~", ""},
		fakeKey{0x27, oem3, "öÖ", ""}, fakeKey{0x28, oem7, "äÄ", ""}, fakeKey{0x2B, oem2, "#'", ""}, fakeKey{0x56, oem102, "<>|", ""},
		fakeKey{0x33, oemComma, ",;", ""}, fakeKey{0x34, oemPeriod, ".:", ""}, fakeKey{0x35, oemMinus, "-_", ""}),
}

// letterKeys are the three rows of letters, from the scan codes 0x10, 0x1E and 0x2C
// on, what some of them type with AltGr, and the other keys.
func letterKeys(upper, home, lower string, altGr map[rune]rune, others ...fakeKey) fakeLayout {
	layout := fakeLayout{{0x39, vkSpace, "  ", ""}}
	for first, row := range map[uint16]string{0x10: upper, 0x1E: home, 0x2C: lower} {
		for i, r := range row {
			types := string([]rune{r, unicode.ToUpper(r)})
			if third, ok := altGr[r]; ok {
				types += string(third)
			}
			layout = append(layout, fakeKey{first + uint16(i), uint16(unicode.ToUpper(r)), types, ""})
		}
	}
	return append(layout, others...)
}

// fakeScans are the keys that lie at one place on every keyboard. As Windows does,
// it says nothing of the extended bit of arrows and their neighbours.
var fakeScans = func() map[uint16]uint16 {
	scans := map[uint16]uint16{
		vkBack: 0x0E, vkTab: 0x0F, vkReturn: 0x1C, vkEscape: 0x01, vkSpace: 0x39, vkCapital: 0x3A,
		vkShift: 0x2A, vkControl: 0x1D, vkMenu: 0x38, vkLShift: 0x2A, vkRShift: 0x36,
		vkLControl: 0x1D, vkRControl: 0x1D, vkLMenu: 0x38, vkRMenu: 0x38, vkLWin: 0x5B, vkRWin: 0x5C,
		vkHome: 0x47, vkUp: 0x48, vkPrior: 0x49, vkLeft: 0x4B, vkRight: 0x4D, vkEnd: 0x4F, vkDown: 0x50, vkNext: 0x51,
		vkInsert: 0x52, vkDelete: 0x53, vkF1 + 10: 0x57, vkF1 + 11: 0x58, vkF1 + 23: 0x76,
	}
	for n := range uint16(10) {
		scans[vkF1+n] = 0x3B + n
	}
	for n := range uint16(11) { // F13 to F23
		scans[vkF1+12+n] = 0x64 + n
	}
	return scans
}()

func (l fakeLayout) keyOf(r rune) (winapi.Key, bool) {
	dead, found := winapi.Key{}, false
	for _, k := range l {
		level := slices.Index([]rune(k.types), r)
		if level < 0 || r == ' ' && k.vk != vkSpace {
			continue
		}
		at := winapi.Key{VK: k.vk, Shift: level == 1, Ctrl: level == 2, Alt: level == 2}
		if !strings.ContainsRune(k.dead, r) {
			return at, true
		}
		at.Dead = true
		dead, found = at, true
	}
	return dead, found
}

func (l fakeLayout) scanOf(vk uint16) uint16 {
	for _, k := range l {
		if k.vk == vk {
			return k.scan
		}
	}
	return fakeScans[vk]
}

// vkOf is the key of a scan code, as Windows translates a KeyScanCode event.
func (l fakeLayout) vkOf(scan uint16, extended bool) uint16 {
	for _, k := range l {
		if k.scan == scan && !extended {
			return k.vk
		}
	}
	for _, vk := range []uint16{vkRMenu, vkRControl, vkLMenu, vkLControl, vkLShift, vkRShift, vkReturn, vkTab, vkCapital} {
		if fakeScans[vk] == scan && isExtended(vk) == extended {
			return vk
		}
	}
	return 0
}

// types is what a key types at a level, from 0: "†" if it is dead there.
func (l fakeLayout) types(vk uint16, level int) string {
	for _, k := range l {
		if runes := []rune(k.types); k.vk == vk && level < len(runes) {
			if strings.ContainsRune(k.dead, runes[level]) {
				return "†"
			}
			return string(runes[level])
		}
	}
	return ""
}
