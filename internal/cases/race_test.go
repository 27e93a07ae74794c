package cases

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

const (
	accepted  = reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED
	duplicate = reprisev1.ReportVerdict_REPORT_VERDICT_DUPLICATE
)

func TestCase_f_AReportThatComesBeforeTheRedeliveryLeavesMakesItNeedless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.mute(1)
		held, goOn := w.desktop.holdNext()
		id := w.createWith(forAnHour(clickAt(1)), clickAt(2))
		<-held
		time.Sleep(20 * time.Second)
		w.desktop.become(desktop.Locked) // what is queued stays in the queue
		time.Sleep(20 * time.Second)
		if a := decision(t, w.get(id), "1"); a.GetState() != reprisev1.ActionState_ACTION_STATE_QUEUED || a.GetResentCount() != 1 {
			t.Fatalf("the redelivery is not decided: %v, %d resends", a.GetState(), a.GetResentCount())
		}
		w.relay.listen()
		goOn()
		time.Sleep(5 * time.Second)
		if a := decision(t, w.get(id), "1"); a.GetState() != reprisev1.ActionState_ACTION_STATE_ACKED {
			t.Errorf("after the late report: %v", a.GetState())
		}
		w.desktop.become(desktop.Active)
		r := w.completed(id)
		w.clicked(1, 2)
		if a := decision(t, r, "1"); a.GetDeliveries() != 1 {
			t.Errorf("it was delivered %d times", a.GetDeliveries())
		}
	})
}

// keepBack loses what the agent says of the first attempt of step 1, and returns how
// to bring its report to the server after all.
func (s *station) keepBack() (bring func() error) {
	var kept *reprisev1.ConnectRequest
	s.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
		switch r := m.GetReport(); {
		case kept == nil && ofStep(r.GetActionId(), 1):
			kept = m
			return drop
		case kept == nil && ofStep(m.GetProgress().GetActionId(), 1):
			return drop
		}
		return pass
	})
	return func() error { return s.relay.answer(kept) }
}

func TestCase_f_AReportThatCrossesTheRedeliveryIsTakenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		bring, crossed := w.keepBack(), make(chan error, 1)
		w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
			if d := m.GetDispatch(); ofStep(d.GetActionId(), 1) && d.GetDispatchMeta().GetResendReason() != reprisev1.ResendReason_RESEND_REASON_UNSPECIFIED {
				go func() { crossed <- bring() }()
			}
			return pass
		})
		r := w.completed(w.create(3))
		w.must(<-crossed)
		synctest.Wait() // the replay may be over before the agent hears how its last report was taken
		w.clicked(1, 2, 3)
		if a := decision(t, r, "1"); a.GetDeliveries() != 2 {
			t.Errorf("%d deliveries: nothing was crossed", a.GetDeliveries())
		}
		if got := w.accepted(); got != 3 {
			t.Errorf("%d reports of three actions were accepted: %v", got, w.verdicts())
		}
	})
}

func TestCase_f_AReportThatComesBehindTheAnswerToTheRedeliveryChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		bring := w.keepBack()
		id := w.create(2)
		time.Sleep(4 * time.Second) // step 1 is done, and nobody knows
		held, goOn := w.desktop.holdNext()
		<-held // step 1 was asked for again and answered, step 2 runs
		before := w.get(id)
		w.must(bring())
		synctest.Wait()
		if got, want := w.verdicts(), []reprisev1.ReportVerdict{accepted, duplicate}; !slices.Equal(got, want) {
			t.Errorf("the reports were taken as %v, want %v", got, want)
		}
		if after := w.get(id); after.GetRevision() != before.GetRevision() {
			t.Errorf("the late report changed the replay: revision %d, was %d", after.GetRevision(), before.GetRevision())
		}
		goOn()
		w.completed(id)
		w.clicked(1, 2)
	})
}

func TestCase_f_ALateSuccessTakesTheResumeOutThatWasNeverDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id, goOn := w.givenUp()
		w.desktop.become(desktop.Locked)
		time.Sleep(5 * time.Second)
		w.resume(id) // its _resume is queued and can't leave
		w.relay.listen()
		goOn()
		time.Sleep(5 * time.Second)
		w.desktop.become(desktop.Active)
		r := w.completed(id)
		w.clicked(1, 2)
		if a := decision(t, r, "1"); a.GetState() != reprisev1.ActionState_ACTION_STATE_ACKED {
			t.Errorf("the older decision is %v", a.GetState())
		}
		if slices.Contains(w.steps(), "1_resume") {
			t.Errorf("dispatched %v: the resume was sent all the same", w.steps())
		}
	})
}

func TestCase_f_AResumeThatWasDeliveredIsAnsweredByWhatTheOlderDecisionDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id, goOn := w.givenUp()
		w.resume(id)
		time.Sleep(5 * time.Second) // the _resume waits behind the older one, on the agent
		w.relay.listen()
		goOn()
		r := w.completed(id)
		w.clicked(1, 2)
		a := decision(t, r, "1_resume")
		if a.GetState() != reprisev1.ActionState_ACTION_STATE_ACKED || !slices.Contains(a.GetReport().GetWarnings(), reprisev1.Warning_WARNING_ALREADY_EXECUTED) {
			t.Errorf("the resume is %v with %v; want it settled by what has run", a.GetState(), a.GetReport().GetWarnings())
		}
	})
}

// givenUp brings a replay of two clicks to the pause in which the first one, which
// still runs, was given up. goOn lets it end.
func (w *world) givenUp() (id string, goOn func()) {
	w.t.Helper()
	w.mute(1)
	held, goOn := w.desktop.holdNext()
	id = w.createWith(forAnHour(clickAt(1)), clickAt(2))
	<-held
	w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	return id, goOn
}

func TestCase_g_OneEffectHoweverManyAnswersAreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.server.ReportAckTimeout = time.Hour }) // the agent does not say it again by itself
		w.mute(1)
		id := w.create(2)
		time.Sleep(32 * time.Second) // it was asked for again at 30 s, and received; that answer is lost too
		if n := len(w.relay.reports()); n != 2 {
			t.Fatalf("%d answers were lost, want 2", n)
		}
		w.relay.listen()
		r := w.completed(id)
		w.clicked(1, 2)
		a := decision(t, r, "1")
		if a.GetDeliveries() != 3 || a.GetResentCount() != 2 || !slices.Contains(a.GetReport().GetWarnings(), reprisev1.Warning_WARNING_ALREADY_EXECUTED) {
			t.Errorf("%d deliveries, %d resends, warnings %v; want the third answered from memory", a.GetDeliveries(), a.GetResentCount(), a.GetReport().GetWarnings())
		}
	})
}
