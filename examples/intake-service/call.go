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
	var r retries
	for {
		err := once(ctx, call)
		if err == nil || !r.more(ctx, err) {
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

// retries counts the failures in a row of one call.
type retries struct{ tries, odd int }

// oddFailures is how often in a row a call may fail in a way that no server that is
// away explains, before that is taken for a fault.
const oddFailures = 5

// more says whether the call is worth another try, and waits until it is time for
// it. It is not when ctx ends first.
func (r *retries) more(ctx context.Context, err error) bool {
	switch outlookOf(err) {
	case lasts:
		return false
	case odd:
		if r.odd++; r.odd == oddFailures {
			return false
		}
	}
	r.tries++
	return wait(ctx, r.tries-1) == nil
}

// outlook is what is to be expected of the same call a little later.
type outlook int

const (
	lasts  outlook = iota // the same answer
	passes                // success, sooner or later
	odd                   // nobody knows; a few tries tell
)

// outlookOf goes by the code, and where that leaves it open by the server's reason.
func outlookOf(err error) outlook {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		return passes
	case codes.ResourceExhausted:
		if r := reason(err); r == "JOURNAL_FULL" || r == "WATCHER_TOO_SLOW" {
			return passes
		}
		// gRPC itself: a message is larger than its receiver takes. A watch that goes on
		// after what it has seen may be told the same in smaller messages.
		return odd
	case codes.Canceled, codes.Internal, codes.Unknown:
		return odd // how a message that was cut in the middle may look, also by a proxy
	}
	return lasts
}

// trouble is what a failure means, for whoever looks after the service.
func trouble(err error) string {
	if status.Code(err) == codes.ResourceExhausted && reason(err) == "" {
		return "a message is larger than its receiver is set to take: " + status.Convert(err).Message()
	}
	return status.Convert(err).Message()
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
