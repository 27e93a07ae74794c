package winapi

import (
	"time"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

// System is this Windows, as the user's programs see it.
type System struct{}

// Foreground is the window that has the keyboard; 0: none.
func (System) Foreground() HWND { return HWND(win.GetForegroundWindow()) }

// DoubleClickTime is how close two clicks must be to be a double click.
func (System) DoubleClickTime() time.Duration {
	ms, _, _ := procGetDoubleClickTime.Call()
	return time.Duration(ms) * time.Millisecond
}

var (
	user32                 = windows.NewLazySystemDLL("user32.dll")
	procGetDoubleClickTime = user32.NewProc("GetDoubleClickTime")
)
