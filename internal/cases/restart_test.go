package cases

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func TestCase_i_AServerThatIsKilledGoesOnWithWhatTheAgentDidMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		first, second := w.create(3), w.create(2)
		<-held
		w.killServer()
		goOn()
		time.Sleep(30 * time.Second) // the action ends while nobody asks
		w.startServer()
		r := w.completed(first)
		w.completed(second)
		w.clicked(1, 2, 3, 1, 2)
		if a := r.GetActions()[0]; a.GetDeliveries() != 1 {
			t.Errorf("the step in flight was delivered %d times: its stored result settles it", a.GetDeliveries())
		}
	})
}

func TestCase_i_AnActionThatStillRunsWhenTheServerIsBackIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(3)
		<-held
		w.killServer()
		w.startServer()
		time.Sleep(50 * time.Second) // progress arrives all the while
		goOn()
		r := w.completed(id)
		w.clicked(1, 2, 3)
		if a := r.GetActions()[0]; a.GetDeliveries() != 1 || a.GetResentCount() != 0 {
			t.Errorf("%d deliveries, %d resends of an action that never stopped", a.GetDeliveries(), a.GetResentCount())
		}
	})
}

func TestCase_i_ADispatchThatDiedWithTheServerGoesOutAgainWithItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
			if m.GetDispatch() != nil {
				return linger
			}
			return pass
		})
		id := w.create(2)
		synctest.Wait() // the dispatch lingers on the way
		w.killServer()
		w.relay.cutAll()
		w.relay.listen()
		w.startServer()
		w.completed(id)
		w.clicked(1, 2)
		d := w.relay.dispatches()
		got := []reprisev1.ResendReason{d[0].GetDispatchMeta().GetResendReason(), d[1].GetDispatchMeta().GetResendReason()}
		want := []reprisev1.ResendReason{reprisev1.ResendReason_RESEND_REASON_UNSPECIFIED, reprisev1.ResendReason_RESEND_REASON_SERVER_RESTART}
		if !slices.Equal(got, want) || d[0].GetActionId() != d[1].GetActionId() {
			t.Errorf("deliveries of %s and %s for %v, want one action, %v", d[0].GetActionId(), d[1].GetActionId(), got, want)
		}
	})
}

func TestCase_i_APauseOutlivesTheServerThatSaidIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(3)
		<-held
		before := w.pause(id)
		w.killServer()
		goOn()
		w.startServer()
		time.Sleep(time.Minute)
		w.clicked(1)
		after := w.get(id)
		if after.GetState() != reprisev1.ReplayState_REPLAY_STATE_PAUSED || after.GetPause().GetPauseId() != before.GetPause().GetPauseId() || after.GetSettledCount() != 1 {
			t.Errorf("after the restart: %v, pause %s, %d settled", after.GetState(), after.GetPause().GetPauseId(), after.GetSettledCount())
		}
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2, 3)
	})
}

func TestCase_i_AServerThatStopsInOrderWaitsForTheActionInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, goOn := w.desktop.holdNext()
		id := w.create(3)
		<-held
		w.server.stop()
		time.Sleep(5 * time.Second)
		goOn()
		w.stopServer()
		w.clicked(1)
		w.startServer()
		r := w.completed(id)
		w.clicked(1, 2, 3)
		if a := r.GetActions()[0]; a.GetDeliveries() != 1 {
			t.Errorf("the step in flight was delivered %d times", a.GetDeliveries())
		}
	})
}
