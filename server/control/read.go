package control

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/validation"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// defaultPageSize is how much a page has that asks for no number.
const defaultPageSize = 100

// GetReplay implements ReplayService.GetReplay.
func (s *Service) GetReplay(ctx context.Context, req *reprisev1.GetReplayRequest) (*reprisev1.GetReplayResponse, error) {
	read := s.view
	if req.GetWithoutActions() {
		read = s.glance
	}
	v, err := read(ctx, req.GetReplayId())
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return &reprisev1.GetReplayResponse{Replay: fromView(v)}, nil
}

// view shows a replay with its actions: as its machine's loop has it, or, when it
// has ended, as its journal says.
func (s *Service) view(ctx context.Context, replayID string) (dispatch.View, error) {
	head, err := s.cfg.Journal.Head(ctx, replayID)
	if err != nil {
		return dispatch.View{}, err
	}
	if !head.State.Ended() {
		v, found, err := s.cfg.Fleet.Loop(head.MachineID).View(ctx, replayID)
		if err != nil || found {
			return v, err
		}
	}
	r, err := s.ended(ctx, replayID)
	if err != nil {
		return dispatch.View{}, err
	}
	return endedView(r), nil
}

// glance shows a replay without its actions.
func (s *Service) glance(ctx context.Context, replayID string) (dispatch.View, error) {
	head, err := s.cfg.Journal.Head(ctx, replayID)
	if err != nil {
		return dispatch.View{}, err
	}
	if !head.State.Ended() {
		now, found, err := s.cfg.Fleet.Loop(head.MachineID).Situation(ctx, replayID)
		if err != nil || found {
			return now.View, err
		}
	}
	if head, err = s.endedHead(ctx, replayID); err != nil {
		return dispatch.View{}, err
	}
	return dispatch.View{Head: head}, nil
}

// endedView shows an ended replay with its actions.
func endedView(r *replay.Replay) dispatch.View {
	v := dispatch.ViewOf(r)
	v.All = true
	for i := range r.Actions {
		v.Actions = append(v.Actions, dispatch.ViewOfAction(r, &r.Actions[i]))
	}
	return v
}

// ended reads a replay that no loop has, so that it must have ended. One that has
// not is unavailable: its loop will know it in a moment.
func (s *Service) ended(ctx context.Context, replayID string) (*replay.Replay, error) {
	records, err := s.cfg.Journal.RecordsAfter(ctx, replayID, 0)
	if err != nil {
		return nil, err
	}
	r, err := replay.Fold(records)
	if err != nil {
		return nil, err
	}
	if !r.State.Ended() {
		return nil, dispatch.ErrUnavailable
	}
	return r, nil
}

// endedHead is ended for those who need no more than the head.
func (s *Service) endedHead(ctx context.Context, replayID string) (replay.Head, error) {
	head, err := s.cfg.Journal.Head(ctx, replayID)
	if err == nil && !head.State.Ended() {
		err = dispatch.ErrUnavailable
	}
	return head, err
}

// ListReplays implements ReplayService.ListReplays.
func (s *Service) ListReplays(ctx context.Context, req *reprisev1.ListReplaysRequest) (*reprisev1.ListReplaysResponse, error) {
	f, err := listFilter(req)
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	for {
		heads, next, err := s.cfg.Journal.Heads(ctx, f)
		if err != nil {
			return nil, rpcstatus.Error(err)
		}
		out := &reprisev1.ListReplaysResponse{NextPageToken: next}
		for _, h := range heads {
			out.Replays = append(out.Replays, s.fromHead(h))
		}
		n := fitting(out.Replays)
		if n == len(out.Replays) {
			return out, nil
		}
		f.PageSize = n // the journal alone knows where the page after fewer begins
	}
}

func listFilter(req *reprisev1.ListReplaysRequest) (replay.Filter, error) {
	var faults validation.Faults
	f := replay.Filter{
		MachineID: req.GetMachineId(), Labels: req.GetLabels(), PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken(),
		CreatedFrom:   instant(req.GetCreatedFrom(), "created_from", &faults),
		CreatedBefore: instant(req.GetCreatedBefore(), "created_before", &faults),
	}
	if f.PageSize == 0 {
		f.PageSize = defaultPageSize
	}
	for _, st := range req.GetStates() {
		f.States = append(f.States, replay.State(st))
	}
	if _, empty := f.Labels[""]; empty {
		faults.Add("labels", "a label has a name", "")
	}
	if !f.CreatedFrom.IsZero() && !f.CreatedBefore.IsZero() && !f.CreatedFrom.Before(f.CreatedBefore) {
		faults.Add("created_before", "must be after created_from", "")
	}
	return f, faults.Err()
}

// instant returns a time of a request; zero: it is not set.
func instant(t *timestamppb.Timestamp, field string, faults *validation.Faults) time.Time {
	switch {
	case t == nil:
		return time.Time{}
	case !t.IsValid():
		faults.Add(field, "is no time between the years 1 and 9999", "")
		return time.Time{}
	}
	return t.AsTime()
}

// fromHead adds to a head what the journal does not know: whether the agent of a
// live replay is away.
func (s *Service) fromHead(h replay.Head) *reprisev1.Replay {
	r := fromHead(h)
	r.AgentAway = !h.State.Ended() && !s.cfg.Registry.Held(h.MachineID)
	return r
}
