package winapitest

import (
	"image"
	"strings"
	"testing"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// Edit is a window of this process that is one of Windows' own controls: an edit
// control of several lines, as Notepad has. Its methods may be called from any
// goroutine.
type Edit struct{ hwnd win.HWND }

// OpenEdit opens an empty one with the outer bounds, waits until it is in front and
// has the keyboard, and closes it with the test.
func OpenEdit(t testing.TB, title string, bounds image.Rectangle) *Edit {
	t.Helper()
	e := &Edit{}
	ended := onThread(t, title, func(made chan<- error) { e.run(title, bounds, made) })
	t.Cleanup(func() { finish(e.hwnd, ended) })
	awaitFront(t, title, e.hwnd)
	return e
}

func (e *Edit) run(title string, bounds image.Rectangle, made chan<- error) {
	class, err := windows.UTF16PtrFromString("EDIT")
	if err != nil {
		made <- err
		return
	}
	const style = win.WS_OVERLAPPEDWINDOW | win.WS_VSCROLL | win.ES_MULTILINE | win.ES_WANTRETURN | win.ES_AUTOVSCROLL
	if e.hwnd, err = create(class, title, style, bounds); err != nil {
		made <- err
		return
	}
	win.SendMessage(e.hwnd, win.EM_LIMITTEXT, 1<<20, 0)
	e.Clear() // of the title, which is a control's text as well
	win.ShowWindow(e.hwnd, win.SW_SHOWNORMAL)
	win.UpdateWindow(e.hwnd)
	made <- nil
	serve(e.hwnd)
}

// HWND is the window's handle.
func (e *Edit) HWND() winapi.HWND { return winapi.HWND(e.hwnd) }

// Clear takes all text out.
func (e *Edit) Clear() {
	var none uint16
	win.SendMessage(e.hwnd, win.WM_SETTEXT, 0, uintptr(unsafe.Pointer(&none)))
}

// Text is what the control holds; its line ends, CR and LF, are LF.
func (e *Edit) Text() string {
	units := make([]uint16, win.SendMessage(e.hwnd, win.WM_GETTEXTLENGTH, 0, 0)+1)
	n := win.SendMessage(e.hwnd, win.WM_GETTEXT, uintptr(len(units)), uintptr(unsafe.Pointer(&units[0])))
	return strings.ReplaceAll(string(utf16Runes(units[:n])), "\r\n", "\n")
}
