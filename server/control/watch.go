package control

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

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
	for {
		select {
		case v, ok := <-w.Changes:
			if !ok {
				return w.Err()
			}
			if err := send(s, st, change(v)); err != nil {
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
	b := beginning{view: v, seen: req.GetAfterRevision()}
	if req.AfterRevision == nil {
		b.seen = v.Head.Revision
	}
	return b.send(past, func(m *reprisev1.WatchReplayResponse) error { return send(s, st, m) })
}

// maxBeginning is how large one response of a beginning is, encoded: well below
// what a client takes that was not told to take more.
const maxBeginning = 1 << 20

// beginning puts the beginning of a watch into responses. Each has the replay
// without its actions, and some of the actions and events. Its revision is that of
// the last event that was sent whole until the last response, so that a watcher
// which is cut in the middle can go on from what it was told.
type beginning struct {
	view dispatch.View
	seen int64
	next *reprisev1.WatchReplayResponse // not sent yet
	size int
}

func (b *beginning) send(past []replay.Record, out func(*reprisev1.WatchReplayResponse) error) error {
	all := fromView(b.view)
	actions := all.GetActions()
	all.Actions = nil
	start := func() {
		b.next = &reprisev1.WatchReplayResponse{Replay: proto.CloneOf(all), SnapshotPending: true}
		b.next.Replay.Revision, b.size = b.seen, proto.Size(all)
	}
	start()
	room := func(size int) error {
		if b.size+size <= maxBeginning || len(b.next.Replay.Actions)+len(b.next.Events) == 0 {
			b.size += size
			return nil
		}
		if err := out(b.next); err != nil {
			return err
		}
		start()
		b.size += size
		return nil
	}
	for _, rec := range past {
		if rec.Seq > b.view.Head.Revision {
			break // it comes as a change
		}
		events := fromRecord(b.view.Head.MachineID, rec)
		if err := room(proto.Size(&reprisev1.WatchReplayResponse{Events: events})); err != nil {
			return err
		}
		b.next.Events = append(b.next.Events, events...)
		b.seen = rec.Seq
		b.next.Replay.Revision = b.seen
	}
	for _, a := range actions {
		if err := room(proto.Size(a) + 8); err != nil { // and its tag and length
			return err
		}
		b.next.Replay.Actions = append(b.next.Replay.Actions, a)
	}
	b.next.Replay.Revision, b.next.SnapshotPending = b.view.Head.Revision, false
	return out(b.next)
}
