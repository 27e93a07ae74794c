package winapi

import (
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

// What is taken from lxn/win and x/sys is proved as well.
var (
	_ = [1]byte{}[unsafe.Sizeof(win.BITMAPINFOHEADER{})-40]
	_ = [1]byte{}[unsafe.Offsetof(win.BITMAPINFOHEADER{}.BiBitCount)-14]
	_ = [1]byte{}[unsafe.Sizeof(win.RECT{})-16]
	_ = [1]byte{}[unsafe.Sizeof(win.POINT{})-8]
	_ = [1]byte{}[unsafe.Sizeof(windows.GUIThreadInfo{})-(24+6*unsafe.Sizeof(uintptr(0)))]
	_ = [1]byte{}[unsafe.Offsetof(windows.GUIThreadInfo{}.Focus)-(8+unsafe.Sizeof(uintptr(0)))]
)
