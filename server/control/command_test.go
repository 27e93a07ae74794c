package control_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

const (
	running   = reprisev1.ReplayState_REPLAY_STATE_RUNNING
	paused    = reprisev1.ReplayState_REPLAY_STATE_PAUSED
	completed = reprisev1.ReplayState_REPLAY_STATE_COMPLETED
	cancelled = reprisev1.ReplayState_REPLAY_STATE_CANCELLED
)

func (s *server) resume(req *reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
	return s.replays.ResumeReplay(s.ctx, req)
}

func (s *server) cancel(id string) error {
	_, err := s.replays.CancelReplay(s.ctx, &reprisev1.CancelReplayRequest{ReplayId: id, Reason: "enough"})
	return err
}

// gated is a workflow whose second action asks for a person.
func gated() *reprisev1.Workflow {
	w := clicks("one", "two", "three")
	w.Actions[1].SafetyChecks = []*reprisev1.SafetyCheck{
		{Id: "patient", Label: "The right patient is open", Required: true}, {Id: "dose", Label: "The dose is right", Required: true},
		{Id: "nice", Label: "Looks nice"},
	}
	return w
}

// B22: the human gate is a barrier. Nothing but exactly the pending checks opens
// it, and what is refused says which they are.
func TestSafetyChecksAreABarrier(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		r := s.create(gated())
		a := s.agent("spool")
		a.Report(sessiontest.Done(a.Dispatch()))
		a.Ack()
		pause := a.Next().GetPause()
		if got := s.get(r.GetReplayId()); got.GetState() != paused || len(got.GetPause().GetSafetyChecks()) != 3 || got.GetPause().GetPauseId() != pause.GetPauseId() {
			t.Fatalf("%v", got)
		}
		for _, tt := range []struct {
			acked            []string
			missing, unknown []string
		}{
			{nil, []string{"patient", "dose"}, nil},
			{[]string{"patient", "nice"}, []string{"dose"}, nil},
			{[]string{"patient", "dose", "bogus"}, nil, []string{"bogus"}},
			{[]string{"bogus"}, []string{"patient", "dose"}, []string{"bogus"}},
		} {
			_, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: r.GetReplayId(), AcknowledgedCheckIds: tt.acked})
			refused(t, err, codes.FailedPrecondition, "SAFETY_CHECKS")
			var missing, unknown []string
			for _, v := range detail[*errdetails.PreconditionFailure](err).GetViolations() {
				if v.GetType() == "SAFETY_CHECK_REQUIRED" {
					missing = append(missing, v.GetSubject())
				} else {
					unknown = append(unknown, v.GetSubject())
				}
			}
			if !slices.Equal(missing, tt.missing) || !slices.Equal(unknown, tt.unknown) {
				t.Errorf("%v is refused for %v and %v", tt.acked, missing, unknown)
			}
		}
		settled()
		if a.Waiting() != 0 {
			t.Fatalf("a refused resume sent %v", a.Next())
		}
		res, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: r.GetReplayId(), AcknowledgedCheckIds: []string{"patient", "dose"}})
		if err != nil || res.GetRemainingActions() != 2 || res.GetSessionId() == "" || res.GetReplay().GetState() != running {
			t.Errorf("%v, %v", res, err)
		}
		if a.Next().GetResume().GetPauseId() != pause.GetPauseId() {
			t.Error("the agent was not told")
		}
		if d := a.Dispatch(); d.GetFromNode() != "two" {
			t.Errorf("%v is dispatched next", d)
		}
	})
}

func TestOfTwoResumesAtOnceOneWins(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		r := s.create(clicks("one"))
		s.pause(r.GetReplayId())
		errs := make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { _, errs[i] = s.resume(&reprisev1.ResumeReplayRequest{ReplayId: r.GetReplayId()}) })
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			refused(t, err, codes.FailedPrecondition, "REPLAY_NOT_PAUSED")
		}
		if won != 1 {
			t.Errorf("%d won", won)
		}
	})
}

// failing brings the first action to a person's decision.
func failing(s *server, a *sessiontest.Agent, w *reprisev1.Workflow) (r *reprisev1.Replay, actionID string) {
	s.t.Helper()
	r = s.create(w)
	d := a.Dispatch()
	a.Report(sessiontest.Failed(d, reprisev1.ErrorCode_ERROR_CODE_WRONG_WINDOW, "another one is in front"))
	if p := a.Next().GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW {
		s.t.Fatalf("%v came, want a pause", p)
	}
	a.Ack()
	return r, d.GetActionId()
}

