package session_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

func TestAnAgentThatDoesNotAnswerPingsIsClosedInTime(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"), sessiontest.Silent)
		start := time.Now()
		refused(t, a.End(), codes.Unavailable, "PING_UNANSWERED")
		within(t, start, 20*time.Second, 20*time.Second)
		synctest.Wait()
		if w.connected() {
			t.Error("the machine is shown as connected")
		}
	})
}

func TestAnIdleStreamWhoseAgentAnswersStaysOpen(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		time.Sleep(3 * time.Minute)
		a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Ping{Ping: &reprisev1.Ping{Number: 42}}})
		if n := a.Next().GetPong().GetNumber(); n != 42 {
			t.Errorf("pong %d", n)
		}
	})
}

// Answers to what nobody asked neither keep a stream alive nor cost it its life.
func TestPongsThatAnswerNothingChangeNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		noise := func(a *sessiontest.Agent) {
			for n := range 20 {
				a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Pong{Pong: &reprisev1.Pong{Number: uint64(n * 1000)}}})
			}
		}
		silent, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"), sessiontest.Silent)
		start := time.Now()
		time.Sleep(15 * time.Second)
		noise(silent)
		refused(t, silent.End(), codes.Unavailable, "PING_UNANSWERED")
		within(t, start, 20*time.Second, 20*time.Second)
		loud, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		for range 10 {
			noise(loud)
			time.Sleep(5 * time.Second)
		}
		if !w.connected() {
			t.Error("an agent that answers was closed")
		}
	})
}

// B09: health is measured where the work flows. An agent that answers pings and
// takes no work gets its action once more, then its stream is closed.
func TestAnAgentThatTakesNoWorkIsClosed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		start := time.Now()
		first, again := a.Dispatch(), a.Dispatch()
		within(t, start, 5*time.Second, 5*time.Second)
		if again.GetActionId() != first.GetActionId() || again.GetDispatchMeta().GetResendReason() != reprisev1.ResendReason_RESEND_REASON_NOT_RECEIVED {
			t.Errorf("%v came after %v", again, first)
		}
		refused(t, a.End(), codes.Unavailable, "NOT_ACKNOWLEDGING")
		within(t, start, 10*time.Second, 10*time.Second)
		b, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		d := b.Dispatch()
		b.Report(sessiontest.Done(d))
		if v := b.Ack(); v != reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED || d.GetDispatchMeta().GetResentCount() != 0 {
			t.Errorf("verdict %v, resends spent %d", v, d.GetDispatchMeta().GetResentCount())
		}
	})
}

// B28: both ends writing, nobody reading. The server goes on reading, and closes
// the stream; another machine notices nothing.
func TestAnAgentThatDoesNotReadIsClosed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		conn := w.dial()
		blind := sessiontest.Open(t, t.Context(), conn, sessiontest.Hello(machine, "spool"), sessiontest.Blind)
		synctest.Wait()
		w.token = auth.Identity{Role: auth.RoleAgent, Machine: "desk-2"}
		other, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello("desk-2", "spool"))
		start := time.Now()
		doing := strings.Repeat("x", 1000)
		go func() { // it hangs itself once the server has stopped reading
			for i := range 20_000 { // each asks for an answer that is never read
				blind.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Ping{Ping: &reprisev1.Ping{Number: 1<<40 + uint64(i)}}})
				if i%100 == 0 {
					blind.Progress("r-1-1", doing)
				}
			}
		}()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if w.connected() {
			t.Errorf("the stream is still open after %v", time.Since(start))
		}
		other.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Ping{Ping: &reprisev1.Ping{Number: 1}}})
		if other.Next().GetPong().GetNumber() != 1 {
			t.Error("another machine's stream has suffered")
		}
	})
}

// The same, when the queue never fills: the pings notice.
func TestAWriterThatHangsIsNoticedByThePings(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		conn := w.dial()
		w.submit("r-1", "one")
		message := strings.Repeat("m", 60_000)
		blind := sessiontest.Open(t, t.Context(), conn, sessiontest.Hello(machine, "spool"), sessiontest.Blind)
		synctest.Wait()
		for range 3 { // more than the window of a stream that nobody reads
			w.command("r-1", func(r *replay.Replay) ([]replay.Event, error) { return r.DecidePause("ann", message) })
			w.command("r-1", func(r *replay.Replay) ([]replay.Event, error) { return r.DecideResume(replay.ResumeCommand{}) })
		}
		time.Sleep(22 * time.Second)
		synctest.Wait()
		if w.connected() {
			t.Error("the stream is still open")
		}
		blind.Cut()
	})
}

