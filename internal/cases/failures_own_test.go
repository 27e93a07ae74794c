package cases

import (
	"slices"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// A desktop that is locked between two actions: the server learns it from the
// answer to the second one, and sends nothing more until it is told otherwise.
func TestADesktopThatIsAwayCostsNothingAndWorkGoesOnByItself(t *testing.T) {
	inWard(t, func(w *ward) {
		w.lockAfterTheFirst()
		id := w.create(3)
		time.Sleep(10 * time.Minute)
		sent := len(w.relay.dispatches())
		time.Sleep(10 * time.Minute)
		if now := len(w.relay.dispatches()); now != sent || sent != 2 {
			t.Errorf("%d actions were dispatched, later %d; want the second one tried once", sent, now)
		}
		r := w.get(id)
		if r.GetState() != reprisev1.ReplayState_REPLAY_STATE_RUNNING || r.GetSettledCount() != 1 {
			t.Errorf("the replay is %v, %d settled; want it running, with the first", r.GetState(), r.GetSettledCount())
		}
		if got := w.machine().GetDesktopState(); got.GetKind() != reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_LOCKED || got.GetDetail() == "" {
			t.Errorf("the machine shows %v, want why nothing moves", got)
		}
		if rep := w.relay.reports()[1]; rep.GetError().GetCode() != reprisev1.ErrorCode_ERROR_CODE_DESKTOP_UNAVAILABLE || rep.GetCompletion() != notStarted {
			t.Errorf("the agent reported %v, %v", rep.GetError(), rep.GetCompletion())
		}
		w.cure()
		w.spentNothing(w.completed(id))
		w.clicked(1, 2, 3)
		d := w.relay.dispatches()
		if got := d[2].GetDispatchMeta().GetResendReason(); d[2].GetActionId() != id+"-2" || got != reprisev1.ResendReason_RESEND_REASON_DESKTOP_UNAVAILABLE {
			t.Errorf("%s was dispatched next, for %v", d[2].GetActionId(), got)
		}
	})
}

// A desktop that looks usable and takes nothing: each answer says so, and the
// limit of deliveries is not for these.
func TestADesktopThatRefusesAgainAndAgainUsesUpNoDeliveries(t *testing.T) {
	inWard(t, func(w *ward) {
		w.desk.feel(refusing(0, driver.ErrUnavailable))
		id := w.create(2)
		time.Sleep(time.Minute)
		sent := w.relay.dispatches()
		if len(sent) < 10 {
			t.Fatalf("%d deliveries in a minute; want it tried again and again", len(sent))
		}
		attempts := map[string]bool{}
		for _, d := range sent {
			attempts[d.GetAttemptId()] = d.GetActionId() == id+"-1"
		}
		if len(attempts) != len(sent) {
			t.Errorf("%d attempts in %d deliveries", len(attempts), len(sent))
		}
		// One that is lost on the way is looked at against the limit.
		w.relay.onDown(firstTime(isDispatch, drop))
		w.desk.feel(mood{})
		w.spentNothing(w.completed(id))
		w.clicked(1, 2)
	}, func(with *setup) { with.server.MaxDeliveries = 3 })
}

// spentNothing checks that each step has one decision, and no resend or retry.
func (w *ward) spentNothing(r *reprisev1.Replay) {
	w.t.Helper()
	if len(r.GetActions()) != int(r.GetActionCount()) {
		w.t.Errorf("%d decisions for %d steps", len(r.GetActions()), r.GetActionCount())
	}
	for _, a := range r.GetActions() {
		if a.GetResentCount() != 0 || a.GetRetryCount() != 0 {
			w.t.Errorf("%s spent %d resends and %d retries", a.GetActionId(), a.GetResentCount(), a.GetRetryCount())
		}
	}
}

func TestAnActionThatTheAgentsEndInterruptsGoesToAPerson(t *testing.T) {
	for name, resume := range map[string]bool{"and is resumed": true, "and is skipped": false} {
		t.Run(name, func(t *testing.T) {
			inWard(t, func(w *ward) {
				held, _ := w.desktop.holdNext()
				id := w.create(2)
				<-held
				w.stopAgent() // in order: the action is stopped at its next safe point
				r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_INTERRUPTED, "-1")
				w.says(r, "stopped in the middle")
				if rep := w.relay.reports()[0]; rep.GetError().GetCode() != reprisev1.ErrorCode_ERROR_CODE_INTERRUPTED || rep.GetCompletion() != unknown {
					t.Errorf("the agent reported %v, %v", rep.GetError(), rep.GetCompletion())
				}
				w.agent = w.start()
				w.stays(r)
				if resume {
					w.resume(id)
					w.completed(id)
					w.clicked(1, 1, 2)
					return
				}
				w.skip(id)
				w.completed(id)
				w.clicked(1, 2)
			})
		})
	}
}

// What is safe to run twice needs no person: the next process is asked again.
func TestAnActionThatIsSafeToRunTwiceGoesOnAfterTheAgentsEnd(t *testing.T) {
	inWard(t, func(w *ward) {
		held, _ := w.desktop.holdNext()
		id := w.createWith(clickStep(1, safeTwice), clickStep(2))
		<-held
		w.stopAgent()
		w.agent = w.start()
		w.spentNothing(w.completed(id))
		w.clicked(1, 1, 2)
	})
}

// The pause is the cause, whatever stopped the action in the middle.
func TestAnInterruptionWhilePausingIsAsThePauseSays(t *testing.T) {
	inWard(t, func(w *ward) {
		held, _ := w.desktop.holdNext()
		id := w.create(2)
		<-held
		pause := w.pause(id).GetPause()
		w.stopAgent()
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_OPERATOR, "-1")
		if got := r.GetPause(); got.GetPauseId() != pause.GetPauseId() || got.GetMessage() != pause.GetMessage() {
			t.Errorf("the pause is %v, was %v", got, pause)
		}
		w.agent = w.start()
		w.stays(r)
		w.resume(id)
		w.completed(id)
		w.clicked(1, 1, 2)
		w.actions(id, map[string]reprisev1.ActionState{"-1": superseded, "-1_resume": acked, "-2": acked})
	})
}

// Nobody decides on what a cancel interrupted.
func TestAnInterruptionByACancelIsAsTheCancelSays(t *testing.T) {
	inWard(t, func(w *ward) {
		held, _ := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.cancel(id)
		time.Sleep(time.Minute)
		r := w.get(id)
		if r.GetState() != reprisev1.ReplayState_REPLAY_STATE_CANCELLED || r.GetPause() != nil {
			t.Errorf("the replay is %v, paused for %v", r.GetState(), r.GetPause().GetReason())
		}
		w.actions(id, map[string]reprisev1.ActionState{"-1": cancelled, "-2": cancelled})
		w.clicked(1)
	})
}

func TestAWarningOfANewerAgentIsKeptAndRefusesNothing(t *testing.T) {
	const warning = reprisev1.Warning(999)
	inWard(t, func(w *ward) {
		w.changing(func(r *reprisev1.Report) { r.Warnings = append(r.Warnings, warning) })
		r := w.completed(w.create(2))
		for _, a := range r.GetActions() {
			if a.GetState() != acked || !slices.Contains(a.GetReport().GetWarnings(), warning) {
				t.Errorf("%s is %v with the warnings %v", a.GetActionId(), a.GetState(), a.GetReport().GetWarnings())
			}
		}
		w.clicked(1, 2)
	})
}
