package winapi

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/lxn/win"
	"golang.org/x/sys/windows"
)

var (
	procRegisterHotKey              = user32.NewProc("RegisterHotKey")
	procUnregisterHotKey            = user32.NewProc("UnregisterHotKey")
	procMsgWaitForMultipleObjectsEx = user32.NewProc("MsgWaitForMultipleObjectsEx")
)

// claimKeys are keys that Windows knows and keyboards have no more: VK_F22 down to VK_F17
// and the two above. The first that no program has taken is used.
var claimKeys = []uint16{0x85, 0x84, 0x83, 0x82, 0x81, 0x80, 0x86, 0x87}

// claimTime is how long Windows has to tell of the hot key.
const claimTime = 500 * time.Millisecond

// ClaimFront brings a window to the front by the right that a hot key gives. Windows lets
// a program choose the window in front only if it is in front itself, or got the last
// input; one that is started by a service and watched by a person never is. Who is told
// of its hot key got the last input: so it registers one, presses it and chooses. Its
// press goes to no window, and nothing is held down with it. Whether the window came is for
// Foreground to say. An error: there is no hot key to be had, or Windows did not tell of
// it, as while a person holds a modifier.
//
// Sources: SetForegroundWindow, section Remarks, of the Windows documentation; "Pressing
// a registered hotkey gives you the foreground activation love", The Old New Thing, 26
// February 2009.
func (s System) ClaimFront(w HWND) error {
	done := make(chan error, 1)
	go func() {
		// Never unlocked: the thread ends with its queue and its hot key.
		runtime.LockOSThread()
		done <- s.claimFront(w)
	}()
	return <-done
}

// claimFront does it on a thread of its own.
func (s System) claimFront(w HWND) (err error) {
	const id = 1 // of the thread
	// A thread has a queue once it has looked into it. Wine's server dies of a hot key of
	// one without.
	win.PeekMessage(unmoved[win.MSG](), 0, 0, 0, win.PM_NOREMOVE)
	key, err := takeHotKey(id)
	if err != nil {
		return err
	}
	defer func() {
		_, freed := try(procUnregisterHotKey, 0, id)
		err = errors.Join(err, freed)
	}()
	if _, err := s.SendInput([]Event{KeyEvent{Key: key}, KeyEvent{Key: key, Flags: KeyUp}}); err != nil {
		return fmt.Errorf("press the hot key: %w", err)
	}
	if !awaitHotKey() {
		return fmt.Errorf("the hot key: %w", ErrHung)
	}
	win.SetForegroundWindow(win.HWND(w))
	return nil
}

// takeHotKey registers the first key that is free, for the thread.
func takeHotKey(id uintptr) (uint16, error) {
	const noRepeat = 0x4000 // MOD_NOREPEAT of winuser.h
	var errs []error
	for _, key := range claimKeys {
		_, err := try(procRegisterHotKey, 0, id, noRepeat, uintptr(key))
		if err == nil {
			return key, nil
		}
		errs = append(errs, err)
	}
	return 0, fmt.Errorf("register a hot key: %w", errors.Join(errs...))
}

// awaitHotKey waits until Windows tells the thread of its hot key.
func awaitHotKey() bool {
	const allInput, inputAvailable = 0x04ff, 0x4 // QS_ALLINPUT, MWMO_INPUTAVAILABLE of winuser.h
	m := unmoved[win.MSG]()
	for end := time.Now().Add(claimTime); ; {
		for win.PeekMessage(m, 0, 0, 0, win.PM_REMOVE) {
			if m.Message == win.WM_HOTKEY {
				return true
			}
		}
		left := time.Until(end).Milliseconds()
		if left <= 0 {
			return false
		}
		if uint32(ask(procMsgWaitForMultipleObjectsEx, 0, 0, uintptr(left), allInput, inputAvailable)) == windows.WAIT_FAILED {
			return false
		}
	}
}
