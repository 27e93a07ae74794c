package winapi

import (
	"fmt"
	"unsafe"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procOpenClipboard           = user32.NewProc("OpenClipboard")
	procCloseClipboard          = user32.NewProc("CloseClipboard")
	procEmptyClipboard          = user32.NewProc("EmptyClipboard")
	procGetClipboardData        = user32.NewProc("GetClipboardData")
	procSetClipboardData        = user32.NewProc("SetClipboardData")
	procGetClipboardOwner       = user32.NewProc("GetClipboardOwner")
	procRegisterClipboardFormat = user32.NewProc("RegisterClipboardFormatW")
	procGlobalSize              = kernel32.NewProc("GlobalSize")
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

// markFormat is the name under which a mark lies on the clipboard beside a text of ours.
// The number of the clipboard's changes would not do: what is copied right behind us
// would count as ours.
const markFormat = "reprise agent mark"

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
		found = true
		return contentOf(win.HGLOBAL(memory), func(content []byte) {
			text = textOf(unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(content))), len(content)/2))
		})
	})
	return text, found, err
}

// SetClipboardText puts a text there under a mark and nothing else, out of sight of
// clipboard histories and of programs that watch the clipboard. ErrBusy: another program
// holds it. One attempt.
func (System) SetClipboardText(text string, mark uint64) error {
	units, err := clipboardUnits(text)
	if err != nil {
		return err
	}
	return asOwner(func() error {
		if err := empty(); err != nil {
			return err
		}
		return orNothing(func() error {
			if err := putFormat(markFormat, markBytes(mark)); err != nil {
				return err
			}
			return putText(units)
		})
	})
}

// ClipboardMark is the mark under which SetClipboardText put there what lies there; 0:
// something else does, or nothing. ErrBusy: another program holds the clipboard. One
// attempt.
func (System) ClipboardMark() (mark uint64, err error) {
	err = withClipboard(0, func() error { mark, err = readMark(); return err })
	return mark, err
}

// ReplaceClipboard puts a text in the place of what lies there under a mark; has false:
// it takes that off. Nothing comes in between. False: nothing lies there under it any
// more, and nothing was changed. ErrBusy: another program holds the clipboard. One
// attempt.
func (System) ReplaceClipboard(mark uint64, text string, has bool) (replaced bool, err error) {
	units, err := clipboardUnits(text)
	if err != nil {
		return false, err
	}
	err = asOwner(func() error {
		switch lies, err := readMark(); {
		case err != nil:
			return err
		case lies != mark:
			return nil
		}
		if err := empty(); err != nil {
			return err
		}
		replaced = true
		if !has {
			return nil
		}
		return orNothing(func() error { return putText(units) })
	})
	return replaced && err == nil, err
}

// readMark is the mark of what lies on the open clipboard. It is there, and no program
// has to be waited for.
func readMark() (uint64, error) {
	format, err := formatNamed(markFormat)
	if err != nil || !win.IsClipboardFormatAvailable(format) {
		return 0, err
	}
	memory, err := try(procGetClipboardData, uintptr(format))
	if err != nil {
		return 0, err
	}
	var mark uint64
	err = contentOf(win.HGLOBAL(memory), func(content []byte) { mark = markOf(content) })
	return mark, err
}

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

// asOwner lends the clipboard to change. To fill it needs a window of our own, which
// lives no longer: the next program that empties the clipboard would wait for it to
// answer.
func asOwner(change func() error) error {
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
	return withClipboard(owner, change)
}

func empty() error {
	_, err := try(procEmptyClipboard)
	return err
}

// orNothing fills the open clipboard, or leaves nothing there.
func orNothing(fill func() error) error {
	err := fill()
	if err != nil {
		_ = empty() // fill's error is the one that counts
	}
	return err
}

// putText puts a text there that is kept out of what clipboards are kept in.
func putText(units []uint16) error {
	for _, name := range unseen {
		if err := putFormat(name, make([]byte, 4)); err != nil {
			return err
		}
	}
	return put(win.CF_UNICODETEXT, unsafe.Slice((*byte)(unsafe.Pointer(&units[0])), 2*len(units)))
}

// putFormat puts content there under a registered name.
func putFormat(name string, content []byte) error {
	format, err := formatNamed(name)
	if err != nil {
		return err
	}
	return put(format, content)
}

func formatNamed(name string) (uint32, error) {
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, err
	}
	format, err := try(procRegisterClipboardFormat, uintptr(unsafe.Pointer(wide)))
	return uint32(format), err
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

// contentOf lends a memory block of the clipboard, never past its end.
func contentOf(memory win.HGLOBAL, use func([]byte)) error {
	at := win.GlobalLock(memory)
	if at == nil {
		return fmt.Errorf("GlobalLock: %w", errSilent)
	}
	defer win.GlobalUnlock(memory)
	use(unsafe.Slice((*byte)(at), ask(procGlobalSize, uintptr(memory))))
	return nil
}
