package link

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/internal/backoff"
)

// Ending is how a stream ended, or how it failed to open.
type Ending struct {
	Lived   time.Duration // from the welcome on; 0 means that it never opened
	After   time.Duration // when the server asked the agent to come back; 0: it did not
	Refused bool          // the server will not have this agent as it is
}

// Retry decides when the next stream is tried. It is pure and used by one
// goroutine; the zero value waits by the default policy.
type Retry struct {
	Policy   backoff.Policy
	failures int // in a row
}

// Wait returns how long to wait after a stream that ended so, with random in [0, 1)
// for the jitter. What the server asked for is kept to; a refusal waits as long as
// the policy ever does, since what causes it does not change within a second.
func (r *Retry) Wait(e Ending, random float64) time.Duration {
	r.failures = r.Policy.Failures(r.failures, e.Lived)
	if e.After > 0 {
		return e.After
	}
	failures := r.failures
	if e.Refused {
		failures = max(failures, len(r.Policy.Steps), len(backoff.Default().Steps))
	}
	return r.Policy.Wait(failures, random)
}

// refused says whether the server will not have this agent as it is. That may
// change at any time, but not within a second.
func refused(err error) bool {
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.AlreadyExists, codes.FailedPrecondition, codes.InvalidArgument:
		return true
	}
	return false
}
