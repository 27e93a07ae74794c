package cases

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/agent/driver"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// appearsAfter shows a window once so many reports have come to the relay.
func (s *station) appearsAfter(reports int, title string) {
	s.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
		if m.GetReport() != nil {
			if reports--; reports == 0 {
				s.desktop.show(driver.Window{Title: title, Bounds: screen})
			}
		}
		return pass
	})
}

func TestCase_e_AFailedActionIsTriedAgainBeforeWhatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.appearsAfter(1, "Late")
		r := w.completed(w.createWith(clickIn("Late"), clickAt(2)))
		if got, want := w.steps(), []string{"1", "1_retry1", "2"}; !slices.Equal(got, want) {
			t.Errorf("dispatched %v, want %v", got, want)
		}
		if a := decision(t, r, "1_retry1"); a.GetState() != reprisev1.ActionState_ACTION_STATE_ACKED || a.GetRetryCount() != 1 || a.GetResentCount() != 0 {
			t.Errorf("%v after %d retries and %d resends; want it done after 1 and 0", a.GetState(), a.GetRetryCount(), a.GetResentCount())
		}
		if n := len(w.desktop.clicks()); n != 2 {
			t.Errorf("%d clicks, want one per step", n)
		}
	})
}

func TestCase_e_ALostMessageSpendsNoRetryAndARetryNoResend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.appearsAfter(2, "Late")
		w.relay.onDown(firstTime(func(m *reprisev1.ConnectResponse) bool {
			id := m.GetDispatch().GetActionId()
			return ofStep(id, 1) && id[len(id)-1] == '1' && id[len(id)-2] == 'y' // _retry1
		}, drop))
		r := w.completed(w.createWith(clickIn("Late"), clickAt(2)))
		if got, want := w.steps(), []string{"1", "1_retry1", "1_retry1", "1_retry2", "2"}; !slices.Equal(got, want) {
			t.Errorf("dispatched %v, want %v", got, want)
		}
		for _, a := range r.GetActions() {
			if a.GetResentCount() != 0 {
				t.Errorf("%s has spent %d resends", a.GetActionId(), a.GetResentCount())
			}
		}
	})
}

func TestCase_e_UsedUpRetriesAskAPersonAndAResumeHasThemAllAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.createWith(clickIn("Never"), clickAt(2))
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
		if got, want := w.steps(), []string{"1", "1_retry1", "1_retry2", "1_retry3"}; !slices.Equal(got, want) {
			t.Errorf("dispatched %v, want %v", got, want)
		}
		if p := r.GetPause(); p.GetReason() != reprisev1.PauseReason_PAUSE_REASON_TARGET_NOT_FOUND || p.GetActionToDecide() != id+"-1_retry3" {
			t.Errorf("paused with %v for %s", p.GetReason(), p.GetActionToDecide())
		}
		w.appearsAfter(1, "Never")
		w.resume(id)
		w.completed(id)
		if got, want := w.steps()[4:], []string{"1_resume", "1_resume_retry1", "2"}; !slices.Equal(got, want) {
			t.Errorf("after the resume %v, want %v", got, want)
		}
	})
}
