package winapitest

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// HoldClipboard holds the clipboard as another program does, until what it returns is
// called or the test ends.
func HoldClipboard(t testing.TB) (release func()) {
	t.Helper()
	held, over, ended := make(chan bool), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and never unlocked: the clipboard is this thread's
		class, _ := windows.UTF16PtrFromString("STATIC")
		owner := win.CreateWindowEx(0, class, nil, 0, 0, 0, 0, 0, 0, 0, 0, nil)
		ok := win.OpenClipboard(owner)
		held <- ok
		if ok {
			<-over
			win.CloseClipboard()
		}
		win.DestroyWindow(owner)
	}()
	if !<-held {
		t.Fatal("the clipboard is held by somebody else already")
	}
	release = sync.OnceFunc(func() { close(over); <-ended })
	t.Cleanup(release)
	return release
}

// clipboardText is the text on the clipboard, read as a program does that is told to
// paste: again and again while another one holds it, for two seconds at most.
func clipboardText() string {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for range 400 {
		text, _, err := winapi.System{}.ClipboardText()
		if !errors.Is(err, winapi.ErrBusy) {
			return text
		}
		<-again.C
	}
	return ""
}

// ClipboardHas says whether the clipboard holds something in a registered format.
func ClipboardHas(t testing.TB, format string) bool {
	t.Helper()
	name, err := windows.UTF16PtrFromString(format)
	if err != nil {
		t.Fatal(err)
	}
	number, _, _ := procRegisterClipboardFormat.Call(uintptr(unsafe.Pointer(name)))
	return number != 0 && win.IsClipboardFormatAvailable(uint32(number))
}

var procRegisterClipboardFormat = windows.NewLazySystemDLL("user32.dll").NewProc("RegisterClipboardFormatW")
