package main

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// failing makes the next so many watches fail with err instead of their second
// message, as a message that is too large for this side does.
type failing struct {
	err  error
	left atomic.Int32
}

func (f *failing) intercept(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	st, err := open(ctx, desc, cc, method, opts...)
	if err != nil || method != reprisev1.ReplayService_WatchReplay_FullMethodName || f.left.Add(-1) < 0 {
		return st, err
	}
	return &cutStream{ClientStream: st, err: f.err}, nil
}

type cutStream struct {
	grpc.ClientStream
	err  error
	seen int
}

func (s *cutStream) RecvMsg(m any) error {
	if s.seen++; s.seen == 1 {
		return s.ClientStream.RecvMsg(m)
	}
	return s.err // the caller lets go of the stream
}

// watchesFail makes watches of the service fail.
func (w *world) watchesFail(times int32, err error) *failing {
	w.t.Helper()
	f := &failing{err: err}
	f.left.Store(times)
	conn, dialled := w.Dial(grpc.WithStreamInterceptor(f.intercept))
	w.must(dialled)
	w.t.Cleanup(func() { _ = conn.Close() })
	w.intakes = New(context.WithoutCancel(w.t.Context()), conn, "desk-1", slog.New(slog.DiscardHandler))
	w.t.Cleanup(w.intakes.Close)
	return f
}

var tooLarge = status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5000000 vs. 4194304)")

// A watch that fails in an odd way goes on after what it has seen: nothing is missed
// and nothing comes twice.
func TestAWatchThatFailsOddlyGoesOnWhereItWas(t *testing.T) {
	for name, err := range map[string]error{
		"a message that is too large": tooLarge,
		"the server is away":          status.Error(codes.Unavailable, "the connection broke"),
		"a stream without trailers":   status.Error(codes.Internal, "server closed the stream without sending trailers"),
		"a proxy's own answer":        status.Error(codes.Unknown, "unexpected HTTP status code"),
		"a proxy that cancels":        status.Error(codes.Canceled, "stream terminated by RST_STREAM"),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.watchesFail(oddFailures-1, err)
				w.must(w.intakes.Start(w.ctx, anna))
				time.Sleep(time.Minute)
				w.confirm()
				s := w.status(time.Second)
				if s.State != "completed" || s.Stale || s.Trouble != "" || s.Lost {
					t.Errorf("at the end: %+v", s)
				}
				if n := strings.Count(strings.Join(s.Log, "\n"), "replay_created"); n != 1 {
					t.Errorf("the log begins %d times: %q", n, s.Log)
				}
			})
		})
	}
}

// What can no longer be followed says so and why, and does not pass for the truth;
// the same form once more follows it anew.
func TestAnIntakeThatCannotBeFollowedSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"each message is too large", tooLarge, "larger than its receiver is set to take"},
		{"it was forgotten", status.Error(codes.NotFound, "no replay r-1"), "no replay r-1"},
		{"the token is no longer valid", status.Error(codes.Unauthenticated, "the token is unknown"), "the token is unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				f := w.watchesFail(1000, tt.err)
				w.must(w.intakes.Start(w.ctx, anna))
				s := w.status(time.Minute)
				if !s.Stale || !s.Lost || !strings.Contains(s.Trouble, tt.want) {
					t.Errorf("the front desk is told %+v, want %q", s, tt.want)
				}
				f.left.Store(0) // somebody has mended it
				w.must(w.intakes.Start(w.ctx, anna))
				w.confirm()
				if s := w.status(time.Second); s.State != "completed" || s.Stale || s.Lost {
					t.Errorf("at the end: %+v", s)
				}
			})
		})
	}
}

// The server is away for long: that is no fault, however often it is asked.
func TestAServerThatIsAwayForLongIsWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.must(w.intakes.Start(w.ctx, anna))
		w.need(time.Second, "user_request")
		w.must(w.Crash())
		if s := w.status(time.Minute); !s.Stale || s.Lost || s.Trouble == "" {
			t.Errorf("while the server is away: %+v", s)
		}
		w.must(w.Restart())
		time.Sleep(10 * time.Second)
		w.confirm()
		if s := w.status(time.Second); s.State != "completed" || s.Stale {
			t.Errorf("at the end: %+v", s)
		}
	})
}
