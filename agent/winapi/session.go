package winapi

// Connection states of a session: WTS_CONNECTSTATE_CLASS of wtsapi32.h. In those after
// these it waits for a client (idle), listens, is being reset, is down, or begins: nobody
// is logged on in it.
const (
	sessionActive       = iota // a user is logged on, and a screen shows it
	sessionConnected           // a screen shows it, such as one that asks for a logon
	sessionConnectQuery        // it is being connected to a screen
	sessionShadow              // it looks at another session
	sessionDisconnected        // a user is logged on, and no screen shows it
)

// Lock states of a session: WTS_SESSIONSTATE_… of wtsapi32.h; 1 is unlocked.
const (
	sessionLocked  = 0
	sessionUnknown = -1
)

// sessionOf puts together what Windows says of a session.
func sessionOf(user string, state uint32, flags int32) Session {
	return Session{User: user, Locked: flags == sessionLocked, Disconnected: state == sessionDisconnected}
}

// outranks says whether a process of integrity level other, read with err, is out of
// reach of one of level own. A process that hides its level from us by its rights has
// more of them; any other error, such as its end, says nothing.
func outranks(own, other uint32, denied bool) bool { return denied || other > own }
