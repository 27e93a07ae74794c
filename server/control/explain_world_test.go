package control_test

import (
	"strings"
	"testing"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

// why asks what holds a replay up.
func (s *server) why(id string) []*reprisev1.Cause {
	s.t.Helper()
	res, err := s.replays.ExplainReplay(s.ctx, &reprisev1.ExplainReplayRequest{ReplayId: id})
	if err != nil {
		s.t.Fatal(err)
	}
	if r := res.GetReplay(); r.GetReplayId() != id || len(r.GetActions()) != 0 {
		s.t.Errorf("%v is explained for %s", r, id)
	}
	return res.GetCauses()
}

// chain checks the kinds of the causes.
func chain(t *testing.T, causes []*reprisev1.Cause, want string) {
	t.Helper()
	var kinds []string
	for _, c := range causes {
		m := c.ProtoReflect()
		kinds = append(kinds, string(m.WhichOneof(m.Descriptor().Oneofs().ByName("kind")).Name()))
	}
	if got := strings.Join(kinds, " "); got != want {
		t.Fatalf("%s, want %s: %v", got, want, causes)
	}
}

func TestAMachineThatIsAwayIsExplained(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		id := s.create(clicks("one")).GetReplayId()
		causes := s.why(id)
		chain(t, causes, "machine_offline")
		if off := causes[0].GetMachineOffline(); off.GetMachineId() != machine || !off.GetNeverConnected() {
			t.Errorf("%v", off)
		}
		a := s.agent("spool")
		a.Dispatch()
		a.Cut()
		settled()
		cut := time.Now()
		time.Sleep(30 * time.Second)
		causes = s.why(id)
		chain(t, causes, "action_in_flight machine_offline")
		off := causes[1].GetMachineOffline()
		if left := off.GetPausesIn().AsDuration(); off.GetNeverConnected() || left < 59*time.Second || left > 61*time.Second {
			t.Errorf("%v", off)
		}
		if since := causes[1].GetSince().AsTime(); cut.Sub(since) > time.Second || since.After(cut) {
			t.Errorf("since %v, and it was cut at %v", since, cut)
		}
		if in := causes[0].GetActionInFlight(); in.GetDeadline() != 0 || in.GetDueIn() != nil {
			t.Errorf("its deadline does not stand still: %v", in)
		}
		time.Sleep(90 * time.Second)
		causes = s.why(id)
		chain(t, causes, "paused machine_offline")
		if p := causes[0].GetPaused().GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT || p.GetPausedBy() != "" {
			t.Errorf("%v", p)
		}
	})
}

func TestADesktopThatTakesNoInputIsExplained(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		hello := sessiontest.Hello(machine, "spool")
		hello.DesktopState = &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED, Detail: "by the user"}
		sessiontest.Welcomed(t, s.agents, s.conn, hello)
		causes := s.why(s.create(clicks("one")).GetReplayId())
		chain(t, causes, "desktop_unusable")
		if d := causes[0].GetDesktopUnusable(); d.GetMachineId() != machine || d.GetDesktopState().GetKind() != hello.DesktopState.Kind || d.GetDesktopState().GetDetail() != "by the user" {
			t.Errorf("%v", d)
		}
	})
}

func TestADeadlineIsExplained(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		id := s.create(clicks("one")).GetReplayId()
		d := a.Dispatch()
		time.Sleep(2 * time.Second)
		causes := s.why(id)
		chain(t, causes, "action_in_flight")
		in := causes[0].GetActionInFlight()
		if left := in.GetDueIn().AsDuration(); in.GetDeadline() != reprisev1.DeadlineKind_DEADLINE_KIND_RECEIPT || left < 2*time.Second || left > 3*time.Second || in.GetActionId() != d.GetActionId() {
			t.Errorf("%v", in)
		}
		a.Progress(d.GetActionId(), "looking")
		settled()
		in = s.why(id)[0].GetActionInFlight()
		if left := in.GetDueIn().AsDuration(); in.GetDeadline() != reprisev1.DeadlineKind_DEADLINE_KIND_ORPHAN || left < 29*time.Second || in.GetDoing() != "looking" ||
			in.GetPhase() != reprisev1.ActionPhase_ACTION_PHASE_EXECUTING || in.GetDeliveries() != 1 {
			t.Errorf("%v", in)
		}
	})
}

func TestWhatWaitsBehindAPausedReplayIsExplained(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		first, second, third := s.create(clicks("one")).GetReplayId(), s.create(clicks("two")).GetReplayId(), s.create(clicks("three")).GetReplayId()
		d := a.Dispatch()
		s.pause(first)
		chain(t, s.why(third), "behind_replay paused action_in_flight")
		a.Next()
		a.Report(sessiontest.Done(d))
		a.Ack()
		causes := s.why(third)
		chain(t, causes, "behind_replay paused")
		if b := causes[0].GetBehindReplay(); b.GetReplayId() != first || b.GetReplaysAhead() != 2 || b.GetState() != paused {
			t.Errorf("%v", b)
		}
		if p := causes[1].GetPaused(); p.GetReplayId() != first || p.GetPause().GetPausedBy() != "operator" || p.GetPausing() {
			t.Errorf("%v", p)
		}
		if b := s.why(second)[0].GetBehindReplay(); b.GetReplaysAhead() != 1 {
			t.Errorf("%v", b)
		}
		a.Cut()
		settled()
		chain(t, s.why(third), "behind_replay paused machine_offline")
		if err := s.cancel(first); err != nil {
			t.Fatal(err)
		}
		ended := s.why(first)
		chain(t, ended, "ended")
		if e := ended[0].GetEnded(); e.GetState() != cancelled || e.GetReason() != "enough" || ended[0].GetSince() == nil {
			t.Errorf("%v", ended)
		}
	})
}

func TestAnOpenReplayThatHasNothingToDoIsExplained(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		id := s.open("one")
		a.Report(sessiontest.Done(a.Dispatch()))
		a.Ack()
		causes := s.why(id)
		chain(t, causes, "waiting_for_actions")
		if w := causes[0].GetWaitingForActions(); w.GetReplayId() != id || w.GetActionCount() != 1 {
			t.Errorf("%v", w)
		}
	})
}

func TestAServerThatGoesAwayIsExplained(t *testing.T) {
	withServer(t, func(t *testing.T, s *server) {
		a := s.agent("spool")
		id := s.create(clicks("one", "two")).GetReplayId()
		d := a.Dispatch()
		a.Progress(d.GetActionId(), "looking")
		gone := make(chan struct{})
		go func() { defer close(gone); s.shutdown() }()
		settled()
		chain(t, s.why(id), "action_in_flight server_draining") // it waits for what is in flight
		a.Report(sessiontest.Done(d))
		<-gone
	})
}
