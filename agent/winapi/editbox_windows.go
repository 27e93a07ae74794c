package winapi

import (
	"fmt"
	"image"
	"runtime"
	"strings"
	"time"
	"unicode/utf16"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

// EditBox is a window of this process into which can be typed, and which says what
// arrived. Its methods may be called from any goroutine.
type EditBox struct {
	hwnd  win.HWND
	ended chan struct{}
}

// EditBoxClass is the class of its window.
const EditBoxClass = "EDIT"

// editBoxPatience is how long the window may take to open and to close.
const editBoxPatience = 5 * time.Second

// OpenEditBox opens an empty one with the outer bounds and shows it, for Close.
func OpenEditBox(title string, bounds image.Rectangle) (*EditBox, error) {
	b := &EditBox{ended: make(chan struct{})}
	made := make(chan error, 1)
	go b.serve(title, bounds, made)
	bound := time.NewTimer(editBoxPatience)
	defer bound.Stop()
	select {
	case err := <-made:
		if err != nil {
			return nil, fmt.Errorf("open a window: %w", err)
		}
		return b, nil
	case <-bound.C:
		return nil, fmt.Errorf("open a window: %w", ErrHung)
	}
}

// serve is the window's thread, which is never unlocked and ends with it.
func (b *EditBox) serve(title string, bounds image.Rectangle, made chan<- error) {
	runtime.LockOSThread()
	defer close(b.ended)
	err := b.open(title, bounds)
	made <- err
	if err != nil {
		return
	}
	m := unmoved[win.MSG]()
	for windows.IsWindow(windows.HWND(b.hwnd)) && win.GetMessage(m, 0, 0, 0) > 0 {
		win.TranslateMessage(m)
		win.DispatchMessage(m)
	}
}

func (b *EditBox) open(title string, bounds image.Rectangle) error {
	class, err := windows.UTF16PtrFromString(EditBoxClass)
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(title)
	if err != nil {
		return err
	}
	const style = win.WS_OVERLAPPEDWINDOW | win.ES_MULTILINE | win.ES_WANTRETURN
	b.hwnd = win.CreateWindowEx(0, class, name, style, int32(bounds.Min.X), int32(bounds.Min.Y),
		int32(bounds.Dx()), int32(bounds.Dy()), 0, 0, win.GetModuleHandle(nil), nil)
	if b.hwnd == 0 {
		return failure("CreateWindowEx", windows.GetLastError())
	}
	var none uint16 // an edit control's title is its text as well
	win.SendMessage(b.hwnd, win.WM_SETTEXT, 0, uintptr(unsafe.Pointer(&none)))
	win.ShowWindow(b.hwnd, win.SW_SHOWNORMAL)
	win.UpdateWindow(b.hwnd)
	return nil
}

// Window is its handle.
func (b *EditBox) Window() HWND { return HWND(b.hwnd) }

// Text is what was typed so far; its line ends are LF.
func (b *EditBox) Text() string {
	units := make([]uint16, win.SendMessage(b.hwnd, win.WM_GETTEXTLENGTH, 0, 0)+1)
	n := win.SendMessage(b.hwnd, win.WM_GETTEXT, uintptr(len(units)), uintptr(unsafe.Pointer(&units[0])))
	return strings.ReplaceAll(string(utf16.Decode(units[:n])), "\r\n", "\n")
}

// Close closes the window and waits until it is gone.
func (b *EditBox) Close() error {
	win.PostMessage(b.hwnd, win.WM_CLOSE, 0, 0)
	bound := time.NewTimer(editBoxPatience)
	defer bound.Stop()
	select {
	case <-b.ended:
		return nil
	case <-bound.C:
		return fmt.Errorf("close a window: %w", ErrHung)
	}
}
