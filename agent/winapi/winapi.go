// Package winapi calls Windows. It is the only room with unsafe, with lxn/win and
// with golang.org/x/sys/windows: what comes out of it are values of Go. It decides
// nothing; agent/driver/windesktop does.
//
// Its types are there on every system, so that what is decided by them can be
// tested everywhere; its calls are there on Windows alone. Names are those of
// Microsoft's headers where a value is one of theirs.
//
// Every place is in physical pixels of the virtual desktop, which is true once
// AwareOfDPI has been called and before any window is made.
package winapi

import (
	"errors"
	"image"
)

// HWND is a window.
type HWND uintptr

// HKL is a keyboard layout.
type HKL uintptr

// Event is one input event: a MouseEvent or a KeyEvent.
type Event interface{ event() }

// MouseEvent is MOUSEINPUT of winuser.h without the time, which Windows sets.
type MouseEvent struct {
	X, Y  int32 // with MouseAbsolute: 0 to 65535 across the virtual desktop
	Data  int32 // notches of the wheel times WheelDelta, or the X button
	Flags uint32
}

// KeyEvent is KEYBDINPUT of winuser.h without the time, which Windows sets.
type KeyEvent struct {
	Key   uint16 // virtual-key code; 0 with KeyUnicode
	Scan  uint16 // scan code; with KeyUnicode a UTF-16 unit
	Flags uint32
}

func (MouseEvent) event() {}
func (KeyEvent) event()   {}

// Tag is the dwExtraInfo of every input event that the agent sends. It tells its
// own input from a person's.
const Tag = 0x52505253 // "RPRS"

// Flags of a MouseEvent: MOUSEEVENTF_… of winuser.h.
const (
	MouseMove        = 0x0001
	MouseLeftDown    = 0x0002
	MouseLeftUp      = 0x0004
	MouseRightDown   = 0x0008
	MouseRightUp     = 0x0010
	MouseMiddleDown  = 0x0020
	MouseMiddleUp    = 0x0040
	MouseWheel       = 0x0800
	MouseHWheel      = 0x1000
	MouseVirtualDesk = 0x4000
	MouseAbsolute    = 0x8000
)

// WheelDelta is one notch of the wheel: WHEEL_DELTA.
const WheelDelta = 120

// Flags of a KeyEvent: KEYEVENTF_… of winuser.h.
const (
	KeyExtended = 0x0001
	KeyUp       = 0x0002
	KeyUnicode  = 0x0004
	KeyScanCode = 0x0008
)

// Key is where a character lies on a layout, as VkKeyScanEx says.
type Key struct {
	VK               uint16
	Shift, Ctrl, Alt bool // what must be down for it; Ctrl and Alt together are AltGr
	Dead             bool // a dead key: it types nothing by itself and changes what the next one types
}

// Monitor is one monitor.
type Monitor struct {
	Bounds  image.Rectangle
	DPI     int // 96 is 100 %
	Primary bool
	Name    string // such as \\.\DISPLAY1
}

// Window is one visible top-level window.
type Window struct {
	HWND    HWND
	Title   string
	Class   string
	Process string // name of its executable, such as notepad.exe; empty when not known
	PID     uint32
	Bounds  image.Rectangle // what a person sees of it, without the invisible border; empty for an icon
}

// Session says how the user's session stands: WTSQuerySessionInformation.
type Session struct {
	User         string // empty: nobody is logged on
	Locked       bool
	Disconnected bool // no screen shows it
}

// Errors that callers branch on. Each call wraps the system's own error as well.
var (
	// ErrBusy says that another program holds the clipboard.
	ErrBusy = errors.New("another program holds the clipboard")
	// ErrGone says that there is no such window any more.
	ErrGone = errors.New("the window is gone")
	// ErrHung says that the window's program does not answer.
	ErrHung = errors.New("the window does not answer")
	// ErrNotHere says that this Windows has no such call.
	ErrNotHere = errors.New("this Windows does not have the call")
)
