package helper

import (
	"context"
	"errors"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

// errCalledOff is the cause with which the helper stops a gesture that the service does
// not want any more.
var errCalledOff = errors.New("called off")

var kinds = []struct {
	err  error
	kind helperv1.FaultKind
}{
	{driver.ErrUnavailable, helperv1.FaultKind_FAULT_KIND_UNAVAILABLE},
	{driver.ErrBlocked, helperv1.FaultKind_FAULT_KIND_BLOCKED},
	{driver.ErrOffScreen, helperv1.FaultKind_FAULT_KIND_OFF_SCREEN},
	{driver.ErrNotInFront, helperv1.FaultKind_FAULT_KIND_NOT_IN_FRONT},
	{driver.ErrGone, helperv1.FaultKind_FAULT_KIND_GONE},
	{driver.ErrHung, helperv1.FaultKind_FAULT_KIND_HUNG},
	{driver.ErrUnsupported, helperv1.FaultKind_FAULT_KIND_UNSUPPORTED},
	{driver.ErrStopped, helperv1.FaultKind_FAULT_KIND_STOPPED},
	{driver.ErrPerson, helperv1.FaultKind_FAULT_KIND_PERSON},
	{errCalledOff, helperv1.FaultKind_FAULT_KIND_CALLED_OFF},
}

// encodeFault is an error as it crosses; nil is none.
func encodeFault(err error) *helperv1.Fault {
	if err == nil {
		return nil
	}
	f := &helperv1.Fault{Message: valid(err.Error())}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			f.Kinds = append(f.Kinds, k.kind)
		}
	}
	if errors.Is(err, context.Canceled) && !slices.Contains(f.Kinds, helperv1.FaultKind_FAULT_KIND_CALLED_OFF) {
		f.Kinds = append(f.Kinds, helperv1.FaultKind_FAULT_KIND_CALLED_OFF)
	}
	if telling, ok := driver.Telling(err); ok {
		f.Telling = proto.String(valid(telling))
	}
	if in := (*driver.InputError)(nil); errors.As(err, &in) {
		f.Reach = &helperv1.Reach{Sent: int64(in.Sent), Message: valid(in.Err.Error())}
	}
	return f
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// decodeFault is the error that f is; nil is none. The end of ctx takes the place of the
// helper's having been called off.
func decodeFault(ctx context.Context, f *helperv1.Fault) error {
	if f == nil {
		return nil
	}
	var is []error
	for _, k := range kinds {
		if k.err != errCalledOff && slices.Contains(f.GetKinds(), k.kind) { //nolint:errorlint // a row of the table
			is = append(is, k.err)
		}
	}
	if why := context.Cause(ctx); why != nil && slices.Contains(f.GetKinds(), helperv1.FaultKind_FAULT_KIND_CALLED_OFF) {
		is = append(is, why)
	}
	if f.Telling != nil {
		is = append(is, driver.Tellable(errors.New(f.GetTelling())))
	}
	whole := named(f.GetMessage(), is)
	if f.Reach == nil {
		return whole
	}
	in := &driver.InputError{Sent: int(f.Reach.GetSent()), Err: named(f.Reach.GetMessage(), is)}
	if f.GetMessage() == (&driver.InputError{Sent: in.Sent, Err: errors.New(f.Reach.GetMessage())}).Error() {
		return in
	}
	return &fault{f.GetMessage(), []error{in}}
}

// named is an error of the helper, or what it is if there is nothing more to say of it.
func named(message string, is []error) error {
	if len(is) == 1 && (message == is[0].Error() || message == errCalledOff.Error()) {
		return is[0]
	}
	return &fault{message, is}
}

// fault is an error of the helper with what it is.
type fault struct {
	message string
	is      []error
}

func (f *fault) Error() string   { return f.message }
func (f *fault) Unwrap() []error { return f.is }
