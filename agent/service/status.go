package service

import (
	"fmt"
	"strings"
)

// errorServiceSpecific is the exit code of Windows that says that the service's own one
// tells more: ERROR_SERVICE_SPECIFIC_ERROR of winerror.h.
const errorServiceSpecific = 1066

// Info is how the service is. Its JSON is what `service status --json` prints.
type Info struct {
	Installed bool   `json:"installed"`
	State     string `json:"state,omitempty"`     // stopped, starting, running, pausing, paused, continuing, stopping
	PID       uint32 `json:"pid,omitempty"`       // of the process, while there is one
	StartType string `json:"startType,omitempty"` // automatic, automatic (delayed), manual, disabled; empty: this Windows does not tell
	Account   string `json:"account,omitempty"`   // whom it runs as; empty: this Windows does not tell
	Command   string `json:"command,omitempty"`   // its command line; empty: this Windows does not tell
	Config    string `json:"config,omitempty"`    // its configuration file
	// LastExit is the exit code of Windows of the last end, and LastEvent the number of
	// the event with which the service ended by itself, if it did; 0: it was asked to
	// end, or has never run.
	LastExit  uint32 `json:"lastExitCode"`
	LastEvent uint32 `json:"lastEvent,omitempty"`
	// Reason says what LastExit and LastEvent mean.
	Reason string `json:"reason,omitempty"`
}

// failure is what the last end of a service that does not run means; empty: it was asked
// to end, or there was none.
func (i Info) failure() string {
	switch {
	case i.LastExit == 0 || i.LastExit == errorServiceNeverStarted:
		return ""
	case i.LastExit != errorServiceSpecific:
		return fmt.Sprintf("exit code %d of Windows; `net helpmsg %d` explains it", i.LastExit, i.LastExit)
	}
	for _, e := range events {
		if e.ID == i.LastEvent {
			return fmt.Sprintf("%s; what to do: %s", e.Meaning, e.ToDo)
		}
	}
	return fmt.Sprintf("event %d", i.LastEvent)
}

// errorServiceNeverStarted is the exit code of a service that was not started since the
// machine was: ERROR_SERVICE_NEVER_STARTED of winerror.h.
const errorServiceNeverStarted = 1077

// EndedError says that a service has ended as soon as it was started.
type EndedError struct{ Info Info }

func (e *EndedError) Error() string { return "the service has ended at once: " + e.Info.why() }

// why is failure for people who wait for a service that has ended, with where to look.
func (i Info) why() string {
	f := i.failure()
	switch {
	case f == "":
		return "it was asked to; see its log file and the event log"
	case i.LastExit == errorServiceSpecific:
		return fmt.Sprintf("%s; the entry is in the event log: Application, source %s, event %d; `reprise-agent doctor` looks too", f, Name, i.LastEvent)
	}
	return f + "; see its log file, and `reprise-agent doctor`"
}

// Explained returns the info with the meaning of its last exit.
func (i Info) Explained() Info {
	i.Reason = i.failure()
	return i
}

// Text is the info for people, a line each.
func (i Info) Text() string {
	if !i.Installed {
		return "installed: no\n"
	}
	var out strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&out, "%-11s%s\n", name+":", value)
		}
	}
	line("installed", "yes")
	line("state", i.State)
	if i.PID != 0 {
		line("pid", fmt.Sprint(i.PID))
	}
	line("start", i.StartType)
	line("account", i.Account)
	line("config", i.Config)
	line("command", i.Command)
	line("last exit", i.lastExit())
	return out.String()
}

func (i Info) lastExit() string {
	switch f := i.failure(); {
	case f != "" && i.LastEvent != 0:
		return fmt.Sprintf("event %d: %s", i.LastEvent, f)
	case f != "":
		return f
	case i.LastExit == errorServiceNeverStarted:
		return "none since the machine started"
	}
	return "as asked, or none"
}

// Exit codes of the commands, beside 0 and 1.
const (
	ExitStopped      = 3
	ExitPending      = 4
	ExitPaused       = 5
	ExitNotInstalled = 6
	ExitNotElevated  = 7
)

// ExitCode is an exit code of the commands and its meaning.
type ExitCode struct {
	Code    int
	Meaning string
}

// ExitCodes are all exit codes of the commands.
func ExitCodes() []ExitCode {
	return []ExitCode{
		{0, "done; of status: the service runs"},
		{1, "any other failure"},
		{ExitStopped, "status: the service is installed and stopped"},
		{ExitPending, "status: the service is starting, stopping, pausing or continuing"},
		{ExitPaused, "status: the service is paused"},
		{ExitNotInstalled, "the service is not installed"},
		{ExitNotElevated, "the rights of an administrator are missing"},
	}
}

// ExitCode is the exit code of `service status`.
func (i Info) ExitCode() int {
	switch {
	case !i.Installed:
		return ExitNotInstalled
	case i.State == Running.String():
		return 0
	case i.State == Stopped.String():
		return ExitStopped
	case i.State == Paused.String():
		return ExitPaused
	}
	return ExitPending
}
