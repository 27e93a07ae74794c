package winapi

import (
	"fmt"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procOpenClipboard              = user32.NewProc("OpenClipboard")
	procCloseClipboard             = user32.NewProc("CloseClipboard")
	procEmptyClipboard             = user32.NewProc("EmptyClipboard")
	procGetClipboardData           = user32.NewProc("GetClipboardData")
	procSetClipboardData           = user32.NewProc("SetClipboardData")
	procGetClipboardOwner          = user32.NewProc("GetClipboardOwner")
	procGetClipboardSequenceNumber = user32.NewProc("GetClipboardSequenceNumber")
	procRegisterClipboardFormat    = user32.NewProc("RegisterClipboardFormatW")
	procGlobalSize                 = kernel32.NewProc("GlobalSize")
)

// The formats that keep a text out of clipboard histories, other machines and
// programs that watch; Microsoft documents them under "Clipboard Formats", "Cloud
// Clipboard and Clipboard History Formats". A value of 0 forbids; the first one works
// by being there.
var unseen = []string{
	"ExcludeClipboardContentFromMonitorProcessing",
	"CanIncludeInClipboardHistory",
	"CanUploadToCloudClipboard",
}

// ClipboardText is the text on the clipboard; false: there is none. ErrBusy: another
// program holds it, or the one that promised its content does not answer. One attempt.
func (System) ClipboardText() (text string, found bool, err error) {
	err = withClipboard(0, func() error {
		if !win.IsClipboardFormatAvailable(win.CF_UNICODETEXT) {
			return nil
		}
		memory, err := try(procGetClipboardData, win.CF_UNICODETEXT)
		if err != nil {
			return err
		}
		text, found = textIn(win.HGLOBAL(memory)), true
		return nil
	})
	return text, found, err
}

// SetClipboardText puts a text there and nothing else, out of sight of clipboard
// histories and of programs that watch the clipboard. ErrBusy: another program holds
// it. One attempt.
func (System) SetClipboardText(text string) error {
	units, err := clipboardUnits(text)
	if err != nil {
		return err
	}
	return asOwner(func() error {
		for _, name := range unseen {
			if err := putFormat(name); err != nil {
				return err
			}
		}
		return put(win.CF_UNICODETEXT, unsafe.Slice((*byte)(unsafe.Pointer(&units[0])), 2*len(units)))
	})
}

// ClearClipboard takes everything off it. ErrBusy: another program holds it. One
// attempt.
func (System) ClearClipboard() error { return asOwner(func() error { return nil }) }

// ClipboardSequence counts the changes of the clipboard.
func (System) ClipboardSequence() uint32 { return uint32(ask(procGetClipboardSequenceNumber)) }

// withClipboard opens the clipboard for a window, lends it to use and closes it.
func withClipboard(owner win.HWND, use func() error) (err error) {
	defer onOneThread()()
	if _, err := try(procOpenClipboard, uintptr(owner)); err != nil {
		return fmt.Errorf("%w (%w)", ErrBusy, err)
	}
	defer func() {
		if _, closing := try(procCloseClipboard); err == nil {
			err = closing
		}
	}()
	// Both reading and emptying wait for the program whose content it is.
	if w := HWND(ask(procGetClipboardOwner)); w != 0 && !answers(w) {
		return fmt.Errorf("%w: it does not answer", ErrBusy)
	}
	return use()
}

// asOwner empties the clipboard and lends it to fill. That needs a window of our own,
// which lives no longer: the next program that empties the clipboard would wait for
// it to answer.
func asOwner(fill func() error) error {
	defer onOneThread()()
	class, err := windows.UTF16PtrFromString("STATIC")
	if err != nil {
		return err
	}
	const messageOnly = ^win.HWND(2) // HWND_MESSAGE, -3
	owner := win.CreateWindowEx(0, class, nil, 0, 0, 0, 0, 0, messageOnly, 0, 0, nil)
	if owner == 0 {
		return fmt.Errorf("make a window for the clipboard: %w", errSilent)
	}
	defer win.DestroyWindow(owner)
	return withClipboard(owner, func() error {
		if _, err := try(procEmptyClipboard); err != nil {
			return err
		}
		if err := fill(); err != nil {
			ask(procEmptyClipboard)
			return err
		}
		return nil
	})
}

// putFormat puts a DWORD of 0 there under a registered name.
func putFormat(name string) error {
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	format, err := try(procRegisterClipboardFormat, uintptr(unsafe.Pointer(wide)))
	if err != nil {
		return err
	}
	return put(uint32(format), make([]byte, 4))
}

// put hands content over to the clipboard, which owns it from then on.
func put(format uint32, content []byte) error {
	memory := win.GlobalAlloc(win.GMEM_MOVEABLE, uintptr(len(content)))
	if memory == 0 {
		return fmt.Errorf("GlobalAlloc of %d bytes: %w", len(content), errSilent)
	}
	at := win.GlobalLock(memory)
	if at == nil {
		win.GlobalFree(memory)
		return fmt.Errorf("GlobalLock: %w", errSilent)
	}
	copy(unsafe.Slice((*byte)(at), len(content)), content)
	win.GlobalUnlock(memory)
	if _, err := try(procSetClipboardData, uintptr(format), uintptr(memory)); err != nil {
		win.GlobalFree(memory)
		return err
	}
	return nil
}

// textIn reads a memory block of the clipboard, never past its end.
func textIn(memory win.HGLOBAL) string {
	at := win.GlobalLock(memory)
	if at == nil {
		return ""
	}
	defer win.GlobalUnlock(memory)
	return textOf(unsafe.Slice((*uint16)(at), ask(procGlobalSize, uintptr(memory))/2))
}
