package winapi

// Connection states of a session: WTS_CONNECTSTATE_CLASS of wtsapi32.h.
const sessionDisconnected = 4

// sessionLocked is WTS_SESSIONSTATE_LOCK of wtsapi32.h; 1 is unlocked and -1 unknown.
const sessionLocked = 0

// sessionOf puts together what Windows says of a session.
func sessionOf(user string, state uint32, flags int32) Session {
	return Session{User: user, Locked: flags == sessionLocked, Disconnected: state == sessionDisconnected}
}

// outranks says whether a process of integrity level other, read with err, is out of
// reach of one of level own. A process that hides its level from us by its rights has
// more of them; any other error, such as its end, says nothing.
func outranks(own, other uint32, denied bool) bool { return denied || other > own }
