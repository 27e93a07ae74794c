package control_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func request(id string) *reprisev1.CreateReplayRequest {
	return &reprisev1.CreateReplayRequest{RequestId: id, MachineId: machine, Workflow: clicks("one", "two"), Labels: map[string]string{"ward": "7"}}
}

func TestTheSameRequestMakesOneReplay(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		first := s.submit(request("job-1"))
		if again := s.submit(request("job-1")); again.GetReplayId() != first.GetReplayId() {
			t.Errorf("%s and %s", first.GetReplayId(), again.GetReplayId())
		}
		other := request("job-1")
		other.Workflow.Actions[0].Intention = "something else"
		_, err := s.replays.CreateReplay(s.ctx, other)
		refused(t, err, codes.AlreadyExists, "REQUEST_ID_TAKEN")
		after := s.killed()
		if again := after.submit(request("job-1")); again.GetReplayId() != first.GetReplayId() {
			t.Errorf("after a restart: %s and %s", first.GetReplayId(), again.GetReplayId())
		}
		_, err = after.replays.CreateReplay(after.ctx, other)
		refused(t, err, codes.AlreadyExists, "REQUEST_ID_TAKEN")
		if n := len(after.list()); n != 1 {
			t.Errorf("%d replays", n)
		}
	})
}

func TestTwentyEqualRequestsAtOnceMakeOneReplay(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		ids := make([]string, 20)
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() {
				res, err := s.replays.CreateReplay(s.ctx, request("job-1"))
				if err != nil {
					t.Error(err)
				}
				ids[i] = res.GetReplay().GetReplayId()
			})
		}
		all.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Errorf("%s and %s", ids[0], id)
			}
		}
		if n := len(s.list()); n != 1 {
			t.Errorf("%d replays", n)
		}
	})
}

// A caller that gives up and asks again gets the replay that its first call made,
// whether or not that call was still under way.
func TestACallerThatDidNotWaitGetsTheSameReplay(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		for i := range 20 {
			ctx, cancel := context.WithCancel(s.ctx)
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = s.replays.CreateReplay(ctx, request(fmt.Sprint("job-", i)))
			}()
			cancel()
			s.submit(request(fmt.Sprint("job-", i)))
			<-done
		}
		settled()
		if n := len(s.list()); n != 20 {
			t.Errorf("%d replays", n)
		}
	})
}

func TestValidateOnlyChecksEverythingAndStoresNothing(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		req := request("job-1")
		req.ValidateOnly = true
		for range 2 {
			r := s.submit(req)
			if r.GetReplayId() != "" || r.GetActionCount() != 2 || r.GetLabels()["ward"] != "7" || r.GetState() != reprisev1.ReplayState_REPLAY_STATE_QUEUED {
				t.Errorf("%v", r)
			}
		}
		if n := len(s.list()); n != 0 {
			t.Errorf("%d replays", n)
		}
		real := s.submit(request("job-1"))
		if r := s.submit(req); r.GetReplayId() != "" || real.GetReplayId() == "" {
			t.Errorf("a check answers with the replay %s", r.GetReplayId())
		}
		req.MachineId = "desk-9"
		_, err := s.replays.CreateReplay(s.ctx, req)
		refused(t, err, codes.AlreadyExists, "REQUEST_ID_TAKEN")
		req.RequestId = ""
		_, err = s.replays.CreateReplay(s.ctx, req)
		refused(t, err, codes.NotFound, "MACHINE_NOT_FOUND")
	})
}

func TestAWorkflowWhosePictureIsMissingIsRefused(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		data, digest := picture(t)
		w := clicks("one")
		w.Actions[0].Target = &reprisev1.Target{AnchorImage: &reprisev1.AnchorImage{Sha256: digest}}
		req := &reprisev1.CreateReplayRequest{MachineId: machine, Workflow: w}
		_, err := s.replays.CreateReplay(s.ctx, req)
		refused(t, err, codes.FailedPrecondition, "PICTURE_MISSING")
		up, err := reprisev1.NewEvidenceServiceClient(s.conn).Upload(s.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := up.Send(&reprisev1.UploadRequest{Sha256: digest, Data: data}); err != nil {
			t.Fatal(err)
		}
		if _, err := up.CloseAndRecv(); err != nil {
			t.Fatal(err)
		}
		s.submit(req)
	})
}

// All faults of a workflow are named at once, each with its field.
func TestEveryFaultOfAWorkflowIsNamed(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		w := clicks("same", "same", "drags", "asks", "looks", "", "scrolls")
		w.Actions[0].Target = nil
		w.Actions[2].Kind = &reprisev1.Action_Drag{Drag: &reprisev1.Drag{To: &reprisev1.Target{}}}
		w.Actions[3].SafetyChecks = []*reprisev1.SafetyCheck{{Id: "a", Label: "A"}, {Id: "b", Label: "B"}, {Id: "a", Label: "A again"}}
		w.Actions[4].Target = &reprisev1.Target{AnchorImage: &reprisev1.AnchorImage{Path: "there.png"}}
		w.Actions[5].Kind = &reprisev1.Action_Decision{Decision: &reprisev1.Decision{Prompt: "which?"}}
		w.Actions[6].Kind, w.Actions[6].Target = &reprisev1.Action_Scroll{Scroll: &reprisev1.Scroll{Vertical: -3}}, nil
		_, err := s.replays.CreateReplay(s.ctx, &reprisev1.CreateReplayRequest{MachineId: machine, Workflow: w})
		if status.Code(err) != codes.InvalidArgument {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, v := range detail[*errdetails.BadRequest](err).GetFieldViolations() {
			got[v.GetField()] = v.GetDescription() != ""
		}
		want := map[string]bool{
			"workflow.actions[0].target": true, "workflow.actions[1].name": true, "workflow.actions[2].drag.to": true,
			"workflow.actions[3].safety_checks[2].id": true, "workflow.actions[4].target.anchor_image.sha256": true,
			"workflow.actions[5].decision": true, "workflow.actions[6].target": true,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("violations (-want +got):\n%s\n%v", diff, err)
		}
	})
}

func TestAMessageBeyondTheSchemasLimitsIsRefusedWithItsField(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		w := clicks("one")
		w.Actions[0].Timeout = durationpb.New(-1)
		_, err := s.replays.CreateReplay(s.ctx, &reprisev1.CreateReplayRequest{MachineId: machine, Workflow: w})
		if v := detail[*errdetails.BadRequest](err).GetFieldViolations(); len(v) != 1 || v[0].GetField() != "workflow.actions[0].timeout" {
			t.Errorf("%v: %v", err, v)
		}
	})
}

func TestAMachineThatIsNotRegisteredIsNotFound(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		_, err := s.replays.CreateReplay(s.ctx, &reprisev1.CreateReplayRequest{MachineId: "desk-9", Workflow: clicks("one")})
		refused(t, err, codes.NotFound, "MACHINE_NOT_FOUND")
	})
}
