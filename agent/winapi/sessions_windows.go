package winapi

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// More of what WTSQuerySessionInformation tells: WTS_INFO_CLASS of wtsapi32.h.
const (
	wtsDomainName         = 7
	wtsClientProtocolType = 16
)

// noSession is what WTSGetActiveConsoleSessionId answers while no session is on the
// machine's own screen.
const noSession = 0xffffffff

// protocolConsole is the client protocol of the machine's own screen, as
// WTSClientProtocolType says it.
const protocolConsole = 0

// LogonSessions lists the sessions of the machine in which a user can be, those that
// can't be asked too: not that of the services, and none that listens, begins or ends.
// On a Windows that lists none, and Wine 8 is one, it is the one on the machine's own
// screen.
func (System) LogonSessions() ([]LogonSession, error) {
	var first *windows.WTS_SESSION_INFO
	var n uint32
	if err := windows.WTSEnumerateSessions(0, 0, 1, &first, &n); err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	defer windows.WTSFreeMemory(uintptr(unsafe.Pointer(first)))
	console := windows.WTSGetActiveConsoleSessionId()
	var listed []LogonSession
	if n > 0 {
		for _, e := range unsafe.Slice(first, n) {
			listed = append(listed, LogonSession{ID: e.SessionID, State: e.State, Console: e.SessionID == console})
		}
	} else if console != noSession {
		listed = []LogonSession{{ID: console, State: sessionActive, Console: true}}
	}
	return logonSessions(listed, (*LogonSession).fill), nil
}

// fill asks what the list does not tell, as far as this Windows can say it.
func (l *LogonSession) fill() error {
	lock, protocol := int32(sessionUnknown), uint16(protocolConsole)
	err := lacking(
		sessionValue(uintptr(l.ID), wtsUserName, 2, func(p unsafe.Pointer) { l.User = windows.UTF16PtrToString((*uint16)(p)) }),
		sessionValue(uintptr(l.ID), wtsDomainName, 2, func(p unsafe.Pointer) { l.Domain = windows.UTF16PtrToString((*uint16)(p)) }),
		sessionValue(uintptr(l.ID), wtsClientProtocolType, 2, func(p unsafe.Pointer) { protocol = *(*uint16)(p) }),
		sessionValue(uintptr(l.ID), wtsSessionInfoEx, unsafe.Sizeof(sessionInfo{}), func(p unsafe.Pointer) { lock = (*sessionInfo)(p).lock() }),
	)
	l.Locked, l.Remote = lock == sessionLocked, protocol != protocolConsole
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) || errors.Is(err, windows.ERROR_CTX_WINSTATION_NOT_FOUND) {
		return errEnded
	}
	return err
}

// SessionUser is the user of one session, as whom processes are started there.
type SessionUser struct {
	token windows.Token // a primary one; 0: this process's own user
	sid   string
}

// UserOf returns the user of a session, for Close. It asks for the user's own token,
// which Windows gives to LocalSystem alone; any other account is served in the session
// that it is in itself, as itself.
func (System) UserOf(session uint32) (*SessionUser, error) {
	var asked windows.Token
	err := windows.WTSQueryUserToken(session, &asked)
	switch {
	case errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD), errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return ourselvesIn(session, err)
	case err != nil:
		return nil, fmt.Errorf("token of the user of session %d: %w", session, err)
	}
	defer func() { _ = asked.Close() }()
	u := &SessionUser{}
	err = windows.DuplicateTokenEx(asked, windows.MAXIMUM_ALLOWED, nil, windows.SecurityIdentification, windows.TokenPrimary, &u.token)
	if err != nil {
		return nil, fmt.Errorf("primary token of the user of session %d: %w", session, err)
	}
	if u.sid, err = sidOf(u.token); err != nil {
		u.Close()
		return nil, fmt.Errorf("user of session %d: %w", session, err)
	}
	return u, nil
}

// ourselvesIn is this process's own user, if this is the session it is in; denied is
// why it can be nobody else.
func ourselvesIn(session uint32, denied error) (*SessionUser, error) {
	var own uint32
	if err := windows.ProcessIdToSessionId(windows.GetCurrentProcessId(), &own); err != nil {
		return nil, fmt.Errorf("session of this process: %w", err)
	}
	if own != session {
		return nil, fmt.Errorf("only a service that runs as LocalSystem reaches session %d; this process is in session %d: %w", session, own, denied)
	}
	sid, err := System{}.OwnSID()
	if err != nil {
		return nil, err
	}
	return &SessionUser{sid: sid}, nil
}

// OwnSID is the SID of this process's user, in text.
func (System) OwnSID() (string, error) {
	sid, err := sidOf(windows.GetCurrentProcessToken())
	if err != nil {
		return "", fmt.Errorf("user of this process: %w", err)
	}
	return sid, nil
}

func sidOf(token windows.Token) (string, error) {
	user, err := token.GetTokenUser()
	if err != nil {
		return "", err
	}
	return user.User.Sid.String(), nil
}

// SID is the user's security identifier, in text.
func (u *SessionUser) SID() string { return u.sid }

// Close gives the token up. Processes that were started live on.
func (u *SessionUser) Close() {
	if u.token != 0 {
		_ = u.token.Close()
		u.token = 0
	}
}
