package control

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// WatchReplay implements ReplayService.WatchReplay.
func (s *Service) WatchReplay(req *reprisev1.WatchReplayRequest, st grpc.ServerStreamingServer[reprisev1.WatchReplayResponse]) error {
	return rpcstatus.Error(s.watch(req, st))
}

type watchStream = grpc.ServerStreamingServer[reprisev1.WatchReplayResponse]

func (s *Service) watch(req *reprisev1.WatchReplayRequest, st watchStream) error {
	ctx := st.Context()
	head, err := s.cfg.Journal.Head(ctx, req.GetReplayId())
	if err != nil {
		return err
	}
	first, w, end, found, err := s.cfg.Fleet.Loop(head.MachineID).Watch(ctx, req.GetReplayId())
	if err != nil {
		return err
	}
	defer end()
	if !found {
		r, err := s.ended(ctx, req.GetReplayId())
		if err != nil {
			return err
		}
		return s.begin(ctx, req, endedView(r), st)
	}
	if err := s.begin(ctx, req, first, st); err != nil {
		return err
	}
	out := func(m *reprisev1.WatchReplayResponse) error { return send(s, st, m) }
	for {
		select {
		case v, ok := <-w.Changes:
			if !ok {
				return w.Err()
			}
			if err := sendChange(v, out); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-s.cfg.Ended:
			return dispatch.ErrStopped
		}
	}
}

// begin sends what was before the first change: the replay as it is and, if the
// watcher wants them, the events that it has not seen.
func (s *Service) begin(ctx context.Context, req *reprisev1.WatchReplayRequest, v dispatch.View, st watchStream) error {
	var past []replay.Record
	if req.AfterRevision != nil {
		after := req.GetAfterRevision()
		if after > v.Head.Revision {
			return invalid("after_revision", fmt.Sprintf("the replay is at revision %d", v.Head.Revision))
		}
		var err error
		if past, err = s.cfg.Journal.RecordsAfter(ctx, v.Head.ReplayID, after); err != nil {
			return err
		}
	}
	p := parts{view: v, seen: req.GetAfterRevision(), begins: true, out: func(m *reprisev1.WatchReplayResponse) error { return send(s, st, m) }}
	if req.AfterRevision == nil {
		p.seen = v.Head.Revision
	}
	return p.send(past)
}
