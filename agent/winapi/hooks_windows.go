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
)

// hooks are those of keyboard and mouse; 0: there is none.
type hooks struct{ keyboard, mouse uintptr }

// watcher is what the hooks call: a low-level hook is told nothing of who set it, so a
// process has one watcher.
var watcher atomic.Pointer[func(Seen) bool]

// Hook sets the low-level hooks of keyboard and mouse and has them call see with every
// input event of the session, on the Loop's thread and before any window gets it. True
// keeps the event from all others. See must return at once: while it runs no key
// arrives anywhere, and Windows takes a slow hook away without a word. Set again, new
// hooks come before the old ones go, so that nothing is missed.
func (l *Loop) Hook(see func(Seen) bool) error {
	var err error
	late := l.run(func() {
		watcher.Store(&see)
		err = l.hook()
	})
	if late != nil {
		return late
	}
	return err
}

func (l *Loop) hook() error {
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
	l.removeHooks()
	l.hooks = hooks{keyboard: keyboard, mouse: mouse}
	return nil
}

func (l *Loop) unhook() {
	l.removeHooks()
	watcher.Store(nil)
}

func (l *Loop) removeHooks() {
	for _, h := range []uintptr{l.hooks.keyboard, l.hooks.mouse} {
		if h != 0 {
			ask(procUnhookWindowsHookEx, h)
		}
	}
	l.hooks = hooks{}
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
