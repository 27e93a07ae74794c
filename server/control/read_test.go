package control_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

func TestAListIsPagedAndFiltered(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		var ids []string
		for i := range 7 {
			ids = append(ids, s.create(clicks(fmt.Sprint("job ", i))).GetReplayId())
		}
		slices.Reverse(ids)
		if err := s.cancel(ids[3]); err != nil {
			t.Fatal(err)
		}
		list := func(req *reprisev1.ListReplaysRequest) (got []string) {
			for {
				res, err := s.replays.ListReplays(s.ctx, req)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range res.GetReplays() {
					got = append(got, r.GetReplayId())
				}
				if req.PageToken = res.GetNextPageToken(); req.PageToken == "" {
					return got
				}
				if int32(len(res.GetReplays())) != req.GetPageSize() {
					t.Errorf("a page in the middle has %d", len(res.GetReplays()))
				}
			}
		}
		if got := list(&reprisev1.ListReplaysRequest{PageSize: 2}); !slices.Equal(got, ids) {
			t.Errorf("%v, want %v", got, ids)
		}
		if got := list(&reprisev1.ListReplaysRequest{States: []reprisev1.ReplayState{cancelled}}); !slices.Equal(got, ids[3:4]) {
			t.Errorf("cancelled: %v", got)
		}
		if got := list(&reprisev1.ListReplaysRequest{MachineId: "desk-9"}); got != nil {
			t.Errorf("of another machine: %v", got)
		}
		if got := list(&reprisev1.ListReplaysRequest{MachineId: machine}); len(got) != 7 {
			t.Errorf("of the machine: %v", got)
		}
		res, err := s.replays.ListReplays(s.ctx, &reprisev1.ListReplaysRequest{PageSize: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, req := range []*reprisev1.ListReplaysRequest{{PageToken: "nonsense"}, {PageToken: res.GetNextPageToken(), MachineId: machine}} {
			_, err := s.replays.ListReplays(s.ctx, req)
			refused(t, err, codes.InvalidArgument, "PAGE_TOKEN_INVALID")
		}
	})
}

func TestAListIsFilteredByLabelsAndTime(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		submit := func(labels map[string]string) string {
			time.Sleep(time.Second)
			return s.submit(&reprisev1.CreateReplayRequest{MachineId: machine, Workflow: clicks("one"), Labels: labels}).GetReplayId()
		}
		one := submit(map[string]string{"ward": "7", "by": "night"})
		two := submit(map[string]string{"ward": "7"})
		three := submit(map[string]string{"ward": "8"})
		from := s.get(two).GetCreatedAt()
		for name, tt := range map[string]struct {
			req  *reprisev1.ListReplaysRequest
			want []string
		}{
			"one label":   {&reprisev1.ListReplaysRequest{Labels: map[string]string{"ward": "7"}}, []string{two, one}},
			"two labels":  {&reprisev1.ListReplaysRequest{Labels: map[string]string{"ward": "7", "by": "night"}}, []string{one}},
			"from":        {&reprisev1.ListReplaysRequest{CreatedFrom: from}, []string{three, two}},
			"before":      {&reprisev1.ListReplaysRequest{CreatedBefore: from}, []string{one}},
			"all at once": {&reprisev1.ListReplaysRequest{CreatedFrom: from, Labels: map[string]string{"ward": "7"}}, []string{two}},
		} {
			res, err := s.replays.ListReplays(s.ctx, tt.req)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range res.GetReplays() {
				got = append(got, r.GetReplayId())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v, want %v", name, got, tt.want)
			}
		}
	})
}

func TestAnAgentThatIsAwayIsShownEverywhere(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.create(clicks("one")).GetReplayId()
		away := func(want bool) {
			t.Helper()
			settled()
			if got, listed := s.get(id).GetAgentAway(), s.list()[0].GetAgentAway(); got != want || listed != want {
				t.Errorf("away: get says %v, list %v, want %v", got, listed, want)
			}
			res, err := s.machines.ListMachines(s.ctx, &reprisev1.ListMachinesRequest{})
			if err != nil || len(res.GetMachines()) != 1 {
				t.Fatal(res, err)
			}
			if m := res.GetMachines()[0]; m.GetConnected() == want || m.GetCurrentReplayId() != id {
				t.Errorf("%v", m)
			}
		}
		away(true)
		a := s.agent("spool")
		away(false)
		a.Cut()
		away(true)
	})
}

