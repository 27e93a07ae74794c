package windesktop

import (
	"cmp"
	"image"
	"image/color"
	"slices"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

func (w *fakeWindows) AwareOfDPI() (string, error) {
	w.aware = true
	return winapi.Unaware, w.unaware
}

func (w *fakeWindows) Monitors() ([]winapi.Monitor, error) {
	monitors := make([]winapi.Monitor, len(w.screens))
	for i, s := range w.screens {
		monitors[i] = winapi.Monitor{Bounds: s, DPI: 96, Primary: i == 0, Name: `\\.\DISPLAY` + string(rune('1'+i))}
	}
	return monitors, nil
}

func (w *fakeWindows) Windows() ([]winapi.Window, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []winapi.Window
	for _, win := range w.windows {
		list = append(list, winapi.Window{HWND: win.hwnd, Title: win.title, Class: "Fake", Process: "fake.exe", PID: cmp.Or(win.pid, fakePID), Bounds: win.area})
	}
	return list, nil
}

func (w *fakeWindows) Hung(winapi.HWND) bool { return false }

func (w *fakeWindows) Elevated(hwnd winapi.HWND) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return hwnd == w.elevated && hwnd != 0
}

func (w *fakeWindows) WindowAt(at image.Point) winapi.HWND {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, win := range w.windows {
		if at.In(win.area) {
			return win.hwnd
		}
	}
	return 0
}

func (w *fakeWindows) InputDesktop() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locked || w.secure {
		return "Winlogon", nil
	}
	return "Default", nil
}

func (w *fakeWindows) Session() (winapi.Session, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return winapi.Session{User: "clerk", Locked: w.locked}, nil
}

// CaptureScreen shows each window in a shade of how much it was told.
func (w *fakeWindows) CaptureScreen(part image.Rectangle) (*image.RGBA, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	img := image.NewRGBA(part)
	for _, win := range slices.Backward(w.windows) {
		win.draw(img)
	}
	return img, nil
}

func (w *fakeWindows) CaptureWindow(hwnd winapi.HWND) (*image.RGBA, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, win := range w.windows {
		if win.hwnd == hwnd {
			img := image.NewRGBA(win.area)
			win.draw(img)
			return img, nil
		}
	}
	return nil, winapi.ErrGone
}

func (win *fakeWindow) draw(img *image.RGBA) {
	at := win.area.Intersect(img.Bounds())
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			img.SetRGBA(x, y, color.RGBA{R: uint8(x), G: uint8(40 * len(win.seen.Text)), B: 200, A: 255})
		}
	}
}
