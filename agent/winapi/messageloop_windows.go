package winapi

import (
	"errors"
	"fmt"
	"image"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procGetUserDefaultUILanguage = kernel32.NewProc("GetUserDefaultUILanguage")
	procGetLastInputInfo         = user32.NewProc("GetLastInputInfo")
)

// Messages to the hidden window of a Loop: WM_APP of winuser.h and after.
const (
	wmPosted = 0x8000 + iota // something is in the queue
	wmTray                   // something happened at the icon
)

// loopPatience is how long a Loop's thread has for what is asked of it.
const loopPatience = 2 * time.Second

// errLoopEnded says that the thread is gone.
var errLoopEnded = errors.New("the thread of the notices has ended")

// Loop is one thread with a message loop. The low-level hooks, the notice, the outline
// and the icon of the notification area live on it: Windows calls a hook, and serves a
// window, on the thread that made it. Its methods may be called from any goroutine but
// not from a hook; each waits for the thread for at most 2 s, and is then an ErrHung.
type Loop struct {
	ended chan struct{}

	mu    sync.Mutex
	queue []func()
	over  bool

	// Of the thread.
	hidden  win.HWND // takes what is posted, owns the menu
	notice  win.HWND
	bars    [4]win.HWND
	hooks   hooks
	page    Page
	colour  uint32
	tray    trayIcon
	unseen  bool   // pictures don't show the windows
	created uint32 // the message that a new taskbar sends to all
}

// StartLoop starts the thread and makes its windows; nothing shows yet.
func StartLoop() (*Loop, error) {
	l := &Loop{ended: make(chan struct{})}
	made := make(chan error, 1)
	go l.serve(made)
	bound := time.NewTimer(10 * time.Second)
	defer bound.Stop()
	select {
	case err := <-made:
		if err != nil {
			return nil, fmt.Errorf("make the windows of the notices: %w", err)
		}
		return l, nil
	case <-bound.C:
		return nil, fmt.Errorf("make the windows of the notices: %w", ErrHung)
	}
}

// serve is the thread. It is never unlocked, so that the thread of the system, and what
// Windows keeps for it, end with it.
func (l *Loop) serve(made chan<- error) {
	runtime.LockOSThread()
	defer close(l.ended)
	err := l.make()
	made <- err
	if err != nil {
		return
	}
	m := unmoved[win.MSG]()
	for win.GetMessage(m, 0, 0, 0) > 0 {
		win.TranslateMessage(m)
		win.DispatchMessage(m)
	}
	for _, h := range l.windows() {
		loops.Delete(h)
	}
}

func (l *Loop) windows() []win.HWND { return append(l.bars[:], l.notice, l.hidden) }

// unmoved is a value for a call that may call back into Go: the stack may then grow and
// move, and Windows would fill in the place where the value was.
//
//go:noinline
func unmoved[T any]() *T { return new(T) }

// run has the thread do something and waits until it is done.
func (l *Loop) run(f func()) error {
	done := make(chan struct{})
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return errLoopEnded
	}
	l.queue = append(l.queue, func() { defer close(done); f() })
	l.mu.Unlock()
	win.PostMessage(l.hidden, wmPosted, 0, 0)
	bound := time.NewTimer(loopPatience)
	defer bound.Stop()
	select {
	case <-done:
		return nil
	case <-l.ended:
		return errLoopEnded
	case <-bound.C:
		return fmt.Errorf("the thread of the notices: %w", ErrHung)
	}
}

// work does what is in the queue. It is called by the thread, also from within a menu
// that is open.
func (l *Loop) work() {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.mu.Unlock()
			return
		}
		next := l.queue[0]
		l.queue = l.queue[1:]
		l.mu.Unlock()
		next()
	}
}

// Close takes everything away, the hooks first, and ends the thread.
func (l *Loop) Close() error {
	err := l.run(func() {
		l.unhook()
		l.removeTray()
		ask(procEndMenu)
		for _, h := range l.windows() {
			win.DestroyWindow(h)
		}
		win.PostQuitMessage(0)
	})
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	if errors.Is(err, errLoopEnded) {
		return nil
	}
	return err
}

// Class is the class of all windows of the thread; no other process has windows of it.
func (*Loop) Class() string { return loopName() }

// loops are the Loops by their windows that are told something.
var loops sync.Map

