package control

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// ListActions implements ReplayService.ListActions.
func (s *Service) ListActions(ctx context.Context, req *reprisev1.ListActionsRequest) (*reprisev1.ListActionsResponse, error) {
	after, err := parseActionToken(req.GetReplayId(), req.GetPageToken())
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	size := int(req.GetPageSize())
	if size == 0 {
		size = defaultPageSize
	}
	head, err := s.cfg.Journal.Head(ctx, req.GetReplayId())
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	page, err := s.page(ctx, head, after, size)
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	return fromPage(head, page, after), nil
}

// fromPage shows what of a page fits into a response, and where to go on.
func fromPage(head replay.Head, page dispatch.Page, after replay.Place) *reprisev1.ListActionsResponse {
	out := &reprisev1.ListActionsResponse{NextPageToken: actionToken(head.ReplayID, page.Last)}
	for i := range page.Actions {
		out.Actions = append(out.Actions, fromAction(head.ReplayID, head.MachineID, &page.Actions[i]))
	}
	if n := fitting(out.Actions); n < len(out.Actions) {
		out.Actions, out.NextPageToken = out.Actions[:n], actionToken(head.ReplayID, lastPlace(out.Actions[:n], after))
	}
	return out
}

// lastPlace is the place of the last of some actions that follow a place without a
// gap.
func lastPlace(actions []*reprisev1.ActionStatus, after replay.Place) replay.Place {
	at := after
	for _, a := range actions {
		if step := int(a.GetStep()); step != at.Step {
			at = replay.Place{Step: step}
		}
		at.Decision++
	}
	return at
}

func (s *Service) page(ctx context.Context, head replay.Head, after replay.Place, size int) (dispatch.Page, error) {
	if !head.State.Ended() {
		p, found, err := s.cfg.Fleet.Loop(head.MachineID).Page(ctx, head.ReplayID, after, size)
		if err != nil || found {
			return p, err
		}
	}
	r, err := s.lastEnded(ctx, head.ReplayID)
	if err != nil {
		return dispatch.Page{}, err
	}
	return dispatch.PageOf(r, after, size), nil
}

// lastEnded is ended for those who come again for the next page: an ended replay
// does not change, so the last one that was asked for is kept.
func (s *Service) lastEnded(ctx context.Context, replayID string) (*replay.Replay, error) {
	if r := s.paged.Load(); r != nil && r.ID == replayID {
		return r, nil
	}
	r, err := s.ended(ctx, replayID)
	if err == nil {
		s.paged.Store(r)
	}
	return r, err
}

// A token is a place, and the sum of the replay that it belongs to.
const actionTokenSize = 4 + 4 + 4

func actionToken(replayID string, p replay.Place) string {
	if p == (replay.Place{}) {
		return ""
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, actionTokenSize), uint32(p.Step))
	b = binary.BigEndian.AppendUint32(b, uint32(p.Decision))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(replayID)))
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseActionToken(replayID, token string) (replay.Place, error) {
	if token == "" {
		return replay.Place{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) != actionTokenSize || binary.BigEndian.Uint32(b[8:]) != crc32.ChecksumIEEE([]byte(replayID)) {
		return replay.Place{}, replay.ErrPageToken
	}
	return replay.Place{Step: int(binary.BigEndian.Uint32(b)), Decision: int(binary.BigEndian.Uint32(b[4:]))}, nil
}
