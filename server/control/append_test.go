package control_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

func (s *server) open(names ...string) string {
	s.t.Helper()
	w := clicks(names...)
	r := s.submit(&reprisev1.CreateReplayRequest{MachineId: machine, Workflow: w, LeaveOpen: true})
	if !r.GetOpen() {
		s.t.Fatalf("%v is not open", r)
	}
	return r.GetReplayId()
}

func (s *server) append(req *reprisev1.AppendActionsRequest) *reprisev1.AppendActionsResponse {
	s.t.Helper()
	res, err := s.replays.AppendActions(s.ctx, req)
	if err != nil {
		s.t.Fatalf("append: %v", err)
	}
	return res
}

func more(id, request string, names ...string) *reprisev1.AppendActionsRequest {
	return &reprisev1.AppendActionsRequest{ReplayId: id, RequestId: request, Actions: clicks(names...).GetActions()}
}

// An observe-reason-act loop: each action is chosen after the one before.
func TestAnOpenReplayIsFedActionByAction(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		id := s.open() // it begins with none
		for i, name := range []string{"one", "two", "three"} {
			res := s.append(more(id, name, name))
			d := a.Dispatch()
			if d.GetFromNode() != name || !slices.Equal(res.GetActionIds(), []string{d.GetActionId()}) || int(res.GetReplay().GetActionCount()) != i+1 {
				t.Errorf("%v was dispatched for %v", d, res)
			}
			a.Report(sessiontest.Done(d))
			a.Ack()
			if r := s.get(id); r.GetState() != running || int(r.GetSettledCount()) != i+1 {
				t.Errorf("%v", r)
			}
		}
		for range 2 {
			res, err := s.replays.CloseReplay(s.ctx, &reprisev1.CloseReplayRequest{ReplayId: id})
			if err != nil || res.GetReplay().GetState() != completed || res.GetReplay().GetOpen() {
				t.Errorf("%v, %v", res, err)
			}
		}
	})
}

// However often an append is sent, to whichever server, and whatever has become of
// the replay: it appends once, and is answered with the same ids.
func TestAnAppendIsTakenOnce(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.open("one")
		req := more(id, "job", "two", "three")
		req.Close = true
		first := s.append(req)
		if len(first.GetActionIds()) != 2 || first.GetReplay().GetOpen() || first.GetReplay().GetActionCount() != 3 {
			t.Fatalf("%v", first)
		}
		again := func(s *server) {
			t.Helper()
			if res := s.append(req); !slices.Equal(res.GetActionIds(), first.GetActionIds()) || res.GetReplay().GetActionCount() != 3 {
				t.Errorf("%v, then %v", first, res)
			}
			_, err := s.replays.AppendActions(s.ctx, more(id, "job", "two", "four"))
			refused(t, err, codes.AlreadyExists, "REQUEST_ID_TAKEN")
			_, err = s.replays.AppendActions(s.ctx, more(id, "another job", "four"))
			if live := s.get(id).GetState() != cancelled; live {
				refused(t, err, codes.FailedPrecondition, "REPLAY_NOT_OPEN")
			} else {
				refused(t, err, codes.FailedPrecondition, "REPLAY_ENDED")
			}
		}
		again(s)
		after := s.killed()
		s.stop()
		again(after)
		if err := after.cancel(id); err != nil {
			t.Fatal(err)
		}
		again(after)
	})
}

// Whatever was acknowledged is there after a kill at the next moment; and a paused
// replay takes actions and stays paused.
func TestAnAppendSurvivesAKillAndEndsNoPause(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.open("one")
		s.pause(id)
		if r := s.append(more(id, "job", "two")).GetReplay(); r.GetState() != paused || r.GetPause().GetPausedBy() != "operator" {
			t.Errorf("%v", r)
		}
		after := s.killed()
		if r := after.get(id); r.GetState() != paused || r.GetActionCount() != 2 || !r.GetOpen() {
			t.Errorf("%v", r)
		}
	})
}

// An append is answered whatever has become of its pictures since; a new one needs
// them.
func TestAnAppendNeedsItsPicturesWhenItIsNew(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.open("one")
		req := more(id, "job", "two")
		req.Actions[0].Target = &reprisev1.Target{AnchorImage: &reprisev1.AnchorImage{Sha256: strings.Repeat("b", 64)}}
		_, err := s.replays.AppendActions(s.ctx, req)
		refused(t, err, codes.FailedPrecondition, "PICTURE_MISSING")
		if r := s.get(id); r.GetActionCount() != 1 {
			t.Errorf("%v", r)
		}
		req.Actions[0] = click("two")
		s.append(req) // what was refused has not used the request id up
	})
}

// The answers of all commands show the replay after them, with its pause in full.
func TestAnswersShowThePauseInFull(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.open("one")
		res, err := s.replays.PauseReplay(s.ctx, &reprisev1.PauseReplayRequest{ReplayId: id, Message: "wait for me"})
		if p := res.GetReplay().GetPause(); err != nil || p.GetMessage() != "wait for me" || p.GetPausedBy() != "operator" || p.GetPauseId() == "" {
			t.Errorf("%v, %v", res, err)
		}
		closed, err := s.replays.CloseReplay(s.ctx, &reprisev1.CloseReplayRequest{ReplayId: id})
		if r := closed.GetReplay(); err != nil || r.GetOpen() || r.GetPause().GetMessage() != "wait for me" || !r.GetAgentAway() {
			t.Errorf("%v, %v", closed, err)
		}
		resumed, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id})
		if err != nil || resumed.GetReplay().GetPause() != nil || resumed.GetRemainingActions() != 1 {
			t.Errorf("%v, %v", resumed, err)
		}
	})
}
