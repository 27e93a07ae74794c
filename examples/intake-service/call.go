package main

import (
	"context"
	"math/rand/v2"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Times of the service.
const (
	callTimeout = 10 * time.Second // of one try of one call
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
	saveTimeout = 20 * time.Second
)

// again makes a call until it succeeds, fails for good or ctx ends. It is for calls
// that may be made twice: the first may have been taken and only its answer lost.
func again(ctx context.Context, call func(context.Context) error) error {
	for tries := 0; ; tries++ {
		err := once(ctx, call)
		if err == nil || !passing(err) || ctx.Err() != nil {
			return err
		}
		if wait(ctx, tries) != nil {
			return err // it says more than the end of ctx does
		}
	}
}

// once makes a call with a deadline of its own: no call without one.
func once(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return call(ctx)
}

// wait waits before the next try: up to twice as long each time, and at random, so
// that those who failed together do not come back together.
func wait(ctx context.Context, tries int) error {
	most := min(firstWait<<min(tries, 10), longestWait)
	timer := time.NewTimer(rand.N(most) + time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// passing says whether the same call may succeed a little later.
func passing(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		return true
	case codes.ResourceExhausted: // also a message that is too large: that one stays so
		return reason(err) == "JOURNAL_FULL" || reason(err) == "WATCHER_TOO_SLOW"
	}
	return false
}

// reason is the server's word for an error. Programs decide by it; messages are for
// people and may change.
func reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == "reprise.v1" {
			return info.GetReason()
		}
	}
	return ""
}
