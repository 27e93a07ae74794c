package session_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

func TestAStreamThatSaysNothingIsClosedAfterFiveSeconds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		start := time.Now()
		a := sessiontest.Open(t, t.Context(), w.conn, nil)
		refused(t, a.End(), codes.DeadlineExceeded, "NO_HELLO")
		within(t, start, 5*time.Second, 5*time.Second)
	})
}

func TestAStreamThatBeginsWithoutAHelloIsRefused(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a := sessiontest.Open(t, t.Context(), w.conn, nil)
		a.Progress("r-1-1", "something")
		refused(t, a.End(), codes.InvalidArgument, "HELLO_EXPECTED")
		b := sessiontest.Open(t, t.Context(), w.conn, nil)
		if err := b.Stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		refused(t, b.End(), codes.InvalidArgument, "HELLO_EXPECTED")
	})
}

func TestASecondHelloEndsTheStream(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: sessiontest.Hello(machine, "spool")}})
		refused(t, a.End(), codes.InvalidArgument, "HELLO_EXPECTED")
	})
}

func TestAnUnknownProtocolIsRefused(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		h := sessiontest.Hello(machine, "spool")
		h.ProtocolVersion = 2
		refused(t, sessiontest.Open(t, t.Context(), w.conn, h).End(), codes.FailedPrecondition, "PROTOCOL_UNKNOWN")
	})
}

func TestATokenOpensItsOwnMachineAlone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.token = auth.Identity{Role: auth.RoleAgent, Machine: "desk-2"}
		refused(t, sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool")).End(), codes.PermissionDenied, auth.MachineForbidden)
		if w.connected() {
			t.Error("the machine is shown as connected")
		}
	})
}

// The welcome is the first thing an agent hears, even of one that has asked for
// a pong before and whose replay is paused; the pause is told again after it.
func TestTheWelcomeComesFirstAndThePauseAfterEachOne(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		w.command("r-1", func(r *replay.Replay) ([]replay.Event, error) { return r.DecidePause("ann", "") })
		var pauses []string
		for range 3 {
			hang := make(chan struct{})
			w.store.set(func(s *store) { s.hang = hang })
			a := sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
			a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Ping{Ping: &reprisev1.Ping{Number: 7}}})
			synctest.Wait()
			w.store.set(func(s *store) { s.hang = nil })
			close(hang)
			if a.Next().GetWelcome() == nil {
				t.Fatal("the welcome is not the first message")
			}
			var pong, pause bool
			for range 2 {
				m := a.Next()
				pong = pong || m.GetPong().GetNumber() == 7
				if p := m.GetPause(); p != nil {
					pause, pauses = true, append(pauses, p.GetPauseId())
				}
			}
			if !pong || !pause {
				t.Errorf("pong %v, pause %v", pong, pause)
			}
			synctest.Wait()
			if a.Waiting() != 0 {
				t.Errorf("%d more messages came", a.Waiting())
			}
		}
		if len(pauses) != 3 || len(slices.Compact(slices.Clone(pauses))) != 1 {
			t.Errorf("the same pause was told as %v", pauses)
		}
	})
}

// An agent that comes back says what it has and what it is doing. Each result is
// answered in its order, what is executing goes on, what is not asked for again
// is closed.
func TestAHelloIsReconciledBeforeAnythingIsDispatched(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one", "two", "three")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		first := a.Dispatch()
		a.Report(sessiontest.Done(first))
		if v := a.Ack(); v != reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED {
			t.Errorf("verdict %v", v)
		}
		second := a.Dispatch()
		a.Cut()
		synctest.Wait()

		h := sessiontest.Hello(machine, "spool")
		h.Results = []*reprisev1.Report{
			sessiontest.Done(second), sessiontest.Done(first),
			{ActionId: "r-unknown-1", Success: true}, {ActionId: "stored-by-nobody", Success: true},
		}
		h.Unfinished = []*reprisev1.ActionRef{{ActionId: "r-gone-1"}}
		b, welcome := sessiontest.Welcomed(t, t.Context(), w.conn, h)
		var got []reprisev1.ReportVerdict
		for i, r := range welcome.GetResultAcks() {
			if r.GetActionId() != h.GetResults()[i].GetActionId() || r.GetAttemptId() != h.GetResults()[i].GetAttemptId() {
				t.Errorf("answer %d is for %v", i, r)
			}
			got = append(got, r.GetVerdict())
		}
		want := []reprisev1.ReportVerdict{1, 2, 4, 4}
		if !slices.Equal(got, want) || !slices.Equal(welcome.GetClosedActionIds(), []string{"r-gone-1"}) {
			t.Errorf("verdicts %v, want %v; closed %v", got, want, welcome.GetClosedActionIds())
		}
		if welcome.GetExecutingVerdict() != reprisev1.ExecutingVerdict_EXECUTING_VERDICT_UNSPECIFIED {
			t.Errorf("verdict %v on nothing", welcome.GetExecutingVerdict())
		}
		if d := b.Dispatch(); d.GetFromNode() != "three" || d.GetSessionId() != welcome.GetSessionId() {
			t.Errorf("%v is dispatched next", d)
		}
	})
}

func TestWhatIsExecutingGoesOnUnlessItWasCancelled(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		d := a.Dispatch()
		a.Cut()
		synctest.Wait()
		h := sessiontest.Hello(machine, "spool")
		h.Executing = &reprisev1.ActionRef{ActionId: d.GetActionId(), AttemptId: d.GetAttemptId()}
		b, welcome := sessiontest.Welcomed(t, t.Context(), w.conn, h)
		if v := welcome.GetExecutingVerdict(); v != reprisev1.ExecutingVerdict_EXECUTING_VERDICT_GO_ON {
			t.Errorf("verdict %v", v)
		}
		b.Cut()
		synctest.Wait()
		w.command("r-1", func(r *replay.Replay) ([]replay.Event, error) { return r.DecideCancel("ann", "") })
		_, welcome = sessiontest.Welcomed(t, t.Context(), w.conn, h)
		if v := welcome.GetExecutingVerdict(); v != reprisev1.ExecutingVerdict_EXECUTING_VERDICT_STOP {
			t.Errorf("verdict %v after the cancel", v)
		}
	})
}

func TestAStreamWhoseHelloCannotBeWrittenIsToldSoAndLeavesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		w.store.set(func(s *store) { s.fail = errDisk })
		err := sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool")).End()
		refused(t, err, codes.Unavailable, "JOURNAL_UNWRITABLE")
		synctest.Wait()
		if w.connected() || w.store.fold(t, "r-1").Actions[0].Dispatches != 0 {
			t.Errorf("connected %v, deliveries %d", w.connected(), w.store.fold(t, "r-1").Actions[0].Dispatches)
		}
		w.store.set(func(s *store) { s.fail = nil })
		time.Sleep(2 * time.Second)
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		if n := a.Dispatch().GetDispatchMeta().GetDelivery(); n != 1 {
			t.Errorf("the first delivery is number %d", n)
		}
	})
}

func TestAStreamIsClosedWhenTheServerCannotAnswerItsHello(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		hang := make(chan struct{})
		w.store.set(func(s *store) { s.hang = hang })
		start := time.Now()
		a := sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		refused(t, a.End(), codes.DeadlineExceeded, "NOT_OPENED")
		within(t, start, 5*time.Second, 6*time.Second)
		close(hang)
	})
}
