package control_test

import (
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

// getAll reads a replay's actions page by page.
func (s *server) getAll(id string) (all []*reprisev1.ActionStatus) {
	s.t.Helper()
	req := &reprisev1.ListActionsRequest{ReplayId: id, PageSize: 500}
	for {
		res, err := s.replays.ListActions(s.ctx, req)
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, res.GetActions()...)
		if req.PageToken = res.GetNextPageToken(); req.PageToken == "" {
			return all
		}
	}
}

// A page token stays true while decisions are added before and behind it.
func TestActionsArePagedWhileTheReplayGoesOn(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		r, first := failing(s, a, clicks("one", "two", "three"))
		id := r.GetReplayId()
		page := func(token string) ([]string, string) {
			t.Helper()
			res, err := s.replays.ListActions(s.ctx, &reprisev1.ListActionsRequest{ReplayId: id, PageSize: 1, PageToken: token})
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, x := range res.GetActions() {
				ids = append(ids, x.GetActionId())
			}
			return ids, res.GetNextPageToken()
		}
		one, token := page("")
		if !slices.Equal(one, []string{first}) {
			t.Fatal(one)
		}
		if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id}); err != nil { // the first step has two decisions now
			t.Fatal(err)
		}
		a.Next()
		var rest []string
		for token != "" {
			var ids []string
			ids, token = page(token)
			rest = append(rest, ids...)
		}
		whole := s.get(id).GetActions()
		want := []string{first + "_resume", whole[2].GetActionId(), whole[3].GetActionId()}
		if !slices.Equal(rest, want) {
			t.Errorf("%v, want %v", rest, want)
		}
		a.Report(sessiontest.Done(a.Dispatch()))
		a.Ack()
		_, mine := page("")
		other := s.create(clicks("x", "y")).GetReplayId()
		_, err := s.replays.ListActions(s.ctx, &reprisev1.ListActionsRequest{ReplayId: other, PageToken: mine})
		refused(t, err, codes.InvalidArgument, "PAGE_TOKEN_INVALID")
	})
}

func TestAReplayIsShownWithoutItsActions(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.create(clicks("one")).GetReplayId()
		s.pause(id)
		get := func() *reprisev1.Replay {
			t.Helper()
			res, err := s.replays.GetReplay(s.ctx, &reprisev1.GetReplayRequest{ReplayId: id, WithoutActions: true})
			if err != nil {
				t.Fatal(err)
			}
			return res.GetReplay()
		}
		if r := get(); len(r.GetActions()) != 0 || r.GetActionCount() != 1 || r.GetPause().GetPausedBy() != "operator" || !r.GetAgentAway() {
			t.Errorf("%v", r)
		}
		if err := s.cancel(id); err != nil {
			t.Fatal(err)
		}
		if r := get(); len(r.GetActions()) != 0 || r.GetState() != cancelled || r.GetEndReason() != "enough" || len(s.get(id).GetActions()) != 1 {
			t.Errorf("%v", r)
		}
	})
}
