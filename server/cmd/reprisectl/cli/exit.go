package cli

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/internal/workflow"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitFailed      = 3
	exitCancelled   = 4
	exitPaused      = 5
	exitUnreachable = 6
	exitNotFound    = 7
	exitRefused     = 8
	exitDenied      = 9
	exitInterrupted = 130
)

// ExitCodes lists what each exit code says, for help and documentation.
var ExitCodes = []struct {
	Code    int
	Meaning string
}{
	{exitOK, "done; of a replay that was waited for: completed"},
	{exitFailure, "any other failure"},
	{exitUsage, "the command line or the workflow file is wrong, or the server calls the request invalid"},
	{exitFailed, "the replay failed"},
	{exitCancelled, "the replay was cancelled"},
	{exitPaused, "the replay is paused and needs a person; only with --fail-on-pause or --wait=false"},
	{exitUnreachable, "the server cannot be reached, or does not answer in time"},
	{exitNotFound, "there is no such replay, machine or picture"},
	{exitRefused, "the server refuses: the state does not allow it, a request id is taken, or there is no room"},
	{exitDenied, "the token is missing, wrong or does not allow it"},
	{exitInterrupted, "interrupted; the replay goes on"},
}

func exitCodeHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, e := range ExitCodes {
		fmt.Fprintf(&b, "  %3d  %s\n", e.Code, e.Meaning)
	}
	return strings.TrimRight(b.String(), "\n")
}

var errUnknownFormat = errors.New("plain or json is needed")

// exitError gives an error its exit code. Without an error there is nothing more
// to say: what ended the program has been shown.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(err error) error { return &exitError{exitUsage, err} }

// interrupted marks what a signal ended, unless it already says how it ended.
func interrupted(err error) error {
	if shown := (*exitError)(nil); errors.As(err, &shown) && shown.code != exitFailure {
		return err
	}
	return &exitError{exitInterrupted, errors.New("interrupted")}
}

var codeExits = map[codes.Code]int{
	codes.InvalidArgument:    exitUsage,
	codes.OutOfRange:         exitUsage,
	codes.Unavailable:        exitUnreachable,
	codes.DeadlineExceeded:   exitUnreachable,
	codes.NotFound:           exitNotFound,
	codes.FailedPrecondition: exitRefused,
	codes.AlreadyExists:      exitRefused,
	codes.ResourceExhausted:  exitRefused,
	codes.Aborted:            exitRefused,
	codes.Unauthenticated:    exitDenied,
	codes.PermissionDenied:   exitDenied,
}

// exitOf returns the exit code of what a command returned.
func exitOf(err error) int {
	if err == nil {
		return exitOK
	}
	if e := (*exitError)(nil); errors.As(err, &e) {
		return e.code
	}
	if f := (workflow.Faults)(nil); errors.As(err, &f) {
		return exitUsage
	}
	if code, ok := codeExits[status.Code(err)]; ok {
		return code
	}
	return exitFailure
}
