package winapi

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procSetWindowsHookEx    = user32.NewProc("SetWindowsHookExW")
	procUnhookWindowsHookEx = user32.NewProc("UnhookWindowsHookEx")
	procCallNextHookEx      = user32.NewProc("CallNextHookEx")
	procPostThreadMessage   = user32.NewProc("PostThreadMessageW")
	procGetLastInputInfo    = user32.NewProc("GetLastInputInfo")
)

// hooks are those of keyboard and mouse; 0: there is none.
type hooks struct{ keyboard, mouse uintptr }

// watcher is what the hooks call: a low-level hook is told nothing of who set it, so a
// process has one watcher.
var watcher atomic.Pointer[func(Seen) bool]

// watch is the thread of the low-level hooks, with nothing else on it. Windows calls a hook
// by a message to the thread that set it, and lets no input on meanwhile; a thread that
// is in some call that waits for others, as Shell_NotifyIcon waits some seconds for
// Explorer, would hold up the mouse of the whole desktop, and lose the hooks
// (LowLevelHooksTimeout).
type watch struct {
	*errands
	id    uint32 // Windows's number of the thread
	hooks hooks
}

func startWatch() (*watch, error) {
	w := &watch{errands: newErrands("the thread of the hooks")}
	w.wake = func() { ask(procPostThreadMessage, uintptr(w.id), wmPosted, 0, 0) }
	if err := w.begin(w.serve); err != nil {
		return nil, fmt.Errorf("start %s: %w", w.thread, err)
	}
	return w, nil
}

// serve is the thread. It has no window: what is posted is for the thread itself.
func (w *watch) serve(made chan<- error) {
	m := unmoved[win.MSG]()
	win.PeekMessage(m, 0, 0, 0, win.PM_NOREMOVE) // before it there is no queue to post to
	w.id = windows.GetCurrentThreadId()
	made <- nil
	for win.GetMessage(m, 0, 0, 0) > 0 {
		if m.Message == wmPosted {
			w.work()
		}
	}
}

// Hook sets the low-level hooks of keyboard and mouse and has them call see with every
// input event of the session, on a thread of their own and before any window gets it. True
// keeps the event from all others. See must return at once: while it runs no key
// arrives anywhere, and Windows takes a slow hook away without a word. Set again, new
// hooks come before the old ones go, so that nothing is missed.
func (l *Loop) Hook(see func(Seen) bool) error {
	var err error
	late := l.watch.run(func() {
		watcher.Store(&see)
		err = l.watch.hook()
	})
	if late != nil {
		return late
	}
	return err
}

func (w *watch) hook() error {
	module := uintptr(win.GetModuleHandle(nil))
	keyboard, err := try(procSetWindowsHookEx, hookKeyboard, keyboardCallback(), module, 0)
	if err != nil {
		return fmt.Errorf("watch the keyboard: %w", err)
	}
	mouse, err := try(procSetWindowsHookEx, hookMouse, mouseCallback(), module, 0)
	if err != nil {
		ask(procUnhookWindowsHookEx, keyboard)
		return fmt.Errorf("watch the mouse: %w", err)
	}
	w.removeHooks()
	w.hooks = hooks{keyboard: keyboard, mouse: mouse}
	return nil
}

func (w *watch) removeHooks() {
	for _, h := range []uintptr{w.hooks.keyboard, w.hooks.mouse} {
		if h != 0 {
			ask(procUnhookWindowsHookEx, h)
		}
	}
	w.hooks = hooks{}
}

// close takes the hooks away and ends the thread.
func (w *watch) close() error {
	return w.end(func() {
		w.removeHooks()
		watcher.Store(nil)
		win.PostQuitMessage(0)
	})
}

var keyboardCallback = sync.OnceValue(func() uintptr {
	return windows.NewCallback(func(code, message, event uintptr) uintptr {
		see := watcher.Load()
		if int32(code) == hookAction && see != nil && (*see)((*(**keyHook)(unsafe.Pointer(&event))).seen(message)) {
			return 1
		}
		return ask(procCallNextHookEx, 0, code, message, event)
	})
})

var mouseCallback = sync.OnceValue(func() uintptr {
	return windows.NewCallback(func(code, message, event uintptr) uintptr {
		see := watcher.Load()
		if int32(code) == hookAction && see != nil && (*see)((*(**mouseHook)(unsafe.Pointer(&event))).seen(message)) {
			return 1
		}
		return ask(procCallNextHookEx, 0, code, message, event)
	})
})

// lastInputInfo is LASTINPUTINFO of winuser.h.
type lastInputInfo struct{ size, time uint32 }

// LastInput is when the session got its last input event, whosever it was, in
// milliseconds since Windows began; it wraps.
func (*Loop) LastInput() (uint32, error) {
	info := lastInputInfo{size: uint32(unsafe.Sizeof(lastInputInfo{}))}
	if _, err := try(procGetLastInputInfo, uintptr(unsafe.Pointer(&info))); err != nil {
		return 0, err
	}
	return info.time, nil
}

// Pressed says whether a key is down, as Windows holds it.
func (*Loop) Pressed(vk uint16) bool { return System{}.Pressed(vk) }
