package auth

import (
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Domain and the reasons are what programs find in the google.rpc.ErrorInfo of a
// refused call; docs/errors.md says what each means.
const (
	Domain = "reprise.v1"

	TokenNeeded      = "TOKEN_NEEDED"      // UNAUTHENTICATED
	TokenInvalid     = "TOKEN_INVALID"     // UNAUTHENTICATED
	TokensUnreadable = "TOKENS_UNREADABLE" // UNAVAILABLE
	RoleForbidden    = "ROLE_FORBIDDEN"    // PERMISSION_DENIED
	MachineForbidden = "MACHINE_FORBIDDEN" // PERMISSION_DENIED
)

func refusal(code codes.Code, reason, message string) error {
	st := status.New(code, message)
	if with, err := st.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: Domain}); err == nil {
		st = with
	}
	return st.Err()
}

// NotForMachine refuses an agent that asks for a machine that its token is not for.
func NotForMachine(machine string) error {
	return refusal(codes.PermissionDenied, MachineForbidden, fmt.Sprintf("the token is not for machine %q", machine))
}
