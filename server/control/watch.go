package control

import (
	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// WatchReplay implements ReplayService.WatchReplay.
func (s *Service) WatchReplay(req *reprisev1.WatchReplayRequest, st grpc.ServerStreamingServer[reprisev1.WatchReplayResponse]) error {
	return rpcstatus.Error(s.watch(req.GetReplayId(), st))
}

func (s *Service) watch(replayID string, st grpc.ServerStreamingServer[reprisev1.WatchReplayResponse]) error {
	ctx := st.Context()
	head, err := s.cfg.Journal.Head(ctx, replayID)
	if err != nil {
		return err
	}
	first, w, end, found, err := s.cfg.Fleet.Loop(head.MachineID).Watch(ctx, replayID)
	if err != nil {
		return err
	}
	defer end()
	if !found {
		v, err := s.endedView(ctx, replayID)
		if err != nil {
			return err
		}
		return st.Send(&reprisev1.WatchReplayResponse{Replay: fromView(v)})
	}
	if err := st.Send(&reprisev1.WatchReplayResponse{Replay: fromView(first)}); err != nil {
		return err
	}
	for {
		select {
		case v, ok := <-w.Changes:
			if !ok {
				return w.Err()
			}
			if err := st.Send(change(v)); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-s.cfg.Ended:
			return dispatch.ErrStopped
		}
	}
}

func change(v dispatch.View) *reprisev1.WatchReplayResponse {
	return &reprisev1.WatchReplayResponse{Replay: fromView(v), Events: fromEvents(v)}
}
