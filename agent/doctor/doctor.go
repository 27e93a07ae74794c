// Package doctor looks at a machine and says what keeps an agent from working there,
// and what to do about it.
//
// It decides what is wrong: each check is a function of facts, which an interface
// tells, and of the agent's settings. How Windows is asked is agent/winapi's; how the
// findings leave the program is the command's. It changes nothing, with these
// exceptions: an empty file comes and goes in the folders of state and log, an icon in the
// notification area, and with a self test the pointer moves and a window is typed into.
// No stream is opened, so an agent that works on goes on doing so.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"time"

	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// Result is what a check comes to. Its values are stable.
type Result string

// The results.
const (
	OK      Result = "ok"       // nothing is wrong
	Warning Result = "warning"  // it works, but not always, or not everywhere
	Fault   Result = "fault"    // the agent does not work until this is mended
	Unknown Result = "unknown"  // it could not be found out; why, says what was found
	NotHere Result = "not here" // this system has no such thing
)

// Finding is what one check found. Its JSON is documented in docs/windows.md.
type Finding struct {
	ID     string `json:"id"` // stable
	Result Result `json:"result"`
	Why    string `json:"why"`   // why it is looked at
	Found  string `json:"found"` // for people
	// ToDo says what to do about it; empty: nothing is to be done.
	ToDo string `json:"toDo,omitempty"`
}

// Report is what all checks found, in their order.
type Report struct {
	Version string    `json:"version"` // of the agent
	System  string    `json:"system"`  // such as windows/amd64
	At      time.Time `json:"at"`
	Result  Result    `json:"result"` // fault, else warning, else ok
	Checks  []Finding `json:"checks"`
}

// Settings are those of the agent that concern the checks, and what is to be looked at.
type Settings struct {
	Server     string // host:port
	CAFile     string // empty: the system's
	TokenFile  string // empty: none is shown
	StateDir   string
	LogFile    string // empty: there is none
	SecretsDir string // empty: there are none
	Driver     string // by its name among the settings
	Display    string // X display, for driver x11; empty: DISPLAY of the environment
	User       string // whose session is driven, for driver session; empty: anybody's
	TypeMode   string // by its name among the settings
	MinDisplay image.Point
	// Keepalive of HTTP/2, as the agent has it.
	KeepaliveTime, KeepaliveTimeout time.Duration

	Faults []string // what is wrong with the settings, each fault
	Source string   // where they come from, for people; empty: flags and environment

	Window   string        // part of a title whose window's rights are compared; empty: all windows
	Idle     time.Duration // how long a stream must stay open without a message; 0: not tried
	SelfTest bool          // whether input is sent
}

// Drivers and a way to type, by their names among the settings.
const (
	driverX11      = "x11"
	driverWindows  = "windows"
	driverSession  = "session"
	typeCharacters = "characters"
)

// ErrNotHere says that this system has no such thing.
var ErrNotHere = errors.New("there is no such thing on this system")

// answer is what a check comes to.
type answer struct {
	result      Result
	found, toDo string
}

func ok(format string, args ...any) answer {
	return answer{result: OK, found: fmt.Sprintf(format, args...)}
}

func warning(toDo, format string, args ...any) answer {
	return answer{Warning, fmt.Sprintf(format, args...), toDo}
}

func fault(toDo, format string, args ...any) answer {
	return answer{Fault, fmt.Sprintf(format, args...), toDo}
}

func unknown(toDo, format string, args ...any) answer {
	return answer{Unknown, fmt.Sprintf(format, args...), toDo}
}

// said is an error for people: of a call what it was answered, without gRPC's own words.
func said(err error) string {
	if s, ok := status.FromError(err); ok {
		return s.Message()
	}
	return err.Error()
}

// without is the answer where a fact could not be had.
func without(err error) answer {
	if errors.Is(err, ErrNotHere) || errors.Is(err, winapi.ErrNotHere) {
		return answer{result: NotHere, found: err.Error()}
	}
	return unknown("", "%s", said(err))
}

// check is one thing that is looked at.
type check struct {
	id, why string
	// only says whether it is looked at under these settings; nil: always.
	only func(Settings) bool
	look func(ctx context.Context, f Facts, s Settings) answer
}

// patience is how long one check may take beside what it waits for by intent.
const patience = 20 * time.Second

// errPatience ends a check that takes too long.
var errPatience = errors.New("no answer in time")

// Examine looks at everything, one thing after the other, and calls told with each
// finding when it is there; nil: nobody is told. When ctx ends it returns its cause.
func Examine(ctx context.Context, f Facts, s Settings, told func(Finding)) ([]Finding, error) {
	var findings []Finding
	for _, c := range checks {
		if c.only != nil && !c.only(s) {
			continue
		}
		finding := c.examine(ctx, f, s)
		if ctx.Err() != nil {
			return findings, context.Cause(ctx)
		}
		findings = append(findings, finding)
		if told != nil {
			told(finding)
		}
	}
	return findings, nil
}

func (c check) examine(ctx context.Context, f Facts, s Settings) Finding {
	ctx, stop := context.WithTimeoutCause(ctx, patience+s.Idle, errPatience)
	defer stop()
	a := c.look(ctx, f, s)
	return Finding{ID: c.id, Result: a.result, Why: c.why, Found: oneLine(a.found), ToDo: a.toDo}
}

// Worst is the result of all findings together: fault, else warning, else ok. What is
// unknown or not here is nothing that could be mended.
func Worst(findings []Finding) Result {
	worst := OK
	for _, f := range findings {
		switch f.Result {
		case Fault:
			return Fault
		case Warning:
			worst = Warning
		}
	}
	return worst
}

// sentence joins what there is to say.
func sentence(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "; ")
}

// oneLine puts a text on one line, as those of errors may not be.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
