package winapitest

import (
	"image"
	"image/color"
	"slices"
	"unicode/utf16"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procFillRect            = windows.NewLazySystemDLL("user32.dll").NewProc("FillRect")
	procCreateSolidBrush    = windows.NewLazySystemDLL("gdi32.dll").NewProc("CreateSolidBrush")
	procOffsetViewportOrgEx = windows.NewLazySystemDLL("gdi32.dll").NewProc("OffsetViewportOrgEx")
)

func (w *Window) paint() {
	ps := unmoved[win.PAINTSTRUCT]()
	dc := win.BeginPaint(w.hwnd, ps)
	defer win.EndPaint(w.hwnd, ps)
	w.paintTo(dc)
}

// print paints the window's inside where it lies within the whole window. Windows
// itself sees to that; Wine has the window paint its inside at the whole's corner.
func (w *Window) print(dc win.HDC) {
	var whole win.RECT
	win.GetWindowRect(w.hwnd, &whole)
	inside := w.Area().Min.Sub(image.Pt(int(whole.Left), int(whole.Top)))
	var before win.POINT
	_, _, _ = procOffsetViewportOrgEx.Call(uintptr(dc), uintptr(inside.X), uintptr(inside.Y), uintptr(unsafe.Pointer(&before)))
	w.paintTo(dc)
	_, _, _ = procOffsetViewportOrgEx.Call(uintptr(dc), uintptr(-inside.X), uintptr(-inside.Y), uintptr(unsafe.Pointer(&before)))
}

func (w *Window) paintTo(dc win.HDC) {
	var r win.RECT
	win.GetClientRect(w.hwnd, &r)
	for i, q := range quarters(image.Rect(0, 0, int(r.Right), int(r.Bottom))) {
		fill(dc, q, Quarters[i])
	}
	w.mu.Lock()
	text := slices.Clone(w.text)
	w.mu.Unlock()
	if len(text) > 0 {
		win.DrawTextEx(dc, &text[0], int32(len(text)), &r, win.DT_WORDBREAK|win.DT_NOPREFIX, nil)
	}
}

func fill(dc win.HDC, r image.Rectangle, c color.RGBA) {
	brush, _, _ := procCreateSolidBrush.Call(uintptr(c.R) | uintptr(c.G)<<8 | uintptr(c.B)<<16)
	defer win.DeleteObject(win.HGDIOBJ(brush))
	area := win.RECT{Left: int32(r.Min.X), Top: int32(r.Min.Y), Right: int32(r.Max.X), Bottom: int32(r.Max.Y)}
	_, _, _ = procFillRect.Call(uintptr(dc), uintptr(unsafe.Pointer(&area)), brush)
}

func utf16Runes(units []uint16) []rune { return utf16.Decode(units) }
