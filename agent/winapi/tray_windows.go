package winapi

import (
	"fmt"
	"unicode/utf16"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procAppendMenu = user32.NewProc("AppendMenuW")
	procEndMenu    = user32.NewProc("EndMenu")
)

// trayIcon is the icon in the notification area as it was asked for.
type trayIcon struct {
	wanted bool
	shown  bool
	open   bool // its menu is
	look   Tray
	chosen func(id int)
	icon   win.HICON
}

// ShowTray puts the icon into the notification area, or changes it. Chosen is called on
// the Loop's thread with what a person chooses from its menu, and must return at once.
// Where the area is not there yet, or goes and comes back, the icon comes with it; that
// it does not show yet is the error.
func (l *Loop) ShowTray(look Tray, chosen func(id int)) error {
	var err error
	late := l.run(func() {
		before := l.tray.icon
		l.tray.wanted, l.tray.look, l.tray.chosen = true, look, chosen
		if l.tray.icon, err = makeIcon(look); err != nil {
			l.tray.icon = before
			return
		}
		err = l.putTray()
		if before != 0 {
			win.DestroyIcon(before)
		}
	})
	if late != nil {
		return late
	}
	return err
}

func (l *Loop) putTray() error {
	data := win.NOTIFYICONDATA{
		HWnd: l.hidden, UID: 1, UFlags: win.NIF_ICON | win.NIF_MESSAGE | win.NIF_TIP,
		UCallbackMessage: wmTray, HIcon: l.tray.icon,
	}
	data.CbSize = uint32(unsafe.Sizeof(data))
	copy(data.SzTip[:], clipped(utf16.Encode([]rune(l.tray.look.Tip)), len(data.SzTip)))
	how := uint32(win.NIM_ADD)
	if l.tray.shown {
		how = win.NIM_MODIFY
	}
	l.tray.shown = win.Shell_NotifyIcon(how, &data)
	if !l.tray.shown && how == win.NIM_MODIFY {
		l.tray.shown = win.Shell_NotifyIcon(win.NIM_ADD, &data)
	}
	if !l.tray.shown {
		return fmt.Errorf("Shell_NotifyIcon: %w", errSilent)
	}
	return nil
}

// readdTray puts the icon into a notification area that is new: the former one went
// with Explorer.
func (l *Loop) readdTray() {
	if l.tray.wanted {
		l.tray.shown = false
		_ = l.putTray() // the next change tries again, and says so
	}
}

func (l *Loop) removeTray() {
	if l.tray.shown {
		data := win.NOTIFYICONDATA{HWnd: l.hidden, UID: 1}
		data.CbSize = uint32(unsafe.Sizeof(data))
		win.Shell_NotifyIcon(win.NIM_DELETE, &data)
	}
	if l.tray.icon != 0 {
		win.DestroyIcon(l.tray.icon)
	}
	l.tray = trayIcon{}
}

// trayTold opens the menu on a click; the keyboard comes as one as well.
func (l *Loop) trayTold(event uintptr) {
	if e := uint32(event) & 0xffff; e != win.WM_RBUTTONUP && e != win.WM_LBUTTONUP || l.tray.open {
		return
	}
	menu := win.CreatePopupMenu()
	if menu == 0 {
		return
	}
	defer win.DestroyMenu(menu)
	for _, item := range l.tray.look.Menu {
		const text, grey = 0, 1 // MF_STRING, MF_GRAYED
		flags := uintptr(text)
		if item.Off {
			flags |= grey
		}
		if s, err := windows.UTF16PtrFromString(item.Text); err == nil {
			ask(procAppendMenu, uintptr(menu), flags, uintptr(item.ID), uintptr(unsafe.Pointer(s)))
		}
	}
	// A menu closes on a click elsewhere only when its owner is in front (Microsoft, of
	// TrackPopupMenu). Afterwards that window, which nobody sees, gives the keyboard back
	// to what had it after the click: the taskbar.
	l.tray.open = true
	defer func() { l.tray.open = false }()
	front := win.GetForegroundWindow()
	win.SetForegroundWindow(l.hidden)
	at := unmoved[win.POINT]()
	win.GetCursorPos(at)
	id := win.TrackPopupMenu(menu, win.TPM_RETURNCMD|win.TPM_NONOTIFY|win.TPM_RIGHTBUTTON, at.X, at.Y, 0, l.hidden, nil)
	win.PostMessage(l.hidden, win.WM_NULL, 0, 0)
	if front != 0 && win.GetForegroundWindow() == l.hidden {
		win.SetForegroundWindow(front)
	}
	if id != 0 && l.tray.chosen != nil {
		l.tray.chosen(int(id))
	}
}

// makeIcon makes an icon of a picture.
func makeIcon(look Tray) (win.HICON, error) {
	size := look.Icon.Bounds().Size()
	calls := gdiCalls{}
	screen, err := calls.screenDC()
	if err != nil {
		return 0, err
	}
	defer func() { _ = calls.releaseDC(screen) }()
	colours, pixels, err := calls.bitmap(screen, size)
	if err != nil {
		return 0, err
	}
	defer func() { _ = calls.deleteBitmap(colours) }()
	copy(pixels, iconPixels(look.Icon))
	// A mask of zeros: how opaque a pixel is stands with its colour. Rows are whole words.
	zeros := make([]byte, (size.X+15)/16*2*size.Y)
	mask, err := made(win.CreateBitmap(int32(size.X), int32(size.Y), 1, 1, unsafe.Pointer(&zeros[0])), "CreateBitmap")
	if err != nil {
		return 0, err
	}
	defer func() { _ = calls.deleteBitmap(mask) }()
	icon := win.CreateIconIndirect(&win.ICONINFO{FIcon: win.TRUE, HbmMask: win.HBITMAP(mask), HbmColor: win.HBITMAP(colours)})
	if icon == 0 {
		return 0, failure("CreateIconIndirect", windows.GetLastError())
	}
	return icon, nil
}
