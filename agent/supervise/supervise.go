// Package supervise keeps the one process that has hands and eyes, the helper, where
// the desktop is: it chooses the user's session to be in, starts the helper there,
// hands its connection on, replaces it when it dies and ends it in order.
//
// It decides where the helper lives, when it is started anew, and what is said of the
// desktop while there is none. What travels on the connection is agent/helper's, the
// calls to Windows are agent/winapi's, and the service that all this runs in is
// agent/service's.
//
// One helper lives at a time, in one session, and a second one is never started before
// the first one has ended. Its process is tied to this one twice: by a job that Windows
// ends with us, whatever ends us, and by the connection, whose end is its own.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/internal/backoff"
)

// SecretSize is how many random bytes the service and its helper share.
const SecretSize = 32

// ErrUnsupported says that this system has no user sessions to start helpers in.
var ErrUnsupported = errors.New("helpers in user sessions are there on Windows alone")

// Desk is the desktop that the helpers serve in turn.
type Desk interface {
	// Connect takes a helper's connection: from when it returns nil the helper serves
	// the desktop. A former connection is closed. It keeps conn until it is closed.
	Connect(ctx context.Context, conn net.Conn, secret []byte) error
	// Absent says that no helper serves the desktop, and how the desktop stands. One
	// that still does is left: its gesture is stopped. It is not called while Connect
	// runs.
	Absent(state desktop.State)
}

// Machine is what is needed of the system.
type Machine interface {
	// Sessions lists the sessions of the machine.
	Sessions() ([]Session, error)
	// Start starts a helper in a session and gives it the secret, so that no other
	// process sees it. It does not wait for the helper's call.
	Start(session uint32, secret []byte) (Process, error)
}

// Process is one helper that was started. It ends when this process does.
type Process interface {
	// Accept waits for the helper's call and returns its connection, which is that
	// process's and no other's. It is called once.
	Accept(ctx context.Context) (net.Conn, error)
	// Wait waits for the end of the process, and gives up what was held for it. It is
	// called once.
	Wait() Exit
	// Kill ends the process now, and what it has started. Wait returns then.
	Kill() error
}

// Exit is how a helper's process ended.
type Exit struct {
	Code uint32 // its exit code
	Said string // what it wrote on its standard error, the beginning of it
	Err  error  // the end was seen, but not how it was
}

func (e Exit) String() string {
	switch {
	case e.Err != nil:
		return "nobody knows how: " + e.Err.Error()
	case e.Code > 0xffff: // a code of the system; people search for it in this form
		return fmt.Sprintf("exit code 0x%08X", e.Code)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Config sets up a Supervisor. The zero value of each optional field means its default.
type Config struct {
	Machine Machine // required: NewMachine, or a fake
	Desk    Desk    // required
	// User is whose session is driven: user, DOMAIN\user, or .\user for an account of
	// this machine. Empty: anybody's, and the helper then goes from one user's desktop
	// to another's as they come and go.
	User string
	// Changed says that something about the sessions changed, such as a logon or a
	// lock. What is sent is not read. nil: they are looked at each second alone.
	Changed     <-chan struct{}
	Backoff     backoff.Policy // waits before a helper that ended is replaced; zero: backoff.Default
	StartWithin time.Duration  // time for a helper to be started and connected; 0: 20 s
	EndWithin   time.Duration  // time for a helper to end by itself; 0: 3 s
	Log         *slog.Logger   // nil: discard
}

// Supervisor keeps one helper in the right session.
type Supervisor struct {
	cfg    Config
	who    account
	random func() float64
}

// New checks the configuration and reports all of its faults together.
func New(cfg Config) (*Supervisor, error) {
	var errs []error
	if cfg.Machine == nil {
		errs = append(errs, errors.New("Machine is required"))
	}
	if cfg.Desk == nil {
		errs = append(errs, errors.New("Desk is required"))
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	who, err := parseAccount(cfg.User, host)
	errs = append(errs, err, cfg.Backoff.Validate())
	if cfg.StartWithin < 0 || cfg.EndWithin < 0 {
		errs = append(errs, errors.New("StartWithin and EndWithin must not be negative"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	if cfg.StartWithin == 0 {
		cfg.StartWithin = 20 * time.Second
	}
	if cfg.EndWithin == 0 {
		cfg.EndWithin = 3 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Supervisor{cfg: cfg, who: who, random: rand.Float64}, nil
}
