package winapi

// LogonSession is one session of the machine: WTS_SESSION_INFO of wtsapi32.h, and what
// WTSQuerySessionInformation says of it.
type LogonSession struct {
	ID           uint32
	State        uint32 // WTS_CONNECTSTATE_CLASS
	User, Domain string // empty: nobody is logged on
	Locked       bool   // known to be locked
	Remote       bool   // shown by a remote protocol
	Console      bool   // shown on the machine's own screen
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
