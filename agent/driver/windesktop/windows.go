package windesktop

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// Windows implements driver.Eyes. It waits for no window's program: one that hangs
// is listed as it was.
func (e *eyes) Windows(ctx context.Context) ([]driver.Window, error) {
	if err := stopped(ctx); err != nil {
		return nil, err
	}
	found, err := e.system.Windows()
	if err != nil {
		return nil, fmt.Errorf("windows: %w", err)
	}
	front := e.system.Foreground()
	windows := make([]driver.Window, len(found))
	for i, w := range found {
		windows[i] = driver.Window{
			ID: windowID(w.HWND, w.PID), Title: w.Title, Class: w.Class, Process: w.Process,
			Bounds: w.Bounds, Active: front != 0 && w.HWND == front,
		}
	}
	return windows, nil
}

// find returns the window with an id as it is now. One that is not shown any more,
// or whose handle is another program's by now, is driver.ErrGone.
func (e *eyes) find(id string) (winapi.Window, error) {
	hwnd, pid, ok := parseWindowID(id)
	if !ok {
		return winapi.Window{}, fmt.Errorf("window %q: %w", id, driver.ErrGone)
	}
	windows, err := e.system.Windows()
	if err != nil {
		return winapi.Window{}, fmt.Errorf("windows: %w", err)
	}
	i := slices.IndexFunc(windows, func(w winapi.Window) bool { return w.HWND == hwnd && w.PID == pid })
	if i < 0 {
		return winapi.Window{}, fmt.Errorf("window %q: %w", id, driver.ErrGone)
	}
	return windows[i], nil
}

// windowID names a window by its handle and its process, both in hexadecimal.
// Windows gives a handle to another window when the first is gone; that the process
// is another one then tells them apart.
func windowID(w winapi.HWND, pid uint32) string {
	return fmt.Sprintf("0x%x-%x", uintptr(w), pid)
}

// parseWindowID reads what windowID wrote, and nothing else.
func parseWindowID(id string) (winapi.HWND, uint32, bool) {
	handle, process, _ := strings.Cut(strings.TrimPrefix(id, "0x"), "-")
	w, err := strconv.ParseUint(handle, 16, strconv.IntSize)
	if err != nil {
		return 0, 0, false
	}
	pid, err := strconv.ParseUint(process, 16, 32)
	if err != nil || windowID(winapi.HWND(w), uint32(pid)) != id {
		return 0, 0, false
	}
	return winapi.HWND(w), uint32(pid), true
}
