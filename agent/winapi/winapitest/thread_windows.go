package winapitest

import (
	"image"
	"runtime"
	"testing"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

// onThread runs a window on a thread of its own, and returns when it is made. What it
// returns is closed when the window is gone.
func onThread(t testing.TB, title string, run func(made chan<- error)) (ended <-chan struct{}) {
	t.Helper()
	made, over := make(chan error), make(chan struct{})
	go func() {
		defer close(over)
		runtime.LockOSThread() // and never unlocked: the thread ends with its window
		run(made)
	}()
	if err := <-made; err != nil {
		t.Fatalf("open the window %s: %v", title, err)
	}
	return over
}

// create makes a window that is not shown yet.
func create(class *uint16, title string, style uint32, bounds image.Rectangle) (win.HWND, error) {
	name, err := windows.UTF16PtrFromString(title)
	if err != nil {
		return 0, err
	}
	h := win.CreateWindowEx(0, class, name, style, int32(bounds.Min.X), int32(bounds.Min.Y),
		int32(bounds.Dx()), int32(bounds.Dy()), 0, 0, win.GetModuleHandle(nil), nil)
	if h == 0 {
		return 0, windows.GetLastError()
	}
	return h, nil
}

// serve serves a window until it is closed.
func serve(h win.HWND) {
	m := unmoved[win.MSG]()
	for windows.IsWindow(windows.HWND(h)) && win.GetMessage(m, 0, 0, 0) > 0 {
		win.TranslateMessage(m)
		win.DispatchMessage(m)
	}
}

// unmoved is a value for a call that may call back into Go, as those do that serve
// windows: the stack then may grow and move, and Windows would fill in the place where
// the value was.
//
//go:noinline
func unmoved[T any]() *T { return new(T) }

// awaitFront waits until a window is in front and X has told of its keyboard.
func awaitFront(t testing.TB, title string, h win.HWND) {
	t.Helper()
	Await(t, "the window "+title+" is in front", func() bool {
		if win.GetForegroundWindow() == h {
			return true
		}
		win.SetForegroundWindow(h)
		return false
	})
	settle(t)
}

// finish closes a window and waits until it is gone.
func finish(h win.HWND, ended <-chan struct{}) {
	win.PostMessage(h, win.WM_CLOSE, 0, 0)
	<-ended
}
