package winapi

// Virtual-key codes of winuser.h that are told apart here.
const (
	vkShift    = 0x10
	vkControl  = 0x11
	vkMenu     = 0x12
	vkPause    = 0x13
	vkSnapshot = 0x2C
)

// Modifiers in the high byte of VkKeyScanEx's answer.
const (
	scanShift = 1
	scanCtrl  = 2
	scanAlt   = 4
)

// keyOf reads the answer of VkKeyScanEx. False: the character is on no key, or on one
// that needs a state beyond shift, ctrl and alt, such as kana.
func keyOf(answer uint16) (Key, bool) {
	vk, state := answer&0xff, answer>>8
	if answer == 0xffff || vk == 0xff || vk == 0 || state&^(scanShift|scanCtrl|scanAlt) != 0 {
		return Key{}, false
	}
	return Key{VK: vk, Shift: state&scanShift != 0, Ctrl: state&scanCtrl != 0, Alt: state&scanAlt != 0}, true
}

// keyboardState is the keyboard with a key's modifiers down, as ToUnicodeEx takes it.
func keyboardState(k Key) (state [256]byte) {
	const down = 0x80
	for vk, held := range map[int]bool{vkShift: k.Shift, vkControl: k.Ctrl, vkMenu: k.Alt} {
		if held {
			state[vk] = down
		}
	}
	return state
}

// isDead says whether a key types nothing by itself. unshifted is MapVirtualKeyEx to
// a character, whose highest bit marks a dead key and which knows the key without
// modifiers alone; chars is what ToUnicodeEx answers for it with them, negative for a
// dead key, as the circumflex over the 6 of the US international layout.
func isDead(k Key, unshifted uint32, chars int32) bool {
	return chars < 0 || unshifted&0x80000000 != 0 && !k.Shift && !k.Ctrl && !k.Alt
}

// scanOf reads the answer of MapVirtualKeyEx to an extended scan code. That one names
// the key of the number pad where a key is there twice, and has odd codes for two
// keys that are more than one code on the wire; so what Microsoft documents as
// extended keys ("About Keyboard Input", Extended-Key Flag) is a table here.
func scanOf(vk uint16, answer uint32) (scan uint16, extended bool) {
	switch vk {
	case vkPause:
		return 0x45, false
	case vkSnapshot:
		return 0x37, true
	}
	return uint16(answer & 0xff), answer>>8&0xff == 0xe0 || isExtended(vk)
}

// isExtended says whether KeyExtended tells a key from its twin on the number pad or
// on the left side.
func isExtended(vk uint16) bool {
	switch vk {
	case 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, // page up and down, end, home, arrows
		0x2D, 0x2E, // insert, delete
		0x03, vkSnapshot, // break, print screen
		0x5B, 0x5C, 0x5D, // left and right Windows key, menu key
		0x6F, 0x90, // divide, num lock
		0xA3, 0xA5: // right ctrl, right alt
		return true
	}
	return false
}
