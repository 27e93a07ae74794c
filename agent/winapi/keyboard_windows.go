package winapi

import (
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procVkKeyScanEx         = user32.NewProc("VkKeyScanExW")
	procMapVirtualKeyEx     = user32.NewProc("MapVirtualKeyExW")
	procSendMessageTimeout  = user32.NewProc("SendMessageTimeoutW")
	procImmGetDefaultIMEWnd = imm32.NewProc("ImmGetDefaultIMEWnd")
)

// Ways of MapVirtualKeyEx: MAPVK_… of winuser.h.
const (
	mapToChar         = 2
	mapToExtendedScan = 4
)

// keepState tells ToUnicodeEx to leave the keyboard's state as it is, so that asking
// for a dead key does not press it. Windows has it since 10 version 1607.
const keepState = 4

// Layout is the keyboard layout of the thread that a window's keys go to: that of the
// window with the focus in it. A console has the one of its input method's window,
// since its own thread belongs to a program that sees no keys.
func (System) Layout(w HWND) HKL {
	thread := threadOf(w)
	info := windows.GUIThreadInfo{Size: uint32(unsafe.Sizeof(windows.GUIThreadInfo{}))}
	if thread != 0 && windows.GetGUIThreadInfo(thread, &info) == nil && info.Focus != 0 {
		thread = threadOf(HWND(info.Focus))
	}
	for _, t := range []uint32{thread, threadOf(imeOf(w)), 0} {
		if layout := windows.GetKeyboardLayout(t); layout != 0 {
			return HKL(layout)
		}
	}
	return 0
}

// KeyOf says where a character lies on a layout. False: on no key, or on one that
// needs more than shift, ctrl and alt.
func (System) KeyOf(r rune, layout HKL) (Key, bool) {
	if r <= 0 || r > 0xffff {
		return Key{}, false
	}
	k, ok := keyOf(uint16(ask(procVkKeyScanEx, uintptr(r), uintptr(layout))))
	if !ok {
		return Key{}, false
	}
	unshifted := uint32(ask(procMapVirtualKeyEx, uintptr(k.VK), mapToChar, uintptr(layout)))
	scan := uint32(ask(procMapVirtualKeyEx, uintptr(k.VK), mapToExtendedScan, uintptr(layout)))
	state := keyboardState(k)
	var chars [8]uint16
	n := windows.ToUnicodeEx(uint32(k.VK), scan, &state[0], &chars[0], int32(len(chars)), keepState, windows.Handle(layout))
	k.Dead = isDead(k, unshifted, n)
	return k, true
}

// ScanCode is a key's scan code on a layout, 0 if it has none. Extended says that it
// is one of the keys that are told apart by KeyExtended.
func (System) ScanCode(vk uint16, layout HKL) (scan uint16, extended bool) {
	return scanOf(vk, uint32(ask(procMapVirtualKeyEx, uintptr(vk), mapToExtendedScan, uintptr(layout))))
}

// Toggled says whether a lock key, such as caps lock, is on. Windows keeps that for each
// thread apart, as of the messages that it has read (Microsoft, of GetKeyState), and
// GetAsyncKeyState does not know it. So it is not for whatever thread Go happens to run
// on, but for one that is never in front and has read all that it got, which is how
// AutoHotkey gets it right (ToggleKeyState): in a thread that waits with a key unread the
// key is as it was before, and in a new one of Wine 8 it is off.
func (System) Toggled(vk uint16) bool {
	on := make(chan bool, 1)
	lockKeys() <- lockKey{vk, on}
	return <-on
}

// lockKey is the question whether a key is on.
type lockKey struct {
	vk uint16
	on chan<- bool
}

// lockKeys starts the thread that knows the lock keys, once. It has no window, and ends
// with the process.
var lockKeys = sync.OnceValue(func() chan<- lockKey {
	questions := make(chan lockKey)
	go func() {
		runtime.LockOSThread()
		m := unmoved[win.MSG]()
		for q := range questions {
			for win.PeekMessage(m, 0, 0, 0, win.PM_REMOVE) {
			}
			q.on <- win.GetKeyState(int32(q.vk))&1 != 0
		}
	}()
	return questions
})

// Messages to an input method's window: imm.h and ime.h.
const (
	wmIMEControl         = 0x0283
	imcGetConversionMode = 0x0001
	imcGetOpenStatus     = 0x0005
	imeNative            = 0x0001
	imeFullShape         = 0x0008
)

// IMEOpen says whether an input method takes what is typed into a window: it is open
// and turns Latin letters into others. False also when its window does not answer
// within 100 ms.
func (System) IMEOpen(w HWND) bool {
	ime := imeOf(w)
	if ime == 0 {
		return false
	}
	const bound = 100 * time.Millisecond
	open, answered := sendTo(ime, wmIMEControl, imcGetOpenStatus, 0, bound)
	if !answered || open == 0 {
		return false
	}
	mode, answered := sendTo(ime, wmIMEControl, imcGetConversionMode, 0, bound)
	return answered && mode&(imeNative|imeFullShape) != 0
}

// imeOf is the window of the input method that serves a window; 0: none.
func imeOf(w HWND) HWND { return HWND(ask(procImmGetDefaultIMEWnd, uintptr(w))) }

func threadOf(w HWND) uint32 {
	thread, _ := windows.GetWindowThreadProcessId(windows.HWND(w), nil)
	return thread
}

// Flags of SendMessageTimeout: SMTO_… of winuser.h.
const (
	smtoBlock       = 0x0001
	smtoAbortIfHung = 0x0002
)

// sendTo asks a window and waits for at most bound. False: it did not answer.
func sendTo(w HWND, message uint32, wparam, lparam uintptr, bound time.Duration) (uintptr, bool) {
	var result uintptr
	_, err := try(procSendMessageTimeout, uintptr(w), uintptr(message), wparam, lparam,
		smtoBlock|smtoAbortIfHung, uintptr(bound.Milliseconds()), uintptr(unsafe.Pointer(&result)))
	return result, err == nil
}

// answers says whether a window's program takes messages.
func answers(w HWND) bool {
	const wmNull = 0
	_, ok := sendTo(w, wmNull, 0, 0, 300*time.Millisecond)
	return ok
}
