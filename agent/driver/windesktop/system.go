package windesktop

import (
	"image"
	"time"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// handsSystem is what the hands need of Windows; winapi.System has it.
type handsSystem interface {
	// SendInput sends events as one call and returns how many Windows took. Fewer
	// than given is an error that says why.
	SendInput(events []winapi.Event) (int, error)
	// Pointer is where the pointer is.
	Pointer() (image.Point, error)
	// VirtualScreen is the rectangle around all monitors.
	VirtualScreen() image.Rectangle
	// Pressed says whether a key or button is down: GetAsyncKeyState.
	Pressed(vk uint16) bool
	// Toggled says whether a lock key, such as caps lock, is on: GetKeyState.
	Toggled(vk uint16) bool
	// Layout is the keyboard layout of a window's thread.
	Layout(w winapi.HWND) winapi.HKL
	// KeyOf says where a character lies on a layout: VkKeyScanEx. False: nowhere.
	KeyOf(r rune, layout winapi.HKL) (winapi.Key, bool)
	// ScanCode is a key's scan code on a layout: MapVirtualKeyEx. Extended says that
	// it is one of the keys that are told apart by KeyExtended.
	ScanCode(vk uint16, layout winapi.HKL) (scan uint16, extended bool)
	// IMEOpen says whether an input method takes what is typed into a window.
	IMEOpen(w winapi.HWND) bool
	// ButtonsSwapped says whether the user's main button is the right one.
	ButtonsSwapped() bool
	// DragThreshold is by how much the pointer must move for a drag to begin.
	DragThreshold() image.Point
	// DoubleClickTime is how close two clicks must be to be a double click.
	DoubleClickTime() time.Duration

	// ClipboardText is the text on the clipboard; false: there is none.
	ClipboardText() (string, bool, error)
	// SetClipboardText puts a text there under a mark, out of sight of clipboard
	// histories.
	SetClipboardText(text string, mark uint64) error
	// ClipboardMark is the mark of what lies there; 0: it has none.
	ClipboardMark() (uint64, error)
	// ReplaceClipboard puts a text in the place of what lies there under a mark; has
	// false: it takes that off. False: nothing lies there under it any more, and
	// nothing was changed.
	ReplaceClipboard(mark uint64, text string, has bool) (bool, error)

	// WindowAt is the top-level window at a place; 0: none.
	WindowAt(at image.Point) winapi.HWND
	// Foreground is the window that has the keyboard; 0: none.
	Foreground() winapi.HWND
	// BringToFront asks for a window to come to the front, out of its icon if need
	// be. Whether it came is for Foreground to say.
	BringToFront(w winapi.HWND) error
	// ClaimFront does so by the right that a hot key gives: for windows that Windows does
	// not let come otherwise. No window gets the press of that key.
	ClaimFront(w winapi.HWND) error
}

// eyesSystem is what the eyes need of Windows; winapi.System has it.
type eyesSystem interface {
	// AwareOfDPI makes Windows speak of physical pixels, and says of which it does.
	AwareOfDPI() (string, error)
	// Monitors are the monitors.
	Monitors() ([]winapi.Monitor, error)
	// Windows are the visible top-level windows, the topmost first. It waits for no
	// window's program.
	Windows() ([]winapi.Window, error)
	// Foreground is the window that has the keyboard; 0: none.
	Foreground() winapi.HWND
	// Hung says whether a window's program has stopped answering.
	Hung(w winapi.HWND) bool
	// Elevated says whether a window's program runs with more rights than the agent,
	// so that Windows keeps the agent's input from it.
	Elevated(w winapi.HWND) bool
	// InputDesktop is the name of the desktop that gets input: "Default", or
	// "Winlogon" for the secure one and the lock screen. An error: none can be seen.
	InputDesktop() (string, error)
	// Session is how the user's session stands.
	Session() (winapi.Session, error)
	// CaptureScreen takes a picture of a part of the virtual desktop, with layered
	// windows. The picture's bounds are that part, and no one else holds it.
	CaptureScreen(part image.Rectangle) (*image.RGBA, error)
	// CaptureWindow asks a window to draw itself: PrintWindow with its whole content.
	// Some draw nothing and say that they did. The picture's bounds are where the
	// window lies on the virtual desktop, without its invisible border. It may wait
	// for the window's program without end. A window that is not there is
	// winapi.ErrGone, one whose program is known to hang winapi.ErrHung.
	CaptureWindow(w winapi.HWND) (*image.RGBA, error)
}

// system is all of it.
type system interface {
	handsSystem
	eyesSystem
}
