package cli

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/internal/workflow"
)

// violation is one field that the server calls wrong.
type violation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
}

// report writes what went wrong to stderr, in the chosen format, and returns the
// exit code.
func (a *app) report(err error) int {
	exit := exitOf(err)
	if e := (*exitError)(nil); err == nil || errors.As(err, &e) && e.err == nil {
		return exit
	}
	if a.output == lines {
		a.reportJSON(err, exit)
		return exit
	}
	if faults := (workflow.Faults)(nil); errors.As(err, &faults) {
		_, _ = fmt.Fprintln(a.errs, faults)
		return exit
	}
	message, name, violations := fromStatus(err)
	if name != "" {
		message += " (" + name + ")"
	}
	_, _ = fmt.Fprintf(a.errs, "reprisectl: %s\n", message)
	for _, v := range violations {
		if strings.Contains(message, v.Field+": "+v.Description) {
			continue // a single one is the message
		}
		_, _ = fmt.Fprintf(a.errs, "  %s: %s\n", v.Field, v.Description)
	}
	if hint := hints[reasonOf(err)]; hint != "" {
		_, _ = fmt.Fprintf(a.errs, "  %s\n", hint)
	}
	if exit == exitUsage && name == "" && !strings.Contains(message, "--help") {
		_, _ = fmt.Fprintln(a.errs, "See reprisectl --help.")
	}
	return exit
}

func (a *app) reportJSON(err error, exit int) {
	if faults := (workflow.Faults)(nil); errors.As(err, &faults) {
		for _, f := range faults {
			_ = emitTo(a.env.Stderr, line{Type: "fault", File: f.File, Line: f.Line, Column: f.Column, Message: f.Message, ExitCode: &exit})
		}
		return
	}
	message, name, violations := fromStatus(err)
	reason := reasonOf(err)
	_ = emitTo(a.env.Stderr, line{
		Type: "error", Message: message, Code: name, Reason: reason, Hint: hints[reason], Violations: violations, ExitCode: &exit,
	})
}

const eventsForgotten = "EVENTS_FORGOTTEN"

// hints say what to do about an error, by the reason that the server gives.
var hints = map[string]string{
	eventsForgotten: "what happened right after this id is not kept any more; events without --after prints all that is kept, " +
		"events --follow --new begins with the replays as they are now",
}

// reasonOf is the reason that the server gives with an error, or empty.
func reasonOf(err error) string {
	var answered interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answered) {
		return ""
	}
	for _, d := range answered.GRPCStatus().Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// fromStatus takes an error apart: what is said around it and by the server, the
// code's name (empty: it is no answer of a call), and the fields that are wrong.
func fromStatus(err error) (message, name string, violations []violation) {
	var answered interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answered) {
		return err.Error(), "", nil
	}
	// The status that is found through wrapping errors has their text before its
	// own as message, and its own words "rpc error: …" in between; say it once.
	st := answered.GRPCStatus()
	message = st.Message()
	if call := (*callError)(nil); errors.As(err, &call) {
		message = call.what + ": " + message
	}
	for _, d := range st.Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, f := range bad.GetFieldViolations() {
				violations = append(violations, violation{f.GetField(), f.GetDescription()})
			}
		}
	}
	return message, code.Code(st.Code()).String(), violations
}

// callError says what a failed call was for.
type callError struct {
	what string
	err  error
}

func (e *callError) Error() string { return e.what + ": " + e.err.Error() }

func (e *callError) Unwrap() error { return e.err }

// GRPCStatus makes status.Code see the call's own code.
func (e *callError) GRPCStatus() *status.Status { return status.Convert(e.err) }

func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return &callError{what, err}
}
