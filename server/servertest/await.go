package servertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/wait"
)

// Await waits until a replay is in one of these states, or has ended if none is
// given, and returns it with its actions. It goes on through restarts of the server.
// A replay that ends in another state is an error, and so is the end of ctx.
func (s *Server) Await(ctx context.Context, replayID string, states ...reprisev1.ReplayState) (*reprisev1.Replay, error) {
	replays := reprisev1.NewReplayServiceClient(s.conn)
	for {
		err := awaitState(ctx, replays, replayID, states)
		if status.Code(err) == codes.Unavailable {
			if err = wait.For(ctx, reconnectAfter); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, fmt.Errorf("servertest: replay %s: %w", replayID, err)
		}
		got, err := replays.GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: replayID}, grpc.WaitForReady(true))
		return got.GetReplay(), err
	}
}

func awaitState(ctx context.Context, replays reprisev1.ReplayServiceClient, replayID string, states []reprisev1.ReplayState) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the watch
	watch, err := replays.WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: replayID}, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	last := reprisev1.ReplayState_REPLAY_STATE_UNSPECIFIED
	for {
		change, err := watch.Recv()
		if errors.Is(err, io.EOF) {
			if len(states) == 0 {
				return nil
			}
			return fmt.Errorf("it has ended as %v", last)
		}
		if err != nil {
			return err
		}
		if last = change.GetReplay().GetState(); slices.Contains(states, last) {
			return nil
		}
	}
}
