package cases

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// firstTime makes a fault happen once: to the first message that pick picks.
func firstTime[T any](pick func(*T) bool, f fate) func(*T) fate {
	done := false
	return func(m *T) fate {
		if !done && pick(m) {
			done = true
			return f
		}
		return pass
	}
}

func isDispatch(m *reprisev1.ConnectResponse) bool { return m.GetDispatch() != nil }
func isReport(m *reprisev1.ConnectRequest) bool    { return m.GetReport() != nil }
func isAck(m *reprisev1.ConnectResponse) bool      { return m.GetReportAck() != nil }

func TestCase_a_ABrokenLinkBeforeTheDispatchArrivesCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(firstTime(isDispatch, cut))
		r := w.completed(w.create(3))
		w.clicked(1, 2, 3)
		d := w.relay.dispatches()
		if d[0].GetActionId() != d[1].GetActionId() || d[0].GetAttemptId() == d[1].GetAttemptId() {
			t.Errorf("first two deliveries: %s/%s and %s/%s; want one action, two attempts", d[0].GetActionId(), d[0].GetAttemptId(), d[1].GetActionId(), d[1].GetAttemptId())
		}
		if got := d[1].GetDispatchMeta().GetResendReason(); got != reprisev1.ResendReason_RESEND_REASON_RECONNECT {
			t.Errorf("resend reason %v, want reconnect", got)
		}
		if a := r.GetActions()[0]; a.GetResentCount() != 0 {
			t.Errorf("%d resends were spent on a cut link", a.GetResentCount())
		}
	})
}

func TestCase_a_ASilentlyLostDispatchIsRedeliveredAtTheReceiptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(firstTime(isDispatch, drop))
		start := time.Now()
		r := w.completed(w.create(3))
		w.clicked(1, 2, 3)
		d := w.relay.dispatches()
		if got := d[1].GetDispatchMeta().GetResendReason(); got != reprisev1.ResendReason_RESEND_REASON_NOT_RECEIVED {
			t.Errorf("resend reason %v, want not received", got)
		}
		if a := r.GetActions()[0]; a.GetResentCount() != 0 || time.Since(start) > 9*time.Second {
			t.Errorf("%d resends spent, %v taken; want none, and the receipt timeout", a.GetResentCount(), time.Since(start))
		}
	})
}

func TestCase_b_AnAgentThatNeverComesBackPausesItsReplayAfterTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, _ := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.relay.onUp(func(*reprisev1.ConnectRequest) fate { return drop }) // dead, not stopped: it says no more
		w.stopAgent()
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		if got := r.GetPause().GetReason(); got != reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT {
			t.Errorf("paused with %v, want dead client", got)
		}
		if r.GetPause().GetMessage() == "" {
			t.Error("the pause says nothing that a person understands")
		}
	})
}

func TestCase_d_ALostReportIsSentAgainAndTakenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onUp(firstTime(isReport, cut))
		w.completed(w.create(3))
		w.clicked(1, 2, 3)
	})
}

func TestCase_d_ASilentlyLostReportIsSentAgainAfterTheAcknowledgementIsOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onUp(firstTime(isReport, drop))
		w.completed(w.create(3))
		w.clicked(1, 2, 3)
	})
}

func TestCase_d_AReportWhoseAcknowledgementIsLostIsADuplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(firstTime(isAck, cut))
		w.completed(w.create(3))
		w.clicked(1, 2, 3)
		taken := seen(w.relay, func(m message) (reprisev1.ReportVerdict, bool) {
			acks := m.down.GetWelcome().GetResultAcks()
			if len(acks) == 0 {
				return 0, false
			}
			return acks[0].GetVerdict(), true
		})
		if !slices.Equal(taken, []reprisev1.ReportVerdict{reprisev1.ReportVerdict_REPORT_VERDICT_DUPLICATE}) {
			t.Errorf("the stored result was taken as %v, want once as a duplicate", taken)
		}
	})
}

func TestCase_f_ALateReportWinsAgainstTheRedelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		// All signs of life but the receipt are lost while the agent works for
		// longer than the orphan timeout: the server takes the action for lost and
		// asks again, and the report of the first attempt comes meanwhile.
		w.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
			if m.GetProgress().GetState() == reprisev1.ProgressState_PROGRESS_STATE_EXECUTING {
				return drop
			}
			return pass
		})
		held, goOn := w.desktop.holdNext()
		id := w.create(3)
		<-held
		time.Sleep(31 * time.Second)
		goOn()
		r := w.completed(id)
		w.clicked(1, 2, 3)
		if a := r.GetActions()[0]; a.GetDeliveries() != 2 || a.GetResentCount() != 1 {
			t.Errorf("%d deliveries, %d resends: the report raced no redelivery", a.GetDeliveries(), a.GetResentCount())
		}
	})
}

func TestCase_g_AnExecutedActionThatIsRedeliveredIsAnsweredFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		lost := false
		w.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
			if !lost && (m.GetProgress() != nil || m.GetReport() != nil) {
				lost = m.GetReport() != nil
				return drop
			}
			return pass
		})
		w.completed(w.create(2))
		w.clicked(1, 2)
		var answered bool
		for _, r := range w.relay.reports() {
			answered = answered || slices.Contains(r.GetWarnings(), reprisev1.Warning_WARNING_ALREADY_EXECUTED)
		}
		if !answered {
			t.Error("no report says already_executed")
		}
	})
}

func TestCase_k_TheSameDispatchTwiceHasOneEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
			if m.GetDispatch() != nil {
				return twice
			}
			return pass
		})
		w.completed(w.create(4))
		w.clicked(1, 2, 3, 4)
	})
}

func TestCase_l_APauseLetsTheActionInFlightFinishAndNothingFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(3)
		<-held
		r := w.pause(id)
		if !r.GetPausing() {
			t.Error("the replay does not show that it is pausing")
		}
		goOn()
		time.Sleep(time.Minute)
		w.clicked(1)
		r = w.get(id)
		if r.GetState() != reprisev1.ReplayState_REPLAY_STATE_PAUSED || r.GetPausing() || r.GetSettledCount() != 1 {
			t.Errorf("state %v, pausing %v, %d settled; want paused with the report counted", r.GetState(), r.GetPausing(), r.GetSettledCount())
		}
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2, 3)
	})
}

func TestCase_m_ACancelStopsTheActionInFlightAndPurgesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, _ := w.desktop.holdNext() // it ends by the cancel alone
		id := w.create(3)
		<-held
		w.cancel(id)
		synctest.Wait()
		if r := w.get(id); r.GetState() != reprisev1.ReplayState_REPLAY_STATE_CANCELLED {
			t.Errorf("state %v", r.GetState())
		}
		if m := w.machine(); m.GetActionInFlight() != "" || m.GetCurrentReplayId() != "" {
			t.Errorf("still in flight: %q of %q", m.GetActionInFlight(), m.GetCurrentReplayId())
		}
		time.Sleep(time.Minute)
		acks := w.relay.acks()
		if len(acks) != 1 || acks[0].GetVerdict() != reprisev1.ReportVerdict_REPORT_VERDICT_NO_ACTIVE_REPLAY {
			t.Errorf("the late report was answered %v, want NO_ACTIVE_REPLAY", acks)
		}
		if got := w.relay.reports()[0].GetError().GetCode(); got != reprisev1.ErrorCode_ERROR_CODE_INTERRUPTED {
			t.Errorf("the agent reported %v, want interrupted", got)
		}
		next := w.create(2)
		w.completed(next)
		w.clicked(1, 1, 2)
	})
}
