package control

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"slices"

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
	v, err := s.view(ctx, req.GetReplayId())
	if err != nil {
		return nil, rpcstatus.Error(err)
	}
	size := int(req.GetPageSize())
	if size == 0 {
		size = defaultPageSize
	}
	// The core has them in the order of the decisions alone.
	slices.SortStableFunc(v.Actions, func(a, b dispatch.ActionView) int { return cmp.Compare(a.Step, b.Step) })
	page, last := actionPage(v.Actions, after, size)
	out := &reprisev1.ListActionsResponse{NextPageToken: last.token(req.GetReplayId())}
	for _, a := range page {
		out.Actions = append(out.Actions, fromAction(a))
	}
	return out, nil
}

// actionPlace is the place of a decision in the workflow's order: its step and its
// number among the decisions of that step, from 1. Decisions are only ever added,
// each as the last one of its step, so that a place stays true while the replay
// goes on. The zero value is before all places.
type actionPlace struct{ step, decision uint32 }

// actionPage returns the actions, which are in the workflow's order, after a place, and the place of the last one
// while others follow; zero: none do.
func actionPage(actions []dispatch.ActionView, after actionPlace, size int) (page []dispatch.ActionView, last actionPlace) {
	var at actionPlace
	for _, a := range actions {
		if step := uint32(a.Step); at.decision == 0 || step != at.step {
			at = actionPlace{step: step}
		}
		at.decision++
		if at.step < after.step || at.step == after.step && at.decision <= after.decision {
			continue
		}
		if len(page) == size {
			return page, last
		}
		page, last = append(page, a), at
	}
	return page, actionPlace{}
}

// A token is a place, and the sum of the replay that it belongs to.
const actionTokenSize = 4 + 4 + 4

func (p actionPlace) token(replayID string) string {
	if p == (actionPlace{}) {
		return ""
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, actionTokenSize), p.step)
	b = binary.BigEndian.AppendUint32(b, p.decision)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(replayID)))
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseActionToken(replayID, token string) (actionPlace, error) {
	if token == "" {
		return actionPlace{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) != actionTokenSize || binary.BigEndian.Uint32(b[8:]) != crc32.ChecksumIEEE([]byte(replayID)) {
		return actionPlace{}, replay.ErrPageToken
	}
	return actionPlace{step: binary.BigEndian.Uint32(b), decision: binary.BigEndian.Uint32(b[4:])}, nil
}