func TestAReportForAnotherMachineEndsTheStream(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		r := sessiontest.Done(a.Dispatch())
		r.MachineId = "desk-2"
		a.Report(r)
		refused(t, a.End(), codes.InvalidArgument, "OTHER_MACHINE")
		if n := w.store.fold(t, "r-1").Settled; n != 0 {
			t.Errorf("%d actions are settled", n)
		}
	})
}

func TestADesktopThatTakesNoInputGetsNoWork(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		h := sessiontest.Hello(machine, "spool")
		h.DesktopState = &reprisev1.DesktopState{Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED, Detail: "Win+L"}
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, h)
		w.submit("r-1", "one")
		time.Sleep(time.Minute)
		synctest.Wait()
		if m := w.registry.Machines()[0]; a.Waiting() != 0 || m.Info.DesktopWhy != "Win+L" {
			t.Errorf("%d messages came; shown as %+v", a.Waiting(), m.Info)
		}
		a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_DesktopState{DesktopState: &reprisev1.DesktopState{
			Kind: reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE,
		}}})
		if d := a.Dispatch(); d.GetDispatchMeta().GetDelivery() != 1 {
			t.Errorf("%v came", d)
		}
	})
}

func TestAServerThatGoesAwaySaysWhenToComeBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var agents []*sessiontest.Agent
		for i := range 20 {
			id := fmt.Sprintf("desk-%d", i)
			w.token = auth.Identity{Role: auth.RoleAgent, Machine: id}
			a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(id, "spool"))
			agents = append(agents, a)
		}
		w.service.GoAway(3 * time.Second)
		times := map[time.Duration]bool{}
		for _, a := range agents {
			g := a.Next().GetGoAway()
			if d := g.GetReconnectAfter().AsDuration(); g == nil || d < 0 || d > 3*time.Second {
				t.Errorf("%v came", g)
			}
			times[g.GetReconnectAfter().AsDuration()] = true
			refused(t, a.End(), codes.Unavailable, "GOING_AWAY")
		}
		if len(times) < 10 {
			t.Errorf("20 agents come back at %d moments", len(times))
		}
		refused(t, sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello("desk-19", "spool")).End(), codes.Unavailable, "GOING_AWAY")
	})
}

// B29: whatever moment a stream is cut at, nothing of it stays.
func TestCutStreamsLeaveNothingBehind(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		cycle := func(i int) {
			a := sessiontest.Open(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
			if i%4 > 0 {
				a.Next()
			}
			if i%4 > 1 {
				a.Progress("r-1-1", "something")
			}
			if i%4 > 2 {
				synctest.Wait()
			}
			a.Cut()
			synctest.Wait() // the server has heard of the cut before the next hello comes, as from an agent that waits a little
		}
		for i := range 4 {
			cycle(i)
		}
		synctest.Wait()
		before := runtime.NumGoroutine()
		for i := range 200 {
			cycle(i)
		}
		synctest.Wait()
		// Each cycle that leaves something would be seen; the runtime has a few of its own.
		if after := runtime.NumGoroutine(); after > before+10 || w.connected() {
			t.Errorf("%d goroutines before, %d after; connected %v", before, after, w.connected())
		}
		if err := w.fleet.Loop(machine).Do(t.Context(), func(m *dispatch.Machine) {
			if s := m.Status(); s.SessionID != "" {
				t.Errorf("the machine still has session %s", s.SessionID)
			}
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// An executed result is never refused for its vocabulary.
func TestAReportWithUnknownWordsIsTakenAndKept(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.submit("r-1", "one")
		a, _ := sessiontest.Welcomed(t, t.Context(), w.conn, sessiontest.Hello(machine, "spool"))
		r := sessiontest.Failed(a.Dispatch(), 4711, "a fault of tomorrow")
		r.Warnings = []reprisev1.Warning{4712}
		a.Report(r)
		if p := a.Next().GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_INTERNAL {
			t.Errorf("%v came, want a pause", p)
		}
		if v := a.Ack(); v != reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED {
			t.Errorf("verdict %v", v)
		}
		kept := &reprisev1.Report{}
		if err := proto.Unmarshal(w.store.fold(t, "r-1").Actions[0].Report.Payload, kept); err != nil || !proto.Equal(kept, r) {
			t.Errorf("kept %v, %v; sent %v", kept, err, r)
		}
	})
}
