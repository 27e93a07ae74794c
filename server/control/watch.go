package control

import (
	"time"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// WatchReplay implements ReplayService.WatchReplay.
func (s *Service) WatchReplay(req *reprisev1.WatchReplayRequest, st grpc.ServerStreamingServer[reprisev1.WatchReplayResponse]) error {
	return rpcstatus.Error(s.watch(req.GetReplayId(), st))
}

// sendTimeout is how long one change may take to be sent: a watcher that reads
// nothing for so long is ended, whether or not more changes wait.
const sendTimeout = 10 * time.Second

type watchStream = grpc.ServerStreamingServer[reprisev1.WatchReplayResponse]

func (s *Service) watch(replayID string, st watchStream) error {
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
		return s.send(st, &reprisev1.WatchReplayResponse{Replay: fromView(v)})
	}
	if err := s.send(st, &reprisev1.WatchReplayResponse{Replay: fromView(first)}); err != nil {
		return err
	}
	for {
		select {
		case v, ok := <-w.Changes:
			if !ok {
				return w.Err()
			}
			if err := s.send(st, change(v)); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-s.cfg.Ended:
			return dispatch.ErrStopped
		}
	}
}

// send sends a response, unless the watcher does not read. Nothing but the
// handler's return frees a Send that hangs, so it gets a goroutine of its own.
func (s *Service) send(st watchStream, m *reprisev1.WatchReplayResponse) error {
	sent := make(chan error, 1)
	go func() { sent <- st.Send(m) }()
	late := time.NewTimer(sendTimeout)
	defer late.Stop()
	select {
	case err := <-sent:
		return err
	case <-late.C:
		return dispatch.ErrSlowWatcher
	case <-s.cfg.Ended:
		return dispatch.ErrStopped
	}
}

func change(v dispatch.View) *reprisev1.WatchReplayResponse {
	return &reprisev1.WatchReplayResponse{Replay: fromView(v), Events: fromEvents(v)}
}