var loopProcedure = sync.OnceValue(func() uintptr {
	return windows.NewCallback(func(h win.HWND, message uint32, wparam, lparam uintptr) uintptr {
		found, known := loops.Load(h)
		if !known {
			return win.DefWindowProc(h, message, wparam, lparam)
		}
		return found.(*Loop).told(h, message, wparam, lparam)
	})
})

// loopName is the name of the class of this process's windows.
func loopName() string { return fmt.Sprintf("RepriseAgent-%x", windows.GetCurrentProcessId()) }

// loopClass registers the class; a process does so once.
var loopClass = sync.OnceValues(func() (*uint16, error) {
	class, err := windows.UTF16PtrFromString(loopName())
	if err != nil {
		return nil, err
	}
	wc := win.WNDCLASSEX{
		LpfnWndProc: loopProcedure(), HInstance: win.GetModuleHandle(nil),
		HCursor: win.LoadCursor(0, win.MAKEINTRESOURCE(win.IDC_ARROW)), LpszClassName: class,
	}
	wc.CbSize = uint32(unsafe.Sizeof(wc))
	if win.RegisterClassEx(&wc) == 0 {
		return nil, failure("RegisterClassEx", windows.GetLastError())
	}
	return class, nil
})

func (l *Loop) told(h win.HWND, message uint32, wparam, lparam uintptr) uintptr {
	const taken, maNoActivate, htTransparent = 0, 3, ^uintptr(0)
	switch {
	case message == wmPosted:
		l.work()
		return taken
	case message == wmTray:
		l.trayTold(lparam)
		return taken
	case message == l.created && message != 0:
		l.readdTray()
		return taken
	case message == win.WM_PAINT && h == l.notice:
		l.paintNotice()
		return taken
	case message == win.WM_ERASEBKGND && h != l.hidden:
		l.erase(h, win.HDC(wparam))
		return 1
	case message == win.WM_MOUSEACTIVATE:
		return maNoActivate
	case message == win.WM_NCHITTEST && h != l.hidden:
		return htTransparent
	}
	return win.DefWindowProc(h, message, wparam, lparam)
}

// make makes the windows.
func (l *Loop) make() error {
	class, err := loopClass()
	if err != nil {
		return err
	}
	const quiet = win.WS_EX_LAYERED | win.WS_EX_TRANSPARENT | win.WS_EX_TOPMOST | win.WS_EX_NOACTIVATE | win.WS_EX_TOOLWINDOW
	if l.hidden, err = l.window(class, win.WS_EX_TOOLWINDOW|win.WS_EX_NOACTIVATE); err != nil {
		return err
	}
	if l.notice, err = l.window(class, quiet); err != nil {
		return err
	}
	for i := range l.bars {
		if l.bars[i], err = l.window(class, quiet); err != nil {
			return err
		}
	}
	l.unseen = l.keepOutOfPictures()
	taskbar, err := windows.UTF16PtrFromString("TaskbarCreated")
	if err != nil {
		return err
	}
	l.created = win.RegisterWindowMessage(taskbar)
	return nil
}

// window makes a window that is not shown.
func (l *Loop) window(class *uint16, extended uint32) (win.HWND, error) {
	h := win.CreateWindowEx(extended, class, nil, win.WS_POPUP, 0, 0, 1, 1, 0, 0, win.GetModuleHandle(nil), nil)
	if h == 0 {
		return 0, failure("CreateWindowEx", windows.GetLastError())
	}
	loops.Store(h, l)
	return h, nil
}

// WorkArea is the part of the primary monitor that no taskbar covers, and the
// monitor's resolution; 96 is 100 %.
func (*Loop) WorkArea() (image.Rectangle, int, error) {
	handles, err := monitorHandles()
	if err != nil {
		return image.Rectangle{}, 0, err
	}
	for _, h := range handles {
		info := emptyMonitor()
		if _, err := try(procGetMonitorInfo, h, uintptr(unsafe.Pointer(&info))); err != nil {
			return image.Rectangle{}, 0, err
		}
		if info.flags&primary != 0 {
			return info.work.rectangle(), dpiOf(h), nil
		}
	}
	return image.Rectangle{}, 0, errors.New("there is no primary monitor")
}

// Language is the primary language of the user's Windows: the low ten bits of its
// LANGID, LANG_… of winnt.h.
func (*Loop) Language() uint16 { return uint16(ask(procGetUserDefaultUILanguage)) & 0x3ff }

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
