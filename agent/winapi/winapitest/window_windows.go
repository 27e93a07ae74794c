package winapitest

import (
	"image"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// Window is a window of this process, with a thread of its own. Its methods may be
// called from any goroutine.
type Window struct {
	hwnd    win.HWND
	hang    chan struct{} // closed: the thread of a hung window goes on
	mu      sync.Mutex
	text    []uint16
	history []Message
	changed chan struct{} // closed and made anew at each message
}

// Open opens a window with the outer bounds, waits until it is in front and has the
// keyboard, and closes it with the test.
func Open(t testing.TB, title string, bounds image.Rectangle) *Window {
	t.Helper()
	w := open(t, title, bounds, nil)
	awaitFront(t, title, w.hwnd)
	Await(t, "the window has heard of it", w.forgets)
	return w
}

// forgets forgets what the window was told until it had the keyboard. False: the end of
// it, a key that goes up, has not come yet.
func (w *Window) forgets() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.ContainsFunc(w.history, func(m Message) bool { return m.ID == win.WM_KEYUP }) {
		return false
	}
	w.history = nil
	return true
}

// OpenHung opens a window whose program does not answer until the test ends.
func OpenHung(t testing.TB, title string, bounds image.Rectangle) *Window {
	t.Helper()
	return open(t, title, bounds, make(chan struct{}))
}

func open(t testing.TB, title string, bounds image.Rectangle, hang chan struct{}) *Window {
	t.Helper()
	w := &Window{changed: make(chan struct{}), hang: hang}
	ended := onThread(t, title, func(made chan<- error) { w.run(title, bounds, made) })
	t.Cleanup(func() {
		if hang != nil {
			close(hang)
		}
		finish(w.hwnd, ended)
	})
	return w
}

// run makes the window and serves it until it is closed.
func (w *Window) run(title string, bounds image.Rectangle, made chan<- error) {
	class, err := register()
	if err != nil {
		made <- err
		return
	}
	if w.hwnd, err = create(class, title, win.WS_OVERLAPPEDWINDOW, bounds); err != nil {
		made <- err
		return
	}
	opened.Store(w.hwnd, w)
	defer opened.Delete(w.hwnd)
	win.ShowWindow(w.hwnd, win.SW_SHOWNORMAL)
	win.UpdateWindow(w.hwnd)
	if w.hang != nil {
		w.drain()
		made <- nil
		<-w.hang
	} else {
		made <- nil
	}
	serve(w.hwnd)
}

// drain answers what is there already, so that the window is on the screen before it
// hangs.
func (w *Window) drain() {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	m := unmoved[win.MSG]()
	for range 100 {
		for win.PeekMessage(m, 0, 0, 0, win.PM_REMOVE) {
			win.TranslateMessage(m)
			win.DispatchMessage(m)
		}
		<-again.C
	}
}

// opened are the windows by their handles.
var opened sync.Map

var register = sync.OnceValues(func() (*uint16, error) {
	class, err := windows.UTF16PtrFromString(Class)
	if err != nil {
		return nil, err
	}
	const doubleClicks = 0x0008 // CS_DBLCLKS
	arrow := win.LoadCursor(0, win.MAKEINTRESOURCE(win.IDC_ARROW))
	wc := win.WNDCLASSEX{Style: doubleClicks, LpfnWndProc: windows.NewCallback(procedure), HInstance: win.GetModuleHandle(nil), HCursor: arrow, LpszClassName: class}
	wc.CbSize = uint32(unsafe.Sizeof(wc))
	if win.RegisterClassEx(&wc) == 0 {
		return nil, windows.GetLastError()
	}
	return class, nil
})

func procedure(h win.HWND, message uint32, wparam, lparam uintptr) uintptr {
	found, known := opened.Load(h)
	if !known {
		return win.DefWindowProc(h, message, wparam, lparam)
	}
	w := found.(*Window)
	switch message {
	case win.WM_PAINT:
		w.paint()
		return 0
	case win.WM_PRINT:
		w.print(win.HDC(wparam))
		return 0
	case win.WM_DESTROY:
		win.PostQuitMessage(0)
		return 0
	case win.WM_ERASEBKGND:
		return 1
	}
	const mouseLast = 0x020E // WM_MOUSEHWHEEL, which is newer than lxn/win's last one
	if message >= win.WM_KEYFIRST && message <= win.WM_KEYLAST || message >= win.WM_MOUSEFIRST && message <= mouseLast {
		w.record(message, wparam, lparam)
	}
	return win.DefWindowProc(h, message, wparam, lparam)
}

func (w *Window) record(message uint32, wparam, lparam uintptr) {
	const ctrlV = 0x16
	var p win.POINT
	win.GetCursorPos(&p)
	var pasted string
	if message == win.WM_CHAR && wparam == ctrlV {
		pasted = clipboardText()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history = append(w.history, Message{ID: message, WParam: wparam, LParam: lparam, At: image.Pt(int(p.X), int(p.Y))})
	if message == win.WM_CHAR {
		w.typed(uint16(wparam), pasted)
		win.InvalidateRect(w.hwnd, nil, false)
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *Window) typed(unit uint16, pasted string) {
	switch {
	case unit == '\r':
		w.text = append(w.text, '\n')
	case unit == '\t' || unit >= ' ':
		w.text = append(w.text, unit)
	case pasted != "":
		w.text = append(w.text, windows.StringToUTF16(pasted)...)
		w.text = slices.Delete(w.text, len(w.text)-1, len(w.text)) // the NUL
	}
}

// HWND is the window's handle.
func (w *Window) HWND() winapi.HWND { return winapi.HWND(w.hwnd) }

// Minimize makes the window an icon.
func (w *Window) Minimize() { win.ShowWindow(w.hwnd, win.SW_SHOWMINNOACTIVE) }

// Text is what was typed and pasted so far; enter is LF.
func (w *Window) Text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(utf16Runes(w.text))
}

// Messages are those of keyboard and mouse so far, in order.
func (w *Window) Messages() []Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.history)
}

// Changed is closed when the next message of keyboard or mouse has come.
func (w *Window) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// Area is where the window takes clicks, in the virtual desktop's coordinates.
func (w *Window) Area() image.Rectangle {
	var r win.RECT
	var p win.POINT
	win.GetClientRect(w.hwnd, &r)
	win.ClientToScreen(w.hwnd, &p)
	return image.Rect(0, 0, int(r.Right), int(r.Bottom)).Add(image.Pt(int(p.X), int(p.Y)))
}

// Patience is how long the tests wait for what Windows and its programs do.
const Patience = time.Minute

// AwaitText waits until the window has got a text, as long as there comes more of it, and
// fails the test if it got another.
func (w *Window) AwaitText(t testing.TB, want string) {
	t.Helper()
	bound := time.NewTimer(Patience)
	defer bound.Stop()
	for {
		changed := w.Changed() // before the look: what comes after it is not missed
		got := w.Text()
		if got == want {
			return
		}
		select {
		case <-changed:
			bound.Reset(Patience)
		case <-bound.C:
			t.Fatalf("the window got %q, want %q", got, want)
		}
	}
}

// Await waits until done says so, and fails the test when it has no more Patience.
func Await(t testing.TB, what string, done func() bool) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	bound := time.After(Patience)
	for !done() {
		select {
		case <-again.C:
		case <-bound:
			t.Fatalf("waited too long until %s", what)
		}
	}
}
