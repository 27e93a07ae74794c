package winapi

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	procOpenInputDesktop           = user32.NewProc("OpenInputDesktop")
	procCloseDesktop               = user32.NewProc("CloseDesktop")
	procGetUserObjectInformation   = user32.NewProc("GetUserObjectInformationW")
	procWTSQuerySessionInformation = wtsapi32.NewProc("WTSQuerySessionInformationW")
)

// InputDesktop is the name of the desktop that gets input: "Default", or "Winlogon"
// for the secure one and the lock screen. An error: none can be seen, as when the
// secure one is shut to this process.
func (System) InputDesktop() (string, error) {
	const desktopReadObjects, uoiName = 1, 2
	desktop, err := try(procOpenInputDesktop, 0, 0, desktopReadObjects)
	if err != nil {
		return "", err
	}
	defer ask(procCloseDesktop, desktop)
	var name [256]uint16
	_, err = try(procGetUserObjectInformation, desktop, uoiName, uintptr(unsafe.Pointer(&name[0])), unsafe.Sizeof(name), 0)
	if err != nil {
		return "", err
	}
	return windows.UTF16ToString(name[:]), nil
}

// What WTSQuerySessionInformation tells: WTS_INFO_CLASS of wtsapi32.h.
const (
	wtsUserName      = 5
	wtsConnectState  = 8
	wtsSessionInfoEx = 25
)

// Session is how the user's session stands. With ErrNotHere this Windows can't say all
// of it; what it did say is in the answer.
func (System) Session() (Session, error) {
	var user string
	var state uint32
	lock := int32(sessionUnknown)
	err := errors.Join(
		sessionValue(currentSession, wtsUserName, 2, func(p unsafe.Pointer) { user = windows.UTF16PtrToString((*uint16)(p)) }),
		sessionValue(currentSession, wtsConnectState, 4, func(p unsafe.Pointer) { state = *(*uint32)(p) }),
		sessionValue(currentSession, wtsSessionInfoEx, unsafe.Sizeof(sessionInfo{}), func(p unsafe.Pointer) { lock = (*sessionInfo)(p).lock() }),
	)
	return sessionOf(user, state, lock), err
}

// currentSession is the session of this process, for sessionValue.
const currentSession = 0xffffffff

// sessionValue reads one thing about a session, of at least size bytes.
func sessionValue(session, class, size uintptr, read func(unsafe.Pointer)) error {
	const currentServer = 0
	var value *byte
	var got uint32
	_, err := try(procWTSQuerySessionInformation, currentServer, session, class,
		uintptr(unsafe.Pointer(&value)), uintptr(unsafe.Pointer(&got)))
	switch {
	case errors.Is(err, errSilent), errors.Is(err, windows.ERROR_INVALID_PARAMETER):
		return fmt.Errorf("session information %d: %w (%w)", class, ErrNotHere, err)
	case err != nil:
		return fmt.Errorf("session information %d: %w", class, err)
	case value == nil:
		return fmt.Errorf("session information %d: %w", class, ErrNotHere)
	}
	defer windows.WTSFreeMemory(uintptr(unsafe.Pointer(value)))
	if uintptr(got) < size {
		return fmt.Errorf("session information %d: %d bytes: %w", class, got, ErrNotHere)
	}
	read(unsafe.Pointer(value))
	return nil
}

// Elevated says whether a window's program runs with more rights than the agent, so
// that Windows keeps the agent's input from it. One whose rights can't be read counts
// as such only when asking was denied.
func (System) Elevated(w HWND) bool {
	own, err := ownIntegrity()
	if err != nil {
		return false
	}
	var pid uint32
	if thread, _ := windows.GetWindowThreadProcessId(windows.HWND(w), &pid); thread == 0 {
		return false
	}
	other, err := integrityOf(pid)
	return outranks(own, other, errors.Is(err, windows.ERROR_ACCESS_DENIED))
}

var ownIntegrity = sync.OnceValues(func() (uint32, error) { return integrityOf(windows.GetCurrentProcessId()) })

// integrityOf is the integrity level of a process: the last part of its label's SID.
func integrityOf(pid uint32) (uint32, error) {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return 0, fmt.Errorf("open process %d: %w", pid, err)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var token windows.Token
	if err = windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return 0, fmt.Errorf("open the token of process %d: %w", pid, err)
	}
	defer func() { _ = token.Close() }()
	// A label and the SID that it points to; room enough for the longest SID.
	var label struct {
		windows.Tokenmandatorylabel
		sid [68]byte
	}
	var size uint32
	err = windows.GetTokenInformation(token, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), uint32(unsafe.Sizeof(label)), &size)
	if err != nil {
		return 0, fmt.Errorf("integrity of process %d: %w", pid, err)
	}
	sid := label.Label.Sid
	if sid == nil || sid.SubAuthorityCount() == 0 {
		return 0, fmt.Errorf("integrity of process %d: %w", pid, errSilent)
	}
	return sid.SubAuthority(uint32(sid.SubAuthorityCount()) - 1), nil
}
