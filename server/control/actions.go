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
	page, err := s.page(ctx, req.GetReplayId(), after, size)
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	out := &reprisev1.ListActionsResponse{NextPageToken: actionToken(req.GetReplayId(), page.Last)}
	for _, a := range page.Actions {
		out.Actions = append(out.Actions, fromAction(a))
	}
	return out, nil
}

func (s *Service) page(ctx context.Context, replayID string, after replay.Place, size int) (dispatch.Page, error) {
	head, err := s.cfg.Journal.Head(ctx, replayID)
	if err != nil {
		return dispatch.Page{}, err
	}
	if !head.State.Ended() {
		p, found, err := s.cfg.Fleet.Loop(head.MachineID).Page(ctx, replayID, after, size)
		if err != nil || found {
			return p, err
		}
	}
	r, err := s.lastEnded(ctx, replayID)
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
