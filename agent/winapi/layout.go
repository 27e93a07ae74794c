package winapi

import (
	"image"
	"unsafe"
)

// The structs that calls take are declared here and in no file of Windows alone, so
// that their layouts are proved by every build; layout_64bit.go and layout_386.go
// hold the numbers.

// mouseInput is MOUSEINPUT of winuser.h.
type mouseInput struct {
	dx, dy            int32
	data, flags, time uint32
	extra             uintptr
}

// keyInput is KEYBDINPUT of winuser.h.
type keyInput struct {
	vk, scan    uint16
	flags, time uint32
	extra       uintptr
}

// input is INPUT of winuser.h: a kind and a union, of which MOUSEINPUT is the
// largest. SendInput steps by its size, so that mouse and keys go in one call only
// when both are in this shape; lxn/win has one struct for each.
type input struct {
	kind  uint32
	mouse mouseInput
}

// Kinds of an input: INPUT_… of winuser.h.
const (
	kindMouse = 0
	kindKey   = 1
)

// key is the union as KEYBDINPUT.
func (in *input) key() *keyInput { return (*keyInput)(unsafe.Pointer(&in.mouse)) }

// point is POINT of windef.h.
type point struct{ x, y int32 }

// rect is RECT of windef.h.
type rect struct{ left, top, right, bottom int32 }

// monitorInfo is MONITORINFOEXW of winuser.h.
type monitorInfo struct {
	size          uint32
	monitor, work rect
	flags         uint32
	device        [32]uint16
}

// primary is MONITORINFOF_PRIMARY of winuser.h.
const primary = 1

// emptyMonitor is what GetMonitorInfo fills: it must say its own size.
func emptyMonitor() monitorInfo { return monitorInfo{size: uint32(unsafe.Sizeof(monitorInfo{}))} }

// asMonitor is the monitor that Windows describes.
func (m *monitorInfo) asMonitor(dpi int) Monitor {
	return Monitor{Bounds: m.monitor.rectangle(), DPI: dpi, Primary: m.flags&primary != 0, Name: textOf(m.device[:])}
}

func (r rect) rectangle() image.Rectangle {
	return image.Rect(int(r.left), int(r.top), int(r.right), int(r.bottom))
}

// sessionInfo is the beginning of WTSINFOEXW of wtsapi32.h, up to what is read of
// it. Its union holds LARGE_INTEGERs and so begins at 8, on 32-bit Windows too,
// where Go would align it to 4.
type sessionInfo struct {
	level   uint32
	_       uint32
	session uint32
	state   uint32
	flags   int32
}

// lock says what is known of the session's lock: a WTS_SESSIONSTATE_… of wtsapi32.h.
func (s *sessionInfo) lock() int32 {
	if s.level != 1 {
		return sessionUnknown
	}
	return s.flags
}

// layout is what the compiler made of the structs, in the order of the tables.
const (
	sizeOfInput       = unsafe.Sizeof(input{})
	offsetOfUnion     = unsafe.Offsetof(input{}.mouse)
	sizeOfMouse       = unsafe.Sizeof(mouseInput{})
	offsetOfMouseFlag = unsafe.Offsetof(mouseInput{}.flags)
	offsetOfMouseTag  = unsafe.Offsetof(mouseInput{}.extra)
	sizeOfKey         = unsafe.Sizeof(keyInput{})
	offsetOfKeyFlag   = unsafe.Offsetof(keyInput{}.flags)
	offsetOfKeyTag    = unsafe.Offsetof(keyInput{}.extra)
)

// These have one layout on every architecture. An index out of range here, or in the
// tables beside, is a struct that Windows would misread.
var (
	_ = [1]byte{}[unsafe.Sizeof(point{})-8]
	_ = [1]byte{}[unsafe.Sizeof(rect{})-16]
	_ = [1]byte{}[unsafe.Sizeof(monitorInfo{})-104]
	_ = [1]byte{}[unsafe.Offsetof(monitorInfo{}.work)-20]
	_ = [1]byte{}[unsafe.Offsetof(monitorInfo{}.flags)-36]
	_ = [1]byte{}[unsafe.Offsetof(monitorInfo{}.device)-40]
	_ = [1]byte{}[unsafe.Offsetof(sessionInfo{}.session)-8]
	_ = [1]byte{}[unsafe.Offsetof(sessionInfo{}.state)-12]
	_ = [1]byte{}[unsafe.Offsetof(sessionInfo{}.flags)-16]
)

// byValue is a POINT as an argument that is passed by value: one register on 64-bit
// Windows, two words of the stack on 32-bit. lxn/win passes two registers on both,
// and the callee reads another point.
func (p point) byValue() []uintptr {
	if unsafe.Sizeof(uintptr(0)) == 8 {
		return []uintptr{uintptr(uint64(uint32(p.x)) | uint64(uint32(p.y))<<32)}
	}
	return []uintptr{uintptr(uint32(p.x)), uintptr(uint32(p.y))}
}
