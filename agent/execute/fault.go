package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

// fault is what stopped an action.
type fault struct {
	code    work.Code
	message string
}

func (f *fault) Error() string { return fmt.Sprintf("%s: %s", f.code, f.message) }

func faultf(code work.Code, format string, args ...any) error {
	return &fault{code, fmt.Sprintf(format, args...)}
}

// codeOf says what an error is to the server. An error of the context counts as
// what ended it; one of the desktop's own that nobody named is internal.
func codeOf(ctx context.Context, err error) (work.Code, string) {
	var f *fault
	switch {
	case errors.As(err, &f):
		return f.code, f.message
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), work.ErrTimedOut):
		return work.Timeout, work.ErrTimedOut.Error()
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), work.ErrPerson):
		return work.Person, work.ErrPerson.Error()
	case ctx.Err() != nil:
		return work.Interrupted, work.ErrInterrupted.Error()
	case errors.Is(err, driver.ErrUnavailable):
		return work.DesktopUnavailable, err.Error()
	}
	return work.Internal, err.Error()
}

// driverCodes is what the driver's errors are to the server.
var driverCodes = []struct {
	err  error
	code work.Code
}{
	{driver.ErrUnavailable, work.DesktopUnavailable},
	{driver.ErrStopped, work.Person},
	{driver.ErrPerson, work.Person},
	{driver.ErrBlocked, work.InputBlocked},
	{driver.ErrOffScreen, work.TargetOffScreen},
	{driver.ErrNotInFront, work.WrongWindow},
	{driver.ErrUnsupported, work.Unsupported},
}

// inputFault notes how much a failed gesture has sent, and names the fault.
func (r *run) inputFault(ctx context.Context, in driver.Input, err error) error {
	if !driver.NothingSent(err) {
		r.sent = some
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, known := range driverCodes {
		if !errors.Is(err, known.err) {
			continue
		}
		if known.code == work.DesktopUnavailable && r.sent != nothing {
			return faultf(work.OutcomeUnknown, "the desktop went away in the middle of the input")
		}
		return faultf(known.code, "%s", r.said(ctx, in, err, known.err))
	}
	return faultf(work.Internal, "%s", r.said(ctx, in, err, errors.New("the input failed")))
}

// said is what may be told of a gesture's error. Typed text is told to nobody: of a
// gesture that types or pastes, only what the driver vouches to hold none of it is told.
func (r *run) said(ctx context.Context, in driver.Input, err, plain error) string {
	told, vouched := driver.Telling(err)
	switch in.(type) {
	case driver.Type, driver.Paste:
	default:
		told, vouched = err.Error(), true
	}
	holds := func(text string) bool { return len(text) > 1 && strings.Contains(told, text) }
	if !vouched || slices.ContainsFunc(r.texts, holds) {
		return plain.Error()
	}
	if len(r.masks) == 0 {
		return told
	}
	windows, err := r.cfg.Driver.Windows(ctx)
	if err != nil {
		return plain.Error()
	}
	return r.untold(ctx, told, windows)
}

// untitled is what the log says of a gesture's error, which may name windows by their
// titles.
func untitled(err error) error {
	for _, known := range []error{driver.ErrGone, errCovered} {
		if errors.Is(err, known) {
			return known
		}
	}
	for _, known := range driverCodes {
		if errors.Is(err, known.err) {
			return known.err
		}
	}
	return errors.New("the input failed")
}
