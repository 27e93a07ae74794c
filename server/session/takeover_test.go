package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

func TestANewerStreamOfTheSameAgentTakesOverAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one", "two")
		old, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		first := old.Dispatch()
		start := time.Now()
		h := sessiontest.Hello(machine, "spool")
		h.BootId = "another boot"
		newer, welcome := sessiontest.Welcomed(t, t.Context(), w.conn, h)
		refused(t, old.End(), codes.Aborted, "TAKEN_OVER")
		within(t, start, 0, 0)
		again := newer.Dispatch()
		if again.GetActionId() != first.GetActionId() || again.GetAttemptId() == first.GetAttemptId() || again.GetSessionId() != welcome.GetSessionId() {
			t.Errorf("%v is dispatched after %v", again, first)
		}
		synctest.Wait() // the old stream has cleaned up by now
		newer.Report(sessiontest.Done(again))
		if v := newer.Ack(); v != reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED {
			t.Errorf("verdict %v", v)
		}
		if d := newer.Dispatch(); d.GetFromNode() != "two" {
			t.Errorf("%v is dispatched next", d)
		}
		if !w.connected() {
			t.Error("the late clean-up of the old stream took the machine from the new one")
		}
	})
}

// What an agent said on its old stream, before it opened a new one, counts: the
// result and the hello that follows it settle the action once.
func TestAReportOnTheOldStreamStillCounts(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one", "two")
		old, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		first := old.Dispatch()
		hang := make(chan struct{})
		w.store.set(func(s *store) { s.hang = hang })
		old.Report(sessiontest.Done(first))
		synctest.Wait()
		newer := sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		synctest.Wait()
		w.store.set(func(s *store) { s.hang = nil })
		close(hang)
		if newer.Next().GetWelcome() == nil {
			t.Fatal("no welcome")
		}
		if d := newer.Dispatch(); d.GetFromNode() != "two" {
			t.Errorf("%v is dispatched next", d)
		}
	})
}

func TestAnotherAgentIsRefusedWhileTheFirstOneAnswers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		first, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool-a"))
		first.Dispatch()
		for range 3 {
			other := sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool-b"))
			refused(t, other.End(), codes.AlreadyExists, "MACHINE_HELD")
		}
		if m := w.registry.Machines()[0]; m.ConflictAt.IsZero() || m.SessionID == "" {
			t.Errorf("the conflict is not shown: %+v", m)
		}
		synctest.Wait()
		if first.Waiting() != 0 {
			t.Errorf("the first agent was told %v", first.Next())
		}
	})
}

// The other agent cannot know what the silent one did: the action in flight goes
// to a person, and is not run twice.
func TestAnotherAgentTakesOverFromOneThatIsSilentForTwoSeconds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		silent, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool-a"), sessiontest.Silent)
		silent.Dispatch()
		start := time.Now()
		other, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool-b"))
		within(t, start, registry.ProbeTimeout, registry.ProbeTimeout)
		refused(t, silent.End(), codes.Aborted, "FENCED")
		if p := other.Next().GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN {
			t.Errorf("%v came, want a pause", p)
		}
	})
}

// Many agents with one machine's id do not wait for each other for ever.
func TestAClaimThatWaitsForOthersEndsInTime(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"), sessiontest.Silent)
		start := time.Now()
		var agents []*sessiontest.Agent
		for _, spool := range []string{"a", "b", "c", "d", "e"} {
			agents = append(agents, sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello(machine, spool), sessiontest.Silent))
		}
		time.Sleep(7 * time.Second)
		synctest.Wait()
		open := 0
		for _, a := range agents {
			if a.Waiting() == 1 && a.Next().GetWelcome() != nil {
				open++
			}
		}
		if open == 0 || open == len(agents) || !w.connected() {
			t.Errorf("%d of %d were welcomed after %v", open, len(agents), time.Since(start))
		}
	})
}

func TestACommandReachesTheAgent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one", "two")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		d := a.Dispatch()
		a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_PersonRequest{PersonRequest: &reprisev1.PersonRequest{
			Kind: reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_STOP,
		}}})
		pause := a.Next().GetPause()
		if pause.GetReason() != reprisev1.PauseReason_PAUSE_REASON_OPERATOR {
			t.Fatalf("%v came, want a pause", pause)
		}
		a.Report(sessiontest.Done(d))
		a.Ack()
		a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_PersonRequest{PersonRequest: &reprisev1.PersonRequest{
			Kind: reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_GO_ON, ReplayId: "r-1",
		}}})
		var resumed bool
		var next *reprisev1.Dispatch
		for range 2 {
			m := a.Next()
			resumed = resumed || m.GetResume().GetPauseId() == pause.GetPauseId()
			if m.GetDispatch() != nil {
				next = m.GetDispatch()
			}
		}
		if !resumed || next.GetFromNode() != "two" {
			t.Errorf("resumed %v, %v is dispatched next", resumed, next)
		}
		w.command("r-1", func(r *replay.Replay) ([]replay.Event, error) { return r.DecideCancel("ann", "") })
		if c := a.Next().GetCancel(); c.GetActionId() != next.GetActionId() {
			t.Errorf("%v came, want the cancel of %s", c, next.GetActionId())
		}
		if st := w.store.fold(t, "r-1").State; st != replay.Cancelled {
			t.Errorf("the replay is %v", st)
		}
	})
}