// Every decision to run a step is shown, in the order of the workflow and then of
// the decisions.
func TestAReplayIsShownStepByStep(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		r, id := failing(s, a, clicks("one", "two"))
		if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: r.GetReplayId()}); err != nil {
			t.Fatal(err)
		}
		a.Next()
		again := a.Dispatch()
		a.Progress(again.GetActionId(), "looking")
		settled()
		got := s.get(r.GetReplayId())
		var ids []string
		for _, x := range got.GetActions() {
			ids = append(ids, x.GetActionId())
		}
		if len(ids) != 3 || !slices.Equal(ids[:2], []string{id, id + "_resume"}) {
			t.Fatalf("%v", ids)
		}
		first, second, third := got.GetActions()[0], got.GetActions()[1], got.GetActions()[2]
		if first.GetState() != reprisev1.ActionState_ACTION_STATE_SUPERSEDED || first.GetReport().GetError().GetMessage() == "" || first.GetIntention() != "to one" {
			t.Errorf("first %v", first)
		}
		if second.GetPhase() != reprisev1.ActionPhase_ACTION_PHASE_EXECUTING || second.GetDoing() != "looking" || second.GetDeliveries() != 1 {
			t.Errorf("second %v", second)
		}
		if third.GetState() != reprisev1.ActionState_ACTION_STATE_QUEUED || third.GetStep() != 1 || third.GetName() != "two" || third.GetKind() != "click" {
			t.Errorf("third %v", third)
		}
	})
}

func (s *server) watch(id string) reprisev1.ReplayService_WatchReplayClient {
	s.t.Helper()
	w, err := s.replays.WatchReplay(s.ctx, &reprisev1.WatchReplayRequest{ReplayId: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

func TestAWatchBeginsWithEverythingAndEndsWithTheReplay(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.create(clicks("one", "two")).GetReplayId()
		w := s.watch(id)
		first, err := w.Recv()
		if err != nil || len(first.GetReplay().GetActions()) != 2 || len(first.GetEvents()) != 0 {
			t.Fatal(first, err)
		}
		a := s.agent("spool")
		for range 2 {
			a.Report(sessiontest.Done(a.Dispatch()))
			a.Ack()
		}
		var types []string
		revision, last := first.GetReplay().GetRevision(), first
		for {
			m, err := w.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if r := m.GetReplay().GetRevision(); r < revision || len(m.GetEvents()) > 0 && r != revision+1 {
				t.Errorf("revision %d follows %d", r, revision)
			}
			revision, last = m.GetReplay().GetRevision(), m
			for _, e := range m.GetEvents() {
				types = append(types, e.GetType())
			}
		}
		want := "replay_started action_dispatched action_reported action_dispatched action_reported replay_ended"
		if got := strings.Join(types, " "); got != want || last.GetReplay().GetState() != completed {
			t.Errorf("%s, and at last %v", got, last.GetReplay())
		}
		ended := s.watch(id)
		m, err := ended.Recv()
		if err != nil || m.GetReplay().GetState() != completed || len(m.GetReplay().GetActions()) != 2 {
			t.Error(m, err)
		}
		if _, err := ended.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("the watch of an ended replay ends with %v", err)
		}
		_, err = s.watch("r-9").Recv()
		refused(t, err, codes.NotFound, "REPLAY_NOT_FOUND")
	})
}

func TestAWatchThatDoesNotKeepUpIsEnded(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		long := clicks("1", "2", "3", "4", "5", "6", "7", "8")
		for _, a := range long.GetActions() {
			a.Intention = strings.Repeat("i", 2000)
		}
		id := s.create(long).GetReplayId()
		slow, quick := s.watch(id), s.watch(id)
		if _, err := quick.Recv(); err != nil {
			t.Fatal(err)
		}
		read := make(chan int)
		go func() {
			n := 0
			for {
				if _, err := quick.Recv(); err != nil {
					break
				}
				n++
			}
			read <- n
		}()
		for range 20 { // each shows all actions again: more than a stream and its buffers hold
			s.pause(id)
			if _, err := s.resume(&reprisev1.ResumeReplayRequest{ReplayId: id}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(15 * time.Second)
		var err error
		for err == nil {
			_, err = slow.Recv()
		}
		refused(t, err, codes.ResourceExhausted, "WATCHER_TOO_SLOW")
		if err := s.cancel(id); err != nil {
			t.Fatal(err)
		}
		if n := <-read; n != 41 {
			t.Errorf("the one that keeps up was sent %d changes", n)
		}
		again, err := s.watch(id).Recv()
		if err != nil || again.GetReplay().GetState() != cancelled {
			t.Errorf("watching again: %v, %v", again, err)
		}
	})
}

func TestAWatchEndsWhenTheServerGoesAway(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		w := s.watch(s.create(clicks("one")).GetReplayId())
		if _, err := w.Recv(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { _, err := w.Recv(); ended <- err }()
		s.shutdown()
		refused(t, <-ended, codes.Unavailable, "GOING_AWAY")
	})
}
