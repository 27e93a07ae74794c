package winapi

import (
	"image"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procInternalGetWindowText = user32.NewProc("InternalGetWindowText")
	procIsHungAppWindow       = user32.NewProc("IsHungAppWindow")
	procShowWindowAsync       = user32.NewProc("ShowWindowAsync")
	procWindowFromPoint       = user32.NewProc("WindowFromPoint")
)

// Attributes of DwmGetWindowAttribute: DWMWA_… of dwmapi.h.
const (
	dwmExtendedFrameBounds = 9
	dwmCloaked             = 14
)

// Foreground is the window that has the keyboard; 0: none.
func (System) Foreground() HWND { return HWND(win.GetForegroundWindow()) }

// BringToFront asks for a window to come to the front, out of its icon if need be.
// Windows may refuse; whether it came is for Foreground to say. No input is sent. ErrGone: there is no such window.
func (System) BringToFront(w HWND) error {
	if !windows.IsWindow(windows.HWND(w)) {
		return ErrGone
	}
	if win.IsIconic(win.HWND(w)) {
		// The answer says whether it was shown before, not whether this works.
		ask(procShowWindowAsync, uintptr(w), win.SW_RESTORE)
	}
	win.SetForegroundWindow(win.HWND(w))
	// Where the keyboard comes and the window stays below others, as Wine lets happen.
	// Asynchronous, so that a hung program holds nobody up; one that answers does so
	// when it has done this.
	const raise = win.SWP_NOMOVE | win.SWP_NOSIZE | win.SWP_NOACTIVATE | win.SWP_ASYNCWINDOWPOS
	win.SetWindowPos(win.HWND(w), win.HWND_TOP, 0, 0, 0, 0, raise)
	answers(w)
	return nil
}

// Hung says whether a window's program has stopped answering.
func (System) Hung(w HWND) bool { return ask(procIsHungAppWindow, uintptr(w)) != 0 }

// WindowAt is the top-level window at a place; 0: none.
func (System) WindowAt(p image.Point) HWND {
	at := point{int32(p.X), int32(p.Y)}
	return HWND(win.GetAncestor(win.HWND(ask(procWindowFromPoint, at.byValue()...)), win.GA_ROOT))
}

// Windows are the visible top-level windows, the topmost first. It waits for no
// window's program: titles are read from what Windows keeps of them.
func (System) Windows() ([]Window, error) {
	handles, err := topLevel()
	if err != nil {
		return nil, err
	}
	processes := map[uint32]string{}
	list := make([]Window, 0, len(handles))
	for _, h := range handles {
		if !win.IsWindowVisible(win.HWND(h)) || cloaked(h) {
			continue
		}
		w := Window{HWND: h, Title: titleOf(h), Class: classOf(h), Bounds: boundsOf(h)}
		if thread, _ := windows.GetWindowThreadProcessId(windows.HWND(h), &w.PID); thread == 0 {
			continue // it went meanwhile
		}
		name, known := processes[w.PID]
		if !known {
			name = processName(w.PID)
			processes[w.PID] = name
		}
		w.Process = name
		list = append(list, w)
	}
	return list, nil
}

// listing gathers one enumeration at a time: Windows never gives a callback back, so
// there is one for all of them.
var listing struct {
	sync.Mutex
	found    []HWND
	callback func() uintptr
}

func init() {
	listing.callback = sync.OnceValue(func() uintptr {
		return windows.NewCallback(func(w windows.HWND, _ uintptr) uintptr {
			listing.found = append(listing.found, HWND(w))
			return 1
		})
	})
}

// topLevel are all top-level windows, in their order from the top.
func topLevel() ([]HWND, error) {
	listing.Lock()
	defer listing.Unlock()
	listing.found = nil
	err := windows.EnumWindows(listing.callback(), nil)
	if err != nil {
		return nil, failure("EnumWindows", err)
	}
	return listing.found, nil
}

// cloaked says whether a window counts as visible and is not shown, such as a store
// app that sleeps or a window of another virtual desktop.
func cloaked(w HWND) bool {
	var reason uint32
	err := windows.DwmGetWindowAttribute(windows.HWND(w), dwmCloaked, unsafe.Pointer(&reason), uint32(unsafe.Sizeof(reason)))
	return err == nil && reason != 0
}

// boundsOf is what a person sees of a window; empty for an icon.
func boundsOf(w HWND) image.Rectangle {
	if win.IsIconic(win.HWND(w)) {
		return image.Rectangle{}
	}
	var r win.RECT
	err := windows.DwmGetWindowAttribute(windows.HWND(w), dwmExtendedFrameBounds, unsafe.Pointer(&r), uint32(unsafe.Sizeof(r)))
	if err != nil && !win.GetWindowRect(win.HWND(w), &r) {
		return image.Rectangle{}
	}
	return rectangle(r)
}

func rectangle(r win.RECT) image.Rectangle {
	return image.Rect(int(r.Left), int(r.Top), int(r.Right), int(r.Bottom))
}

func titleOf(w HWND) string {
	var title [1024]uint16
	n := ask(procInternalGetWindowText, uintptr(w), uintptr(unsafe.Pointer(&title[0])), uintptr(len(title)))
	return windows.UTF16ToString(title[:n])
}

func classOf(w HWND) string {
	var class [257]uint16
	n, err := windows.GetClassName(windows.HWND(w), &class[0], int32(len(class)))
	if err != nil {
		return ""
	}
	return windows.UTF16ToString(class[:n])
}

// processName is the name of a process's executable; empty when it can't be read.
func processName(pid uint32) string {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return ""
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var path [windows.MAX_LONG_PATH]uint16
	size := uint32(len(path))
	if windows.QueryFullProcessImageName(process, 0, &path[0], &size) != nil {
		return ""
	}
	name := windows.UTF16ToString(path[:size])
	return filepath.Base(strings.ReplaceAll(name, "/", `\`))
}
