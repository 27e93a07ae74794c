package winapi

import (
	"image"
	"unsafe"
)

// Device is what an input event comes from.
type Device int

// The devices.
const (
	Keyboard Device = iota + 1
	Mouse
)

// Seen is an input event as a low-level hook sees it, before any window does.
type Seen struct {
	Device Device
	Own    bool   // it carries the Tag: the agent sent it
	Time   uint32 // milliseconds since Windows began, as LastInput counts them; it wraps
	Up     bool   // a key or button goes up
	// Of a key.
	Key  uint16 // virtual-key code, of the left or right one where there are two
	Scan uint16 // scan code
	// Of the mouse.
	Moved bool        // the pointer moves; else it is a button or the wheel
	At    image.Point // where the pointer will be; it may lie beyond the screen
}

// FakeCtrlScan is the scan code of the left ctrl that Windows makes before each AltGr, up
// and down, on layouts that have one: nobody pressed it. Microsoft does not document it;
// AutoHotkey (SC_FAKE_LCTRL) and Keyman know it by this number. It comes before the right
// alt and without that one's dwExtraInfo, so that it is never Own.
const FakeCtrlScan = 0x21D

// FakeCtrl says whether the event is that of the ctrl that Windows makes for AltGr.
func (s Seen) FakeCtrl() bool {
	return s.Device == Keyboard && s.Scan == FakeCtrlScan && s.Key != vkPacket // whose scan code is a character
}

// keyHook is KBDLLHOOKSTRUCT of winuser.h.
type keyHook struct {
	vk, scan, flags, time uint32
	extra                 uintptr
}

// mouseHook is MSLLHOOKSTRUCT of winuser.h.
type mouseHook struct {
	at            point
	data, _, time uint32
	extra         uintptr
}

const word = unsafe.Sizeof(uintptr(0))

// An index out of range here is a struct that would be misread.
var (
	_ = [1]byte{}[unsafe.Sizeof(keyHook{})-(16+word)]
	_ = [1]byte{}[unsafe.Offsetof(keyHook{}.extra)-16]
	_ = [1]byte{}[unsafe.Sizeof(mouseHook{})-(16+2*word)]
	_ = [1]byte{}[unsafe.Offsetof(mouseHook{}.time)-16]
	_ = [1]byte{}[unsafe.Offsetof(mouseHook{}.extra)-(16+word)]
)

// What a low-level hook is set and called with: WM_…, LLKHF_UP, HC_ACTION, WH_… of
// winuser.h.
const (
	wmKeyUp      = 0x0101
	wmSysKeyUp   = 0x0105
	wmMouseMove  = 0x0200
	wmLButtonUp  = 0x0202
	wmRButtonUp  = 0x0205
	wmMButtonUp  = 0x0208
	wmXButtonUp  = 0x020C
	llkhfUp      = 0x80
	tagged       = uintptr(Tag)
	hookAction   = 0 // HC_ACTION
	hookKeyboard = 13
	hookMouse    = 14
	vkPacket     = 0xE7 // VK_PACKET: a character by KeyUnicode
)

// seen reads what a keyboard hook is given.
func (k *keyHook) seen(message uintptr) Seen {
	up := message == wmKeyUp || message == wmSysKeyUp || k.flags&llkhfUp != 0
	return Seen{
		Device: Keyboard, Own: k.extra == tagged, Time: k.time, Up: up,
		Key: uint16(k.vk), Scan: uint16(k.scan),
	}
}

// seen reads what a mouse hook is given.
func (m *mouseHook) seen(message uintptr) Seen {
	up := message == wmLButtonUp || message == wmRButtonUp || message == wmMButtonUp || message == wmXButtonUp
	return Seen{
		Device: Mouse, Own: m.extra == tagged, Time: m.time, Up: up,
		Moved: message == wmMouseMove, At: image.Pt(int(m.at.x), int(m.at.y)),
	}
}