func TestAPersonDecidesHowItGoesOn(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		next := func(id string) *reprisev1.Dispatch {
			if a.Next().GetResume() == nil {
				t.Fatal("no resume")
			}
			d := a.Dispatch()
			if err := s.cancel(id); err != nil {
				t.Fatal(err)
			}
			a.Next()
			return d
		}
		r, id := failing(s, a, clicks("one", "two", "three"))
		for _, req := range []*reprisev1.ResumeReplayRequest{
			{Decision: reprisev1.ResumeDecision_RESUME_DECISION_SKIP, FromAction: "three"},
			{Decision: reprisev1.ResumeDecision_RESUME_DECISION_SKIP, Position: &reprisev1.Point{X: .1, Y: .1}},
		} {
			req.ReplayId = r.GetReplayId()
			_, err := s.resume(req)
			refused(t, err, codes.InvalidArgument, "OPTIONS_EXCLUSIVE")
		}
		_, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: r.GetReplayId(), FromAction: "nowhere"})
		refused(t, err, codes.InvalidArgument, "ACTION_NOT_FOUND")
		if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: r.GetReplayId(), Position: &reprisev1.Point{X: .25, Y: .75}}); err != nil {
			t.Fatal(err)
		}
		if d := next(r.GetReplayId()); d.GetActionId() != id+"_resume" || d.GetCorrectedPosition().GetX() != .25 || !slices.Equal(d.GetReplaces(), nil) {
			t.Errorf("with a position %v came", d)
		}
		r, _ = failing(s, a, clicks("one", "two", "three"))
		if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: r.GetReplayId(), Decision: reprisev1.ResumeDecision_RESUME_DECISION_SKIP}); err != nil {
			t.Fatal(err)
		}
		if d := next(r.GetReplayId()); d.GetFromNode() != "two" {
			t.Errorf("after a skip %v came", d)
		}
		r, _ = failing(s, a, clicks("one", "two", "three"))
		if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: r.GetReplayId(), FromAction: "three"}); err != nil {
			t.Fatal(err)
		}
		if d := next(r.GetReplayId()); d.GetFromNode() != "three" {
			t.Errorf("from three %v came", d)
		}
	})
}

func TestCommandsToAReplayThatHasEnded(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		done, gone := s.create(clicks("one")).GetReplayId(), s.create(clicks("one")).GetReplayId()
		for range 3 {
			if err := s.cancel(gone); err != nil {
				t.Errorf("cancel is not idempotent: %v", err)
			}
		}
		a := s.agent("spool")
		a.Report(sessiontest.Done(a.Dispatch()))
		a.Ack()
		refused(t, s.cancel(done), codes.FailedPrecondition, "REPLAY_ENDED")
		for _, id := range []string{done, gone} {
			_, err := s.replays.PauseReplay(s.ctx, &reprisev1.PauseReplayRequest{ReplayId: id})
			refused(t, err, codes.FailedPrecondition, "REPLAY_ENDED")
			_, err = s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id})
			refused(t, err, codes.FailedPrecondition, "REPLAY_NOT_PAUSED")
		}
		if got := s.get(gone); got.GetState() != cancelled || got.GetEndReason() != "enough" {
			t.Errorf("%v", got)
		}
	})
}

func TestCommandsToAReplayThatNobodyKnows(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		refused(t, s.cancel("r-9"), codes.NotFound, "REPLAY_NOT_FOUND")
		_, err := s.replays.PauseReplay(s.ctx, &reprisev1.PauseReplayRequest{ReplayId: "r-9"})
		refused(t, err, codes.NotFound, "REPLAY_NOT_FOUND")
		_, err = s.resume(&reprisev1.ResumeReplayRequest{ReplayId: "r-9"})
		refused(t, err, codes.NotFound, "REPLAY_NOT_FOUND")
		_, err = s.replays.GetReplay(s.ctx, &reprisev1.GetReplayRequest{ReplayId: "r-9"})
		refused(t, err, codes.NotFound, "REPLAY_NOT_FOUND")
	})
}

// I9: what the server has answered survives a kill -9 at the next moment.
func TestEveryAnswerSurvivesAKill(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.create(clicks("one", "two")).GetReplayId()
		want := func(what string, check func(*reprisev1.Replay) bool) {
			t.Helper()
			after := s.killed()
			if r := after.get(id); !check(r) {
				t.Errorf("after %s and a kill: %v", what, r)
			}
			s.stop()
			s = after
		}
		want("create", func(r *reprisev1.Replay) bool { return r.GetState() == reprisev1.ReplayState_REPLAY_STATE_QUEUED })
		a := s.agent("spool")
		a.Report(sessiontest.Done(a.Dispatch()))
		a.Ack()
		want("a report", func(r *reprisev1.Replay) bool { return r.GetSettledCount() == 1 && r.GetState() == running })
		s.pause(id)
		want("pause", func(r *reprisev1.Replay) bool {
			return r.GetState() == paused && r.GetPause().GetPausedBy() == "operator"
		})
		if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id}); err != nil {
			t.Fatal(err)
		}
		want("resume", func(r *reprisev1.Replay) bool { return r.GetState() == running && r.GetPause() == nil })
		if err := s.cancel(id); err != nil {
			t.Fatal(err)
		}
		want("cancel", func(r *reprisev1.Replay) bool { return r.GetState() == cancelled })
	})
}

// A caller that goes away in the middle of a command leaves a whole command or
// none, and holds up nobody.
func TestACallerThatGoesAwayHoldsUpNobody(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.create(clicks("one")).GetReplayId()
		for range 20 {
			ctx, cancel := context.WithCancel(s.ctx)
			done := make(chan error, 1)
			go func() {
				_, err := s.replays.PauseReplay(ctx, &reprisev1.PauseReplayRequest{ReplayId: id})
				done <- err
			}()
			cancel()
			if err := <-done; err != nil && status.Code(err) != codes.Canceled {
				t.Error(err)
			}
		}
		settled()
		s.pause(id)
		if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id}); err != nil {
			t.Error(err)
		}
	})
}
