package cases

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func TestCase_b_AnAgentThatIsBackWithinTheGraceGoesOnWithoutAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onUp(firstTime(func(m *reprisev1.ConnectRequest) bool { return m.GetProgress() != nil }, cut)) // received, and the link breaks
		id := w.create(3)
		synctest.Wait()
		w.relay.takeApart()
		time.Sleep(80 * time.Second) // it tries again within 7.5 s
		w.relay.join()
		r := w.completed(id)
		w.clicked(1, 2, 3)
		if a := decision(t, r, "1"); a.GetResentCount() != 0 {
			t.Errorf("%d resends were spent on a link that was down", a.GetResentCount())
		}
		if lines := w.log.lines("msg=replay_paused"); len(lines) != 0 {
			t.Errorf("paused: %v", lines)
		}
	})
}

func TestCase_b_TheReplayPausesWhenTheGraceIsOverAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(firstTime(isDispatch, cut)) // it never arrives
		id := w.create(2)
		synctest.Wait()
		w.relay.takeApart()
		time.Sleep(90*time.Second - time.Millisecond)
		if r := w.get(id); r.GetState() != reprisev1.ReplayState_REPLAY_STATE_RUNNING || !r.GetAgentAway() {
			t.Errorf("before the grace is over: %v, agent away %v", r.GetState(), r.GetAgentAway())
		}
		time.Sleep(time.Second)
		r := w.get(id)
		if p := r.GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT || !strings.Contains(p.GetMessage(), "The agent is away") {
			t.Fatalf("after the grace: %v, %v: %q", r.GetState(), p.GetReason(), p.GetMessage())
		}
		w.relay.join()
		time.Sleep(time.Minute)
		w.clicked() // it is back, and a person has not spoken
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}

func TestCase_c_AnAgentThatComesBackWithoutItsMemoryGoesToAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, _ := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.relay.takeApart()
		w.stopAgent()
		w.spool = t.TempDir() // reinstalled: it knows of nothing
		w.relay.join()
		w.agent = w.start()
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		if p := r.GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN || p.GetActionToDecide() != id+"-1" {
			t.Errorf("paused with %v for %s", p.GetReason(), p.GetActionToDecide())
		}
		time.Sleep(time.Minute)
		w.clicked(1)
	})
}

func TestCase_h_AHalfOpenLinkIsNoticedByBothSidesAndHealsWithoutLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(3)
		<-held
		w.relay.silence()
		time.Sleep(20 * time.Second) // the bound behind a proxy, which answers keepalive itself
		synctest.Wait()
		if m := w.machine(); m.GetConnected() {
			t.Error("the server still believes in the link")
		}
		if r := w.get(id); !r.GetAgentAway() || decision(t, r, "1").GetResentCount() != 0 {
			t.Errorf("agent away %v; resends were spent on a link that is down: %d", r.GetAgentAway(), decision(t, r, "1").GetResentCount())
		}
		if lines := w.log.lines("the server does not answer pings"); len(lines) != 1 {
			t.Errorf("the agent noticed it %d times", len(lines))
		}
		goOn()
		time.Sleep(10 * time.Second)
		w.relay.listen()
		w.completed(id)
		w.clicked(1, 2, 3)
	})
}

func TestCase_h_ASilentAgentIsAskedAgainGivenUpAndShownToAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.mute(1)
		held, goOn := w.desktop.holdNext()
		start := time.Now()
		id := w.createWith(forAnHour(clickAt(1)), clickAt(2))
		<-held
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		if took := time.Since(start).Round(time.Second); took != 90*time.Second {
			t.Errorf("given up after %v, want three orphan timeouts", took)
		}
		if a := decision(t, r, "1"); a.GetDeliveries() != 3 || a.GetResentCount() != 2 {
			t.Errorf("%d deliveries, %d resends; want 3 and 2", a.GetDeliveries(), a.GetResentCount())
		}
		if p := r.GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS || p.GetMessage() != "The agent did not answer." || p.GetActionToDecide() != id+"-1" {
			t.Errorf("paused with %v, %q for %s", p.GetReason(), p.GetMessage(), p.GetActionToDecide())
		}
		// It thaws: the step that was given up turns out to be done.
		w.relay.listen()
		goOn()
		time.Sleep(time.Minute)
		r = w.get(id)
		if r.GetState() != reprisev1.ReplayState_REPLAY_STATE_PAUSED || r.GetPause().GetActionToDecide() != "" || r.GetSettledCount() != 1 {
			t.Errorf("after the late report: %v, to decide on %q, %d settled", r.GetState(), r.GetPause().GetActionToDecide(), r.GetSettledCount())
		}
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}

func TestCase_h_TheSecondGiveUpInARowIsADeadAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.mute(1)
		held, _ := w.desktop.holdNext()
		id := w.createWith(forAnHour(clickAt(1)))
		<-held
		w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		w.resume(id)
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		if p := r.GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT {
			t.Errorf("paused with %v, want dead client", p.GetReason())
		}
		w.clicked(1)
	})
}

func TestCase_h_AnAgentThatAnswersPingsAndTakesNoWorkLosesItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
			if m.GetDispatch() != nil {
				return drop
			}
			return pass
		})
		id := w.create(1)
		time.Sleep(9 * time.Second)
		if n := len(w.welcomes()); n != 1 {
			t.Errorf("%d streams after one missed receipt", n)
		}
		time.Sleep(5 * time.Second)
		if n := len(w.welcomes()); n != 2 {
			t.Errorf("%d streams after two missed receipts in a row, want the first one closed", n)
		}
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		if a := decision(t, r, "1"); a.GetDeliveries() != 20 || a.GetResentCount() != 0 {
			t.Errorf("%d deliveries, %d resends; want 20 and 0", a.GetDeliveries(), a.GetResentCount())
		}
		if p := r.GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_DELIVERY_FAILED || p.GetMessage() == "" {
			t.Errorf("paused with %v: %q", p.GetReason(), p.GetMessage())
		}
		w.clicked()
	})
}
