// Package desktop says whether a machine's desktop can take input. It decides
// nothing: the agent sends no input while a state is not usable, and the server
// dispatches nothing to it.
package desktop

// Kind is what keeps a desktop from taking input, or Active.
type Kind int

// The kinds; their names are the schema's.
const (
	Active          Kind = iota + 1 // input arrives
	Locked                          // the workstation is locked
	Disconnected                    // the remote connection of the desktop is closed
	SecureDesktop                   // the secure desktop is shown, such as a UAC consent
	NoUser                          // no user is logged on
	DisplayTooSmall                 // the display is smaller than the least usable size
	AgentImpaired                   // the agent itself cannot work: it cannot keep its journal, or its helper is not there
	ElevatedWindow                  // a window with more rights than the agent is in front: input does not reach it
)

var names = map[Kind]string{
	Active: "active", Locked: "locked", Disconnected: "disconnected",
	SecureDesktop: "secure desktop", NoUser: "no user", DisplayTooSmall: "display too small",
	AgentImpaired: "agent impaired", ElevatedWindow: "elevated window",
}

func (k Kind) String() string {
	if s, ok := names[k]; ok {
		return s
	}
	return "unknown"
}

// State is a desktop's state at one moment.
type State struct {
	Kind   Kind
	Detail string // why, for people
}

// Usable says whether input arrives.
func (s State) Usable() bool { return s.Kind == Active }
