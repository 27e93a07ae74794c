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

func TestCase_f_AReportThatCrossesTheRedeliveryIsTakenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		// Receipt and report linger on the way while the action is taken for lost; the
		// redelivery is answered from memory behind them.
		w.relay.onUp(firstTime(func(m *reprisev1.ConnectRequest) bool { return m.GetProgress() != nil }, wait))
		id := w.create(2)
		time.Sleep(9 * time.Second)
		w.relay.letGo()
		w.completed(id)
		synctest.Wait() // for the last answer
		w.clicked(1, 2)
		// Whether the redelivery still counts when the link is back, the agent asks
		// first: so it may have nothing to answer.
		got := slices.DeleteFunc(w.verdicts(), func(v reprisev1.ReportVerdict) bool { return v == duplicate })
		if !slices.Equal(got, []reprisev1.ReportVerdict{accepted, accepted}) {
			t.Errorf("the reports were taken as %v, want each action accepted once", got)
		}
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
		time.Sleep(32 * time.Second) // it was asked for again at 30 s; that answer is lost too
		if n := len(w.relay.reports()); n != 2 {
			t.Fatalf("%d answers were lost, want 2", n)
		}
		w.relay.listen()
		r := w.completed(id)
		w.clicked(1, 2)
		a := decision(t, r, "1")
		if a.GetDeliveries() != 3 || a.GetResentCount() != 1 || !slices.Contains(a.GetReport().GetWarnings(), reprisev1.Warning_WARNING_ALREADY_EXECUTED) {
			t.Errorf("%d deliveries, %d resends, warnings %v; want the third answered from memory", a.GetDeliveries(), a.GetResentCount(), a.GetReport().GetWarnings())
		}
	})
}
