package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
)

// The answer to a decision is lost, and the replay pauses again meanwhile: the
// decision is not taken for the new pause, which nobody has seen.
func TestALostAnswerDecidesNothingTwice(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var lost atomic.Bool
		conn, err := w.Dial(grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, res any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			err := call(ctx, method, req, res, cc, opts...)
			if method == reprisev1.ReplayService_ResumeReplay_FullMethodName && !lost.Swap(true) {
				time.Sleep(time.Second) // time enough for the next pause
				return status.Error(codes.Unavailable, "the connection broke")
			}
			return err
		}))
		w.must(err)
		t.Cleanup(func() { _ = conn.Close() })
		w.intakes = New(context.WithoutCancel(t.Context()), conn, "desk-1", slog.New(slog.DiscardHandler))
		t.Cleanup(w.intakes.Close)

		w.desk.On("enter the name", servertest.NeedHuman("the mask is another"))
		w.must(w.intakes.Start(w.ctx, anna))
		first := w.need(time.Second, "needs_human")
		w.must(w.intakes.Decide(w.ctx, anna.Case, first.PauseID, retry, nil))
		if !lost.Load() {
			t.Fatal("no answer was lost")
		}
		if second := w.need(time.Second, "needs_human"); second.PauseID == first.PauseID {
			t.Errorf("the pause is still %s", first.PauseID)
		}
		if n := len(w.desk.Calls()); n != 3 { // the window, the name, the name again
			t.Errorf("the desktop was asked %d times: %v", n, w.desk.Calls())
		}
	})
}
