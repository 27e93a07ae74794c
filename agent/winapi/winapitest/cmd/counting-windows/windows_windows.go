package main

import (
	"fmt"
	"image"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// window is one of the windows.
type window struct {
	title, widget string
	kind          kind
	bounds        image.Rectangle // outer ones, in the virtual desktop's coordinates
	hwnd          win.HWND
	ledger        *ledger
}

// counting is the windows by their handles. They live as long as the program.
var counting sync.Map

// desktop is the windows, for the door.
type desktop []*window

// openWindows opens the windows on a thread of their own and returns when they are
// shown.
func openWindows(l *ledger) (desk, error) {
	all := desktop{
		{title: "Notes", widget: "note", kind: text, bounds: image.Rect(60, 200, 560, 560)},
		{title: "Tools", widget: "save", kind: button, bounds: image.Rect(640, 240, 1000, 520)},
		{title: "Trash", widget: "trash", kind: icon, bounds: image.Rect(640, 40, 860, 180)},
	}
	shown := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := all.show(l)
		shown <- err
		if err == nil {
			pump()
		}
	}()
	return all, <-shown
}

// show shows the windows; the last one is in front then.
func (d desktop) show(l *ledger) error {
	class, err := register()
	if err != nil {
		return fmt.Errorf("register the window class: %w", err)
	}
	for _, w := range d {
		w.ledger = l
		title, err := windows.UTF16PtrFromString(w.title)
		if err != nil {
			return err
		}
		w.hwnd = win.CreateWindowEx(0, class, title, win.WS_OVERLAPPEDWINDOW, int32(w.bounds.Min.X), int32(w.bounds.Min.Y),
			int32(w.bounds.Dx()), int32(w.bounds.Dy()), 0, 0, win.GetModuleHandle(nil), nil)
		if w.hwnd == 0 {
			return fmt.Errorf("open the window %s: %w", w.title, windows.GetLastError())
		}
		counting.Store(w.hwnd, w)
		win.ShowWindow(w.hwnd, win.SW_SHOWNORMAL)
		win.UpdateWindow(w.hwnd)
	}
	return nil
}

func pump() {
	m := unmoved[win.MSG]()
	for win.GetMessage(m, 0, 0, 0) > 0 {
		win.TranslateMessage(m)
		win.DispatchMessage(m)
	}
}

// unmoved is a value for a call that may call back into Go, as those do that serve
// windows: the stack then may grow and move, and Windows would fill in the place where
// the value was. A message would be counted twice, and another one not at all.
//
//go:noinline
func unmoved[T any]() *T { return new(T) }

func register() (*uint16, error) {
	class, err := windows.UTF16PtrFromString("RepriseCountingWindow")
	if err != nil {
		return nil, err
	}
	const doubleClicks = 0x0008 // CS_DBLCLKS of winuser.h
	wc := win.WNDCLASSEX{
		Style: doubleClicks, LpfnWndProc: windows.NewCallback(procedure), HInstance: win.GetModuleHandle(nil),
		HCursor: win.LoadCursor(0, win.MAKEINTRESOURCE(win.IDC_ARROW)), LpszClassName: class,
	}
	wc.CbSize = uint32(unsafe.Sizeof(wc))
	if win.RegisterClassEx(&wc) == 0 {
		return nil, windows.GetLastError()
	}
	return class, nil
}

func procedure(h win.HWND, message uint32, wparam, lparam uintptr) uintptr {
	found, known := counting.Load(h)
	if !known {
		return win.DefWindowProc(h, message, wparam, lparam)
	}
	w := found.(*window)
	news := false
	switch message {
	case win.WM_PAINT:
		w.paint()
		return 0
	case win.WM_ERASEBKGND:
		return 1 // paint fills all of it
	case win.WM_LBUTTONDOWN, win.WM_LBUTTONDBLCLK:
		win.SetCapture(h) // so that the release comes here, wherever it happens
		news = w.ledger.press(w.widget, w.kind, message == win.WM_LBUTTONDBLCLK)
	case win.WM_LBUTTONUP:
		win.ReleaseCapture()
		at := image.Pt(int(int16(lparam)), int(int16(lparam>>16)))
		news = w.ledger.release(w.widget, at.In(w.area()))
	case win.WM_CHAR:
		if w.kind == text {
			news = w.ledger.char(w.widget, uint16(wparam), pasteable(wparam))
		}
	}
	if news {
		win.InvalidateRect(h, nil, false)
	}
	return win.DefWindowProc(h, message, wparam, lparam)
}

// pasteable is what the clipboard holds, when a character asks for it.
func pasteable(char uintptr) string {
	if char != ctrlV {
		return ""
	}
	// A clipboard that cannot be read pastes nothing, and the ledger shows it.
	held, _, _ := winapi.System{}.ClipboardText()
	return held
}

// area is where the window takes clicks, in its own coordinates.
func (w *window) area() image.Rectangle {
	var r win.RECT
	win.GetClientRect(w.hwnd, &r)
	return image.Rect(0, 0, int(r.Right), int(r.Bottom))
}

var (
	procFillRect         = windows.NewLazySystemDLL("user32.dll").NewProc("FillRect")
	procCreateSolidBrush = windows.NewLazySystemDLL("gdi32.dll").NewProc("CreateSolidBrush")
)

// paint fills the window with one of two colours by turns, so that each effect can be
// seen, and writes what it counted.
func (w *window) paint() {
	ps := unmoved[win.PAINTSTRUCT]()
	dc := win.BeginPaint(w.hwnd, ps)
	defer win.EndPaint(w.hwnd, ps)
	effects, text := w.ledger.shows(w.widget)
	colour := [...]uintptr{0xF0E8D8, 0xC8E8F8}[effects%2] // COLORREF: blue, green, red
	brush, _, _ := procCreateSolidBrush.Call(colour)
	defer win.DeleteObject(win.HGDIOBJ(brush))
	var r win.RECT
	win.GetClientRect(w.hwnd, &r)
	_, _, _ = procFillRect.Call(uintptr(dc), uintptr(unsafe.Pointer(&r)), brush)
	line := append(windows.StringToUTF16(fmt.Sprintf("%d: ", effects)), text...)
	line = slices.DeleteFunc(line, func(unit uint16) bool { return unit == 0 })
	win.SetBkMode(dc, win.TRANSPARENT)
	win.DrawTextEx(dc, &line[0], int32(len(line)), &r, win.DT_WORDBREAK|win.DT_NOPREFIX, nil)
}

// lastKey is the highest virtual-key code of winuser.h.
const lastKey = 0xFE

// Down implements desk. Windows handles input a moment after it took it: what is down
// is looked at again before it is believed.
func (desktop) Down() []string {
	const looks = 20
	again := time.NewTicker(25 * time.Millisecond)
	defer again.Stop()
	var down []string
	for range looks {
		down = []string{}
		for key := uint16(1); key <= lastKey; key++ {
			if (winapi.System{}).Pressed(key) {
				down = append(down, fmt.Sprintf("key %#02x", key))
			}
		}
		if len(down) == 0 {
			break
		}
		<-again.C
	}
	return down
}

// Move implements desk.
func (d desktop) Move(widget string, to image.Point) error {
	for _, w := range d {
		if w.widget != widget {
			continue
		}
		if !win.SetWindowPos(w.hwnd, 0, int32(to.X), int32(to.Y), 0, 0, win.SWP_NOSIZE|win.SWP_NOZORDER|win.SWP_NOACTIVATE) {
			return fmt.Errorf("move the window %s: %w", w.title, windows.GetLastError())
		}
		return nil
	}
	return fmt.Errorf("no window has the widget %q", widget)
}
