// Package validation refuses messages that break the limits of the schema, before
// a handler sees them: every request, and every message of a stream. Place it
// after authentication and before recovery. Rules that need more than the message
// itself are the handlers'.
//
// A refused message ends its call with INVALID_ARGUMENT, which names each field in
// a google.rpc.BadRequest (the middleware of go-grpc-middleware sends a detail of
// its own instead, which common clients do not read), has the reason INVALID_FIELD
// in a google.rpc.ErrorInfo, and never repeats a value. So ends a message that
// cannot be read at all, see Codec, with the reason INVALID_MESSAGE.
//
// On an agent's stream this ends the stream, since a report that cannot be read
// cannot be answered, and an answer is what the agent waits for. An agent of ours
// checks a report by the same limits before it stores it. But a report must not be
// refused for its vocabulary, or the agent, which sends it again for ever, would
// keep its machine out of work: in reports, also those of a Hello, an enum value
// that this server does not know passes, at any depth, whatever the schema says.
package validation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Validation are the interceptors. Rules are compiled once per message type, at
// its first use.
type Validation struct{ validator protovalidate.Validator }

// New returns the interceptors; an error is a fault of the schema.
func New() (*Validation, error) {
	v, err := protovalidate.New()
	if err != nil {
		return nil, fmt.Errorf("validation: %w", err)
	}
	return &Validation{validator: v}, nil
}

// Unary checks the request.
func (v *Validation) Unary() grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if err := v.Check(req); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
}

// Stream checks each message that a handler receives; the handler's Recv fails.
func (v *Validation) Stream() grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		return next(srv, &checked{ServerStream: ss, check: v.Check})
	}
}

type checked struct {
	grpc.ServerStream
	check func(any) error
}

func (c *checked) RecvMsg(m any) error {
	if err := c.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return c.check(m)
}

// Check returns nil or a status error: INVALID_ARGUMENT with the fields, INTERNAL
// when the schema's own rules cannot be evaluated.
func (v *Validation) Check(m any) error {
	msg, ok := m.(proto.Message)
	if !ok {
		return status.Errorf(codes.Internal, "not a message: %T", m)
	}
	if field, marked := markOf(msg); marked {
		return unreadable(field)
	}
	err := v.validator.Validate(msg)
	if err == nil {
		return nil
	}
	var invalid *protovalidate.ValidationError
	if !errors.As(err, &invalid) {
		return status.Errorf(codes.Internal, "the rules of %s cannot be evaluated", msg.ProtoReflect().Descriptor().FullName())
	}
	return refuse(invalid.Violations)
}

// The reasons of an error of this package, and the domain they belong to.
const (
	Domain         = "reprise.v1"
	InvalidField   = "INVALID_FIELD"
	InvalidMessage = "INVALID_MESSAGE"
)

// maxNamed bounds how many fields one error names: it travels in a header.
const maxNamed = 20

// Faults are the fields of a message that are refused. The zero value has none.
type Faults struct {
	named []*errdetails.BadRequest_FieldViolation
	count int
}

// Add adds a field: its path, why it is refused and, for programs, by which rule;
// the rule may be empty.
func (f *Faults) Add(field, why, rule string) {
	if f.count++; f.count <= maxNamed {
		f.named = append(f.named, &errdetails.BadRequest_FieldViolation{Field: field, Description: why, Reason: reason(rule)})
	}
}

// Err returns the status error of a message with these faults; nil: it has none.
func (f *Faults) Err() error {
	if f.count == 0 {
		return nil
	}
	return f.as(InvalidField)
}

func (f *Faults) as(reason string) error {
	st := status.New(codes.InvalidArgument, summary(f.named[0], f.count-1))
	info := &errdetails.ErrorInfo{Reason: reason, Domain: Domain}
	if with, err := st.WithDetails(info, &errdetails.BadRequest{FieldViolations: f.named}); err == nil {
		st = with
	}
	return st.Err()
}

// unreadable refuses a message of which nothing is known but, maybe, the field
// that made it so.
func unreadable(field string) error {
	var f Faults
	if field != "" {
		f.Add(field, "value is not valid UTF-8", "string.utf8")
		return f.Err()
	}
	f.Add("", "the message cannot be read", "")
	return f.as(InvalidMessage)
}

func refuse(violations []*protovalidate.Violation) error {
	var f Faults
	for _, v := range violations {
		if !tolerated(v) {
			f.Add(protovalidate.FieldPathString(v.Proto.GetField()), v.Proto.GetMessage(), v.Proto.GetRuleId())
		}
	}
	return f.Err()
}

// tolerated says whether v is a word of a newer agent in a report.
func tolerated(v *protovalidate.Violation) bool {
	if v.Proto.GetRuleId() != "enum.defined_only" {
		return false
	}
	path := v.Proto.GetField().GetElements()
	if len(path) > 0 && path[0].GetFieldName() == "report" {
		return true
	}
	return len(path) > 1 && path[0].GetFieldName() == "hello" && path[1].GetFieldName() == "results"
}

// reason is a rule's id in the form that google.rpc.BadRequest asks for.
func reason(rule string) string { return strings.ToUpper(strings.ReplaceAll(rule, ".", "_")) }

// summary is the first fault and the number of the others, for people.
func summary(first *errdetails.BadRequest_FieldViolation, more int) string {
	text := first.GetDescription()
	if first.GetField() != "" {
		text = first.GetField() + ": " + text
	}
	if more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}
