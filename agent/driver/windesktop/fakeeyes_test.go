package windesktop

import (
	"errors"
	"image"
	"image/color"
	"image/draw"
	"slices"
	"sync"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// fakeEyes is a Windows to look at: three monitors, of which the primary one is
// scaled and one lies left of it and above, so that the virtual desktop has holes.
// A test changes its fields before it looks, or within change.
type fakeEyes struct {
	mu          sync.Mutex
	monitors    []winapi.Monitor
	monitorsErr error
	windows     []winapi.Window
	windowsErr  error
	front       winapi.HWND
	hung        map[winapi.HWND]bool
	elevated    map[winapi.HWND]bool
	desktop     string
	desktopErr  error
	session     winapi.Session
	sessionErr  error

	screen func(part image.Rectangle) (*image.RGBA, error)
	paint  func(w winapi.Window) (*image.RGBA, error)

	screens, paints int // so often they were asked for
}

var (
	primaryBounds = image.Rect(0, 0, 300, 200)
	leftBounds    = image.Rect(-192, -40, 0, 80)
	rightBounds   = image.Rect(300, 0, 400, 100)
	allBounds     = image.Rect(-192, -40, 400, 200)
)

const (
	notes    winapi.HWND = 0x1a02f4
	terminal winapi.HWND = 0x20412
)

func newFakeEyes() *fakeEyes {
	return &fakeEyes{
		monitors: []winapi.Monitor{
			{Name: `\\.\DISPLAY1`, Bounds: leftBounds, DPI: 96},
			{Name: `\\.\DISPLAY2`, Bounds: primaryBounds, DPI: 144, Primary: true},
			{Name: `\\.\DISPLAY10`, Bounds: rightBounds, DPI: 192},
		},
		windows: []winapi.Window{
			{HWND: notes, PID: 0x9c4, Title: "Déjà vu - Notepad", Class: "Notepad", Process: "notepad.exe", Bounds: image.Rect(20, 20, 120, 90)},
			{HWND: terminal, PID: 0x38, Title: "cmd", Class: "ConsoleWindowClass", Process: "conhost.exe", Bounds: image.Rect(-100, 30, 60, 60)},
		},
		front: notes, desktop: "Default", session: winapi.Session{User: "nurse"},
		hung: map[winapi.HWND]bool{}, elevated: map[winapi.HWND]bool{},
		screen: func(part image.Rectangle) (*image.RGBA, error) { return pattern(part, 0), nil },
		paint:  func(w winapi.Window) (*image.RGBA, error) { return pattern(w.Bounds, 100), nil },
	}
}

// change changes the Windows while it is looked at.
func (f *fakeEyes) change(how func(*fakeEyes)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(f)
}

func (f *fakeEyes) AwareOfDPI() (string, error) { return winapi.AwarePerMonitorV2, nil }

func (f *fakeEyes) Monitors() ([]winapi.Monitor, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.monitors), f.monitorsErr
}

func (f *fakeEyes) Windows() ([]winapi.Window, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.windows), f.windowsErr
}

func (f *fakeEyes) Foreground() winapi.HWND {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.front
}

func (f *fakeEyes) Hung(w winapi.HWND) bool     { return f.hung[w] }
func (f *fakeEyes) Elevated(w winapi.HWND) bool { return f.elevated[w] }

func (f *fakeEyes) InputDesktop() (string, error)    { return f.desktop, f.desktopErr }
func (f *fakeEyes) Session() (winapi.Session, error) { return f.session, f.sessionErr }

func (f *fakeEyes) CaptureScreen(part image.Rectangle) (*image.RGBA, error) {
	f.change(func(f *fakeEyes) { f.screens++ })
	return f.screen(part)
}

func (f *fakeEyes) CaptureWindow(w winapi.HWND) (*image.RGBA, error) {
	f.change(func(f *fakeEyes) { f.paints++ })
	windows, _ := f.Windows()
	i := slices.IndexFunc(windows, func(at winapi.Window) bool { return at.HWND == w })
	if i < 0 {
		return nil, errors.Join(winapi.ErrGone, errors.New("invalid window handle"))
	}
	return f.paint(windows[i])
}

// counts is how often the screen and windows were asked for.
func (f *fakeEyes) counts() (screens, paints int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.screens, f.paints
}

// pattern is a picture whose every pixel says where it lies, and of what it is.
func pattern(r image.Rectangle, of uint8) *image.RGBA {
	img := image.NewRGBA(r)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			img.SetRGBA(x, y, pixel(x, y, of))
		}
	}
	return img
}

func pixel(x, y int, of uint8) color.RGBA {
	return color.RGBA{uint8(x), uint8(y), of + uint8(x>>8&15)<<4 + uint8(y>>8&15), 255}
}

// plain is a picture of one colour.
func plain(r image.Rectangle, c color.Color) *image.RGBA {
	img := image.NewRGBA(r)
	draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
	return img
}
