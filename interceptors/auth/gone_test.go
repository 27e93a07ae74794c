package auth

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// silentStream is a stream whose messages always arrive.
type silentStream struct{ grpc.ServerStream }

func (silentStream) SendMsg(any) error { return nil }
func (silentStream) RecvMsg(any) error { return nil }

// A caller that has gone is no fault of the server's: alarms are on those.
func TestAStreamWhoseCallerHasGoneSaysSo(t *testing.T) {
	for cause, want := range map[error]codes.Code{
		context.Canceled: codes.Canceled, context.DeadlineExceeded: codes.DeadlineExceeded, errRevoked: codes.Unauthenticated,
		errors.New("anything else"): codes.Unknown,
	} {
		ctx, end := context.WithCancelCause(t.Context())
		end(cause)
		s := &stream{ServerStream: silentStream{}, ctx: ctx}
		for name, err := range map[string]error{"sending": s.SendMsg(nil), "receiving": s.RecvMsg(nil)} {
			if _, ok := status.FromError(err); !ok || status.Code(err) != want {
				t.Errorf("%s on a stream that ended with %v: %v, want %v", name, cause, err, want)
			}
		}
	}
}
