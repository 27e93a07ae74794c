package winapi

import (
	"fmt"
	"image"
	"time"
	"unsafe"

	"github.com/lxn/win"
)

var (
	procSendInput          = user32.NewProc("SendInput")
	procGetCursorPos       = user32.NewProc("GetCursorPos")
	procGetAsyncKeyState   = user32.NewProc("GetAsyncKeyState")
	procGetDoubleClickTime = user32.NewProc("GetDoubleClickTime")
)

// SendInput sends events as one call, so that no other input comes between them, and
// returns how many Windows took. Fewer than given is an error that says why, as far
// as Windows does: it says nothing when an elevated window is in front.
func (System) SendInput(events []Event) (int, error) {
	packed, err := pack(events)
	if err != nil || len(packed) == 0 {
		return 0, err
	}
	n, err := try(procSendInput, uintptr(len(packed)), uintptr(unsafe.Pointer(&packed[0])), unsafe.Sizeof(packed[0]))
	switch {
	case err != nil:
		return 0, fmt.Errorf("none of %d input events taken: %w", len(packed), err)
	case int(n) < len(packed):
		return int(n), fmt.Errorf("%d of %d input events taken", n, len(packed))
	}
	return len(packed), nil
}

// Pointer is where the pointer is. It fails while another desktop gets the input.
func (System) Pointer() (image.Point, error) {
	var p point
	if _, err := try(procGetCursorPos, uintptr(unsafe.Pointer(&p))); err != nil {
		return image.Point{}, err
	}
	return image.Pt(int(p.x), int(p.y)), nil
}

// VirtualScreen is the rectangle around all monitors.
func (System) VirtualScreen() image.Rectangle {
	x, y := metric(win.SM_XVIRTUALSCREEN), metric(win.SM_YVIRTUALSCREEN)
	return image.Rect(x, y, x+metric(win.SM_CXVIRTUALSCREEN), y+metric(win.SM_CYVIRTUALSCREEN))
}

// Pressed says whether a key or button is down now, whosever input it was. Buttons
// are the physical ones, whether or not the user has swapped them.
func (System) Pressed(vk uint16) bool { return ask(procGetAsyncKeyState, uintptr(vk))&0x8000 != 0 }

// ButtonsSwapped says whether the user's main button is the right one.
func (System) ButtonsSwapped() bool { return metric(win.SM_SWAPBUTTON) != 0 }

// DragThreshold is by how many pixels the pointer must move for a drag to begin.
func (System) DragThreshold() image.Point {
	return image.Pt(metric(win.SM_CXDRAG), metric(win.SM_CYDRAG))
}

// DoubleClickTime is how close two clicks must be to be a double click.
func (System) DoubleClickTime() time.Duration {
	return time.Duration(ask(procGetDoubleClickTime)) * time.Millisecond
}

func metric(index int32) int { return int(win.GetSystemMetrics(index)) }
