package doctor

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/service"
	"github.com/reprise-rpa/reprise/agent/supervise"
)

// Facts is what is known of a machine and its server. An error that is ErrNotHere says
// that this system has no such thing; any other, that it could not be found out.
type Facts interface {
	MachineFacts
	ScreenFacts
	FileFacts
	ServerFacts
}

// MachineFacts are about the machine and its users.
type MachineFacts interface {
	// Service is how the agent's service is.
	Service() (service.Info, error)
	// Sessions are those of the machine, with the one that the helper would be in.
	Sessions(ctx context.Context, user string) (Sessions, error)
	// LockPolicy is what locks or ends the session of the user that asks.
	LockPolicy() (LockPolicy, error)
	// Power is what switches the machine off when nobody uses it.
	Power() (Power, error)
}

// ScreenFacts are about the desktop of the session that asks.
type ScreenFacts interface {
	// Desktop is whether input arrives, as the agent itself sees it.
	Desktop(ctx context.Context) (Desktop, error)
	// Display is the monitors and in which pixels Windows speaks of them.
	Display(ctx context.Context) (Display, error)
	// Windows are the visible windows, the topmost first, with the rights of each.
	Windows(ctx context.Context) (Windows, error)
	// Automation asks UI Automation for something; nil: it answers.
	Automation(ctx context.Context) error
	// Signs tries what tells of the person at the machine, and tells that person.
	Signs() (Signs, error)
	// TryInput sends input and says what came of it.
	TryInput(ctx context.Context) (Tried, error)
}

// FileFacts are about the agent's files.
type FileFacts interface {
	// Token reads a file with a token.
	Token(path string) Token
	// Others says who beside the agent's user, the system and its administrators may read
	// what is there.
	Others(path string) ([]string, error)
	// State looks at a state directory.
	State(path string) State
	// LogFile says why lines can't be written to a file; nil: they can, also where it is
	// not there yet.
	LogFile(path string) error
}

// ServerFacts are about the server and what lies before it.
type ServerFacts interface {
	// Reach calls the server as the agent would, with its token. Asked again it answers
	// what it found before.
	Reach(ctx context.Context, s Settings) Reached
	// Idle opens a stream on which nobody says anything and waits for so long.
	Idle(ctx context.Context, s Settings) Idled
}

// Sessions are the sessions of the machine.
type Sessions struct {
	Own    uint32 // the one of this process
	List   []supervise.Session
	Chosen *supervise.Session // where the helper would be; nil: nowhere
	Why    string             // why nowhere, for people
}

// LockPolicy is what locks a session after a time without input; 0: it does not.
type LockPolicy struct {
	ScreenSaver       time.Duration // until a screen saver that locks
	SaverTimeout      time.Duration // of the screen saver, whether it is on or not
	MachineInactivity time.Duration // the machine's inactivity limit, of its policy
	DeviceLock        time.Duration // that of a device management
	RemoteIdle        time.Duration // until a remote session is disconnected
	RemoteGone        time.Duration // until a disconnected session is ended
	ByPolicy          bool          // the screen saver is set by a group policy
}

// Power is after which time without input the machine saves power; 0: never.
type Power struct{ Plugged, Battery PowerPlan }

// PowerPlan is one source of power.
type PowerPlan struct{ Screen, Sleep, Hibernate time.Duration }

// Desktop is how the desktop stands.
type Desktop struct {
	Input string // name of the desktop that gets input; empty: not known
	State desktop.State
}

// Display is what pictures are taken of.
type Display struct {
	Awareness string // of DPI, as winapi names it; empty: this system has no such thing
	Monitors  []driver.Monitor
}

// Windows are the windows on the desktop.
type Windows struct {
	Own uint32 // integrity level of this process; 0: not known
	// Elevated says that this process has an administrator's rights which Windows keeps
	// out of what the same user starts without asking for them, and out of a helper.
	Elevated bool
	List     []Window
}

// Window is a window and its program's rights.
type Window struct {
	driver.Window
	Level  uint32 // integrity level; 0: not known
	Denied bool   // its program does not let itself be asked
}

// Signs is what can be had of the person at the machine; nil: it can.
type Signs struct {
	Hooks, Tray error
	Unseen      bool // pictures leave out what is shown to the person
}

// Tried is what came of input.
type Tried struct {
	Pointer error // of moving the pointer and back; nil: it went and came
	Typing  error // of typing into a window of our own
	Want    string
	Got     string
}

// Token is what was found of a token file.
type Token struct {
	Err error // why there is no token in it; nil: there is one
}

// State is what was found in a state directory.
type State struct {
	Missing  bool   // it is not there yet
	Write    error  // nil: files can be made there
	Free     uint64 // bytes that are free
	FreeErr  error
	Held     bool  // an agent is running on it
	LockErr  error // it could not be found out
	Spool    error // what is wrong with the memory; nil: nothing
	Actions  int   // that it remembers
	Unheard  int   // results that the server has not acknowledged
	NoMemory bool  // there is no memory yet
}

// stage is how far a call came.
type stage int

// The stages, in their order.
const (
	atSettings stage = iota // the address or the CA file is wrong
	atName                  // its name is not known
	atPort                  // nothing answers there
	atTLS                   // no secure connection comes about
	atCall                  // no call is answered
	answered                // a call was answered
)

// Reached is what came of calling the server.
type Reached struct {
	Stage   stage
	Err     error  // why it came no further
	Proxy   string // through which it goes; empty: none
	Secure  bool   // by TLS
	Elapsed time.Duration
	Serving bool // it says that it serves
	// HealthUnknown says that it does not answer the question whether it serves.
	HealthUnknown bool
	Chain         []*x509.Certificate // the server's own first; empty: not seen
	// Clock is the server's minus ours, within Precision; nil: the server does not tell.
	Clock     *time.Duration
	Precision time.Duration
	// Access is how the agent's own call was refused; nil: the token was taken.
	Access error
	Reason string // of Access, in the words of docs/errors.md
}

// Idled is what came of a stream that stood idle.
type Idled struct {
	Lived time.Duration
	Err   error // what ended it; nil: it lived to the end
}
