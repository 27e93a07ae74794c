package winapi

import (
	"image"
	"image/color"
	"unicode/utf16"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procFillRect                   = user32.NewProc("FillRect")
	procSetLayeredWindowAttributes = user32.NewProc("SetLayeredWindowAttributes")
	procSetWindowDisplayAffinity   = user32.NewProc("SetWindowDisplayAffinity")
	procGetWindowDisplayAffinity   = user32.NewProc("GetWindowDisplayAffinity")
	procCreateSolidBrush           = gdi32.NewProc("CreateSolidBrush")
	procDwmFlush                   = windows.NewLazySystemDLL("dwmapi.dll").NewProc("DwmFlush")
)

// How a text is drawn, and measured: DT_… of winuser.h.
const drawn = win.DT_WORDBREAK | win.DT_EDITCONTROL | win.DT_NOPREFIX

// keepOutOfPictures asks Windows to leave the windows out of pictures of the screen,
// which it does since 10 version 2004, and says whether it will. An older one would
// paint them black in pictures instead: there they are as they were.
func (l *Loop) keepOutOfPictures() bool {
	const none, exclude = 0, 0x11 // WDA_NONE, WDA_EXCLUDEFROMCAPTURE of winuser.h
	all := append(l.bars[:], l.notice)
	for _, h := range all {
		var is uint32
		_, err := try(procSetWindowDisplayAffinity, uintptr(h), exclude)
		if err == nil {
			_, err = try(procGetWindowDisplayAffinity, uintptr(h), uintptr(unsafe.Pointer(&is)))
		}
		if err != nil || is != exclude {
			for _, h := range all {
				ask(procSetWindowDisplayAffinity, uintptr(h), none)
			}
			return false
		}
	}
	return true
}

// OutOfPictures says whether pictures of the screen leave the notice and the outline
// out. Where they don't, both are to be hidden for a picture.
func (l *Loop) OutOfPictures() bool { return l.unseen }

// ShowNotice shows a notice, or changes the one that is shown, above all windows. It
// takes no focus and no click.
func (l *Loop) ShowNotice(p Page) error {
	return l.run(func() {
		l.page = p
		win.InvalidateRect(l.notice, nil, true)
		const nearlyOpaque = 242
		show(l.notice, p.Bounds, nearlyOpaque)
		win.UpdateWindow(l.notice)
	})
}

// HideNotice takes the notice away, if there is one.
func (l *Loop) HideNotice() error {
	return l.run(func() { win.ShowWindow(l.notice, win.SW_HIDE) })
}

// Composed waits until the screen shows what was hidden and shown before, as far as
// Windows tells.
func (*Loop) Composed() { ask(procDwmFlush) }

// show shows a window above all others and leaves the keyboard where it is.
func show(h win.HWND, bounds image.Rectangle, opacity byte) {
	const alpha = 2 // LWA_ALPHA
	ask(procSetLayeredWindowAttributes, uintptr(h), 0, uintptr(opacity), alpha)
	win.SetWindowPos(h, win.HWND_TOPMOST, int32(bounds.Min.X), int32(bounds.Min.Y),
		int32(bounds.Dx()), int32(bounds.Dy()), win.SWP_NOACTIVATE)
	win.ShowWindow(h, win.SW_SHOWNOACTIVATE)
}

// Measure is how high a text is, in pixels, when it wraps within a width.
func (l *Loop) Measure(text string, font Font, width int) (int, error) {
	height := 0
	late := l.run(func() {
		dc := win.GetDC(l.notice)
		defer win.ReleaseDC(l.notice, dc)
		area := image.Rect(0, 0, width, 0)
		height = drawText(dc, text, font, area, win.DT_CALCRECT)
	})
	if late != nil {
		return 0, late
	}
	return height, nil
}

// drawText draws a text, or with DT_CALCRECT measures it, and returns its height.
func drawText(dc win.HDC, text string, font Font, area image.Rectangle, more uint32) int {
	units := utf16.Encode([]rune(text))
	if len(units) == 0 {
		return 0
	}
	weight := int32(win.FW_NORMAL)
	if font.Bold {
		weight = win.FW_SEMIBOLD
	}
	asked := win.LOGFONT{LfHeight: -int32(font.Height), LfWeight: weight, LfCharSet: win.DEFAULT_CHARSET, LfQuality: win.CLEARTYPE_QUALITY}
	copy(asked.LfFaceName[:], utf16.Encode([]rune("Segoe UI")))
	made := win.CreateFontIndirect(&asked)
	defer win.DeleteObject(win.HGDIOBJ(made))
	before := win.SelectObject(dc, win.HGDIOBJ(made))
	defer win.SelectObject(dc, before)
	r := win.RECT{Left: int32(area.Min.X), Top: int32(area.Min.Y), Right: int32(area.Max.X), Bottom: int32(area.Max.Y)}
	return int(win.DrawTextEx(dc, &units[0], int32(len(units)), &r, drawn|more, nil))
}

func (l *Loop) paintNotice() {
	ps := unmoved[win.PAINTSTRUCT]()
	dc := win.BeginPaint(l.notice, ps)
	defer win.EndPaint(l.notice, ps)
	fill(dc, image.Rectangle{Max: l.page.Bounds.Size()}, l.page.Back)
	for _, f := range l.page.Fills {
		fill(dc, f.Area, f.Colour)
	}
	win.SetBkMode(dc, win.TRANSPARENT)
	for _, p := range l.page.Pieces {
		win.SetTextColor(dc, win.COLORREF(colorRef(p.Colour)))
		drawText(dc, p.Text, p.Font, p.Area, 0)
	}
}

// erase paints a window's ground; the notice paints its own.
func (l *Loop) erase(h win.HWND, dc win.HDC) {
	if h == l.notice {
		return
	}
	var r win.RECT
	win.GetClientRect(h, &r)
	fillRef(dc, rectangle(r), l.colour)
}

func fill(dc win.HDC, area image.Rectangle, c color.RGBA) { fillRef(dc, area, colorRef(c)) }

func fillRef(dc win.HDC, area image.Rectangle, c uint32) {
	brush := ask(procCreateSolidBrush, uintptr(c))
	if brush == 0 {
		return
	}
	defer win.DeleteObject(win.HGDIOBJ(brush))
	r := rect{int32(area.Min.X), int32(area.Min.Y), int32(area.Max.X), int32(area.Max.Y)}
	ask(procFillRect, uintptr(dc), uintptr(unsafe.Pointer(&r)), brush)
}
