// Package rpcstatus is the one table between our errors and gRPC codes. An error
// that is not listed is ours to mend, so it leaves as Internal without detail.
package rpcstatus

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/server/replay"
)

// Domain is the ErrorInfo domain of our reasons.
const Domain = "reprise.v1"

// Coded is an error that knows how it leaves: its code and, for programs, a
// documented reason. Its message is for people and leaves as it is.
type Coded struct {
	Code   codes.Code
	Reason string // upper snake case, such as MACHINE_NOT_FOUND
	Err    error
}

func (e *Coded) Error() string { return e.Err.Error() }

func (e *Coded) Unwrap() error { return e.Err }

// New returns a sentinel that leaves with a code and a reason.
func New(code codes.Code, reason, message string) error {
	return &Coded{Code: code, Reason: reason, Err: errors.New(message)}
}

// entry is one line of the table, for errors of rooms that know no gRPC.
type entry struct {
	err    error
	code   codes.Code
	reason string
}

// Error returns err as it leaves the server: nil stays nil, and nothing else
// becomes nil; a status stays a status.
func Error(err error) error {
	if err == nil {
		return nil
	}
	if s, ok := status.FromError(err); ok {
		return s.Err()
	}
	var coded *Coded
	if errors.As(err, &coded) {
		return with(coded.Code, coded.Reason, err.Error())
	}
	var checks *replay.ChecksError
	if errors.As(err, &checks) {
		return checksStatus(checks)
	}
	for _, e := range table {
		if errors.Is(err, e.err) {
			return with(e.code, e.reason, err.Error())
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, context.Canceled.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, context.DeadlineExceeded.Error())
	}
	return &hidden{err}
}

// hidden leaves as Internal without detail; the log, which prints the error and
// not its status, has it all.
type hidden struct{ error }

func (h *hidden) Unwrap() error { return h.error }

// GRPCStatus is what the peer is told.
func (h *hidden) GRPCStatus() *status.Status { return status.New(codes.Internal, "internal error") }

func with(code codes.Code, reason, message string) error {
	s := status.New(code, message)
	if d, err := s.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: Domain}); err == nil {
		s = d
	}
	return s.Err()
}

// checksStatus names the safety checks that keep a replay paused.
func checksStatus(e *replay.ChecksError) error {
	failure := &errdetails.PreconditionFailure{}
	for _, id := range e.Missing {
		failure.Violations = append(failure.Violations, &errdetails.PreconditionFailure_Violation{
			Type: "SAFETY_CHECK_REQUIRED", Subject: id, Description: "required and not acknowledged",
		})
	}
	for _, id := range e.Unknown {
		failure.Violations = append(failure.Violations, &errdetails.PreconditionFailure_Violation{
			Type: "SAFETY_CHECK_UNKNOWN", Subject: id, Description: "acknowledged and not pending",
		})
	}
	s := status.New(codes.FailedPrecondition, e.Error())
	if d, err := s.WithDetails(&errdetails.ErrorInfo{Reason: "SAFETY_CHECKS", Domain: Domain}, failure); err == nil {
		s = d
	}
	return s.Err()
}
