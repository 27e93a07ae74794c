package winapi

import (
	"errors"
	"fmt"
	"image"
	"sync"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var procGetUserDefaultUILanguage = kernel32.NewProc("GetUserDefaultUILanguage")

// Messages to the threads of a Loop: WM_APP of winuser.h and after.
const (
	wmPosted = 0x8000 + iota // something is in the queue
	wmTray                   // something happened at the icon
)

// Loop is two threads with message loops. The notice, the outline and the icon of the
// notification area live on one: Windows serves a window on the thread that made it. The
// low-level hooks live on the other, watch. Its methods may be called from any goroutine
// but not from a hook; each waits for its thread for at most 2 s, and is then an ErrHung.
type Loop struct {
	*errands
	watch *watch

	// Of the thread of the windows.
	hidden  win.HWND // takes what is posted, owns the menu
	notice  win.HWND
	bars    [4]win.HWND
	page    Page
	colour  uint32
	tray    trayIcon
	unseen  bool   // pictures don't show the windows
	created uint32 // the message that a new taskbar sends to all
}

// StartLoop starts the threads and makes the windows; nothing shows yet.
func StartLoop() (*Loop, error) {
	l := &Loop{errands: newErrands("the thread of the notices")}
	l.wake = func() { win.PostMessage(l.hidden, wmPosted, 0, 0) }
	if err := l.begin(l.serve); err != nil {
		return nil, fmt.Errorf("make the windows of the notices: %w", err)
	}
	var err error
	if l.watch, err = startWatch(); err != nil {
		return nil, errors.Join(err, l.closeWindows())
	}
	return l, nil
}

// serve is the thread of the windows.
func (l *Loop) serve(made chan<- error) {
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

// Close takes everything away, the hooks first, and ends the threads.
func (l *Loop) Close() error { return errors.Join(l.watch.close(), l.closeWindows()) }

func (l *Loop) closeWindows() error {
	return l.end(func() {
		l.removeTray()
		ask(procEndMenu)
		for _, h := range l.windows() {
			win.DestroyWindow(h)
		}
		win.PostQuitMessage(0)
	})
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
