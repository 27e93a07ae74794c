package winapi

import (
	"errors"
	"fmt"
)

// LogonSession is one session of the machine: WTS_SESSION_INFO of wtsapi32.h, and what
// WTSQuerySessionInformation says of it.
type LogonSession struct {
	ID           uint32
	State        uint32 // WTS_CONNECTSTATE_CLASS
	User, Domain string // empty: nobody is logged on
	Locked       bool   // known to be locked
	Remote       bool   // shown by a remote protocol
	Console      bool   // shown on the machine's own screen
	Unseen       error  // why who is logged on, and how it stands, is not known; nil: it is
}

// servicesSession is the session of the services. No user is ever logged on in it.
const servicesSession = 0

// errEnded says that a session is not there any more.
var errEnded = errors.New("the session has ended")

// logonSessions are those of the listed sessions in which a user can be, with what ask
// fills in. One that can't be asked hides no other: it stays, and says so.
func logonSessions(listed []LogonSession, ask func(*LogonSession) error) []LogonSession {
	var list []LogonSession
	for _, s := range listed {
		if s.ID == servicesSession || s.State > sessionDisconnected {
			continue
		}
		full := s
		switch err := ask(&full); {
		case errors.Is(err, errEnded):
			continue
		case err != nil:
			full = s
			full.Unseen = fmt.Errorf("session %d: %w", s.ID, err)
		}
		list = append(list, full)
	}
	return list
}

// lacking is what went wrong when several things were asked of a session. That this
// Windows does not have one of them is no fault.
func lacking(errs ...error) error {
	var faults []error
	for _, err := range errs {
		if !errors.Is(err, ErrNotHere) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// Rights on a pipe, of winnt.h. What a helper gets is FILE_GENERIC_READ and
// FILE_GENERIC_WRITE without FILE_CREATE_PIPE_INSTANCE, which has the value of
// FILE_APPEND_DATA: it may call, and not answer in the service's place.
const (
	fileGenericRead    = 0x120089
	fileGenericWrite   = 0x120116
	fileCreateInstance = 0x4
	pipeClientRights   = (fileGenericRead | fileGenericWrite) &^ fileCreateInstance
)

// pipeSecurity is the security descriptor of a pipe, in the language of SDDL: owned by
// its server, for it, the system and a client, by their SIDs, and for nobody else. It
// inherits nothing, and is closed to whoever comes over the network.
func pipeSecurity(server, client string) string {
	sddl := "O:" + server + "D:P(D;;FA;;;NU)(A;;FA;;;SY)(A;;FA;;;" + server + ")"
	if client != server {
		sddl += "(A;;0x12019b;;;" + client + ")"
	}
	return sddl
}

// The number in pipeSecurity is the rights.
var _ = [1]byte{}[pipeClientRights-0x12019b]
