package winapi

import (
	"fmt"
	"image"
	"runtime"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procBitBlt      = gdi32.NewProc("BitBlt")
	procPrintWindow = user32.NewProc("PrintWindow")
)

// CaptureScreen takes a picture of a part of the virtual desktop, with layered
// windows. Its bounds are that part; what no monitor shows is black.
func (System) CaptureScreen(part image.Rectangle) (*image.RGBA, error) {
	defer onOneThread()()
	return shoot(gdiCalls{}, part.Size(), image.Point{}, part, blit(part))
}

// blit copies a part of the screen.
func blit(part image.Rectangle) func(to, screen handle) error {
	return func(to, screen handle) error {
		_, err := try(procBitBlt, uintptr(to), 0, 0, uintptr(part.Dx()), uintptr(part.Dy()),
			uintptr(screen), uintptr(part.Min.X), uintptr(part.Min.Y), win.SRCCOPY|win.CAPTUREBLT)
		return err
	}
}

// CaptureWindow asks a window to draw itself, with its whole content. The picture's
// bounds are what a person would see of the window, were nothing in front of it. Some
// windows draw nothing and say that they did. ErrGone: there is no such window;
// ErrHung: its program would keep the caller waiting.
func (System) CaptureWindow(w HWND) (*image.RGBA, error) {
	var r win.RECT
	if !win.GetWindowRect(win.HWND(w), &r) {
		return nil, ErrGone
	}
	whole, seen := rectangle(r), boundsOf(w)
	seen = seen.Intersect(whole)
	if seen.Empty() {
		return nil, fmt.Errorf("the window is an icon or has no size")
	}
	if !answers(w) {
		return nil, ErrHung
	}
	defer onOneThread()()
	const renderFullContent = 2 // PW_RENDERFULLCONTENT
	return shoot(gdiCalls{}, whole.Size(), seen.Min.Sub(whole.Min), seen, func(to, _ handle) error {
		_, err := try(procPrintWindow, uintptr(w), uintptr(to), renderFullContent)
		return err
	})
}

// onOneThread keeps the caller on its thread until what it returns is called: a
// device context is given back, and a clipboard closed, by the thread that opened it.
func onOneThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// gdiCalls are the steps of a picture, on Windows.
type gdiCalls struct{}

func (gdiCalls) screenDC() (handle, error) { return made(win.GetDC(0), "GetDC") }

func (gdiCalls) releaseDC(dc handle) error {
	return done(win.ReleaseDC(0, win.HDC(dc)), "ReleaseDC")
}

func (gdiCalls) memoryDC(like handle) (handle, error) {
	return made(win.CreateCompatibleDC(win.HDC(like)), "CreateCompatibleDC")
}

func (gdiCalls) deleteDC(dc handle) error { return done(win.DeleteDC(win.HDC(dc)), "DeleteDC") }

func (gdiCalls) bitmap(dc handle, size image.Point) (handle, []byte, error) {
	header := win.BITMAPINFOHEADER{
		BiWidth: int32(size.X), BiHeight: -int32(size.Y), // negative: the top row first
		BiPlanes: 1, BiBitCount: 32, BiCompression: win.BI_RGB,
	}
	header.BiSize = uint32(unsafe.Sizeof(header))
	var pixels unsafe.Pointer
	bitmap := win.CreateDIBSection(win.HDC(dc), &header, win.DIB_RGB_COLORS, &pixels, 0, 0)
	h, err := made(bitmap, "CreateDIBSection")
	if err != nil {
		return 0, nil, err
	}
	return h, unsafe.Slice((*byte)(pixels), 4*size.X*size.Y), nil
}

func (gdiCalls) deleteBitmap(bitmap handle) error {
	return done(win.DeleteObject(win.HGDIOBJ(bitmap)), "DeleteObject")
}

func (gdiCalls) selectObject(dc, bitmap handle) (handle, error) {
	return made(win.SelectObject(win.HDC(dc), win.HGDIOBJ(bitmap)), "SelectObject")
}

func (gdiCalls) flush() error { return done(win.GdiFlush(), "GdiFlush") }

// made is an object that GDI made. GDI sets no last error.
func made[H ~uintptr](h H, by string) (handle, error) {
	if h == 0 || h == H(windows.InvalidHandle) {
		return 0, fmt.Errorf("%s: %w", by, errSilent)
	}
	return handle(h), nil
}

func done(ok bool, by string) error {
	if !ok {
		return fmt.Errorf("%s: %w", by, errSilent)
	}
	return nil
}
