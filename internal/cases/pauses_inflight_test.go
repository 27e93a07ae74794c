package cases

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/reprise-rpa/reprise/agent/driver"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// A give-up pauses for the kinds that others depend on; for the rest the replay
// goes on without it.
func TestAGiveUpPausesByItsKind(t *testing.T) {
	form := &reprisev1.WindowSelector{Title: "Form"}
	window := &reprisev1.Target{WindowTitle: "Form"}
	point := &reprisev1.Target{Point: &reprisev1.Point{X: 0.5, Y: 0.5}}
	for name, c := range map[string]struct {
		action *reprisev1.Action
		pauses bool
	}{
		"click":           {clickStep(1), true},
		"type":            {typeSecret(), true},
		"paste":           {&reprisev1.Action{Kind: &reprisev1.Action_Paste{Paste: &reprisev1.Paste{Text: "x"}}}, true},
		"key combo":       {&reprisev1.Action{Kind: &reprisev1.Action_KeyCombo{KeyCombo: &reprisev1.KeyCombo{Keys: []string{"ctrl", "s"}}}}, true},
		"drag":            {&reprisev1.Action{Target: point, Kind: &reprisev1.Action_Drag{Drag: &reprisev1.Drag{To: point}}}, true},
		"focus window":    {focusStep(), true},
		"wait for target": {&reprisev1.Action{Target: window, Kind: &reprisev1.Action_WaitForTarget{WaitForTarget: &reprisev1.WaitForTarget{}}}, true},
		"wait for window": {&reprisev1.Action{Kind: &reprisev1.Action_WaitForWindow{WaitForWindow: &reprisev1.WaitForWindow{Window: form}}}, true},
		"wait":            {&reprisev1.Action{Kind: &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(1)}}}, false},
		"scroll":          {scrollStep(1), false},
		"move":            {&reprisev1.Action{Target: point, Kind: &reprisev1.Action_Move{Move: &reprisev1.Move{}}}, false},
		"screenshot":      {&reprisev1.Action{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inWard(t, func(w *ward) {
				w.stuck()
				id := w.createWith(patient(c.action), clickStep(9))
				if c.pauses {
					w.stays(w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS, "-1"))
					w.skip(id)
					w.cure()
					w.completed(id)
					return
				}
				time.Sleep(100 * time.Second)
				if r := w.get(id); r.GetState() != reprisev1.ReplayState_REPLAY_STATE_RUNNING || r.GetSettledCount() != 1 {
					t.Fatalf("the replay is %v with %d settled; want it to go on without the action", r.GetState(), r.GetSettledCount())
				}
				w.cure()
				w.completed(id)
				w.actions(id, map[string]reprisev1.ActionState{"-1": abandoned, "-2": acked})
			})
		})
	}
}

// gaveUp is a ward whose replay of two clicks is paused since the agent did not
// answer for the first; the agent still has it.
func gaveUp(t *testing.T, first *reprisev1.Action, then func(w *ward, id string)) {
	t.Helper()
	inWard(t, func(w *ward) {
		w.stuck()
		id := w.createWith(patient(first), clickStep(2))
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS, "-1")
		w.actions(id, map[string]reprisev1.ActionState{"-1": abandoned, "-2": queued})
		if a := r.GetActions()[0]; a.GetResentCount() != 2 || a.GetDeliveries() != 3 || a.GetRetryCount() != 0 {
			t.Errorf("%d resends, %d deliveries, %d retries; want 2, 3, none", a.GetResentCount(), a.GetDeliveries(), a.GetRetryCount())
		}
		w.stays(r)
		then(w, id)
	})
}

// The step is settled, the pause stays and says so, and resume goes on with what
// follows.
func TestALateSuccessSettlesTheStepThatTheReplayIsPausedFor(t *testing.T) {
	gaveUp(t, clickStep(1), func(w *ward, id string) {
		before := w.get(id).GetPause()
		w.cure()
		time.Sleep(10 * time.Second)
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS, "")
		w.says(r, before.GetMessage(), "has been reported since", "goes on with what follows")
		if r.GetPause().GetPauseId() != before.GetPauseId() {
			t.Errorf("it is another pause: %s, was %s", r.GetPause().GetPauseId(), before.GetPauseId())
		}
		w.actions(id, map[string]reprisev1.ActionState{"-1": acked, "-2": queued})
		_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id, Decision: reprisev1.ResumeDecision_RESUME_DECISION_SKIP})
		w.refused(err, codes.FailedPrecondition, "NO_ACTION_TO_DECIDE")
		w.clicked(1)
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}

func TestALateFailureThatMayBeRetriedIsWhatAResumeGoesOnWith(t *testing.T) {
	gaveUp(t, clickStep(1), func(w *ward, id string) {
		w.cure()
		w.desk.feel(refusing(0, errHiccup))
		time.Sleep(10 * time.Second)
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS, "")
		w.says(r, "has been reported since")
		w.actions(id, map[string]reprisev1.ActionState{"-1": superseded, "-1_retry1": queued, "-2": queued})
		w.rests()
		w.cure()
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}

func TestALateFailureThatNeedsAPersonIsWhatThePauseIsAboutFromThenOn(t *testing.T) {
	gaveUp(t, clickStep(1), func(w *ward, id string) {
		w.cure()
		w.desk.feel(refusing(0, driver.ErrBlocked))
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_INPUT_BLOCKED, "-1")
		w.stays(r)
		w.cure()
		w.resume(id)
		w.completed(id)
		w.actions(id, map[string]reprisev1.ActionState{"-1": superseded, "-1_resume": acked, "-2": acked})
		w.clicked(1, 2)
	})
}

// A resume while the agent still has the action: its new id names the old one, and
// the agent answers it with what became of that.
func TestAResumedActionWhoseOlderIDRunsAfterAllHasOneEffect(t *testing.T) {
	gaveUp(t, clickStep(1), func(w *ward, id string) {
		w.resume(id)
		time.Sleep(time.Second)
		w.cure()
		w.completed(id)
		w.clicked(1, 2)
		w.actions(id, map[string]reprisev1.ActionState{"-1": superseded, "-1_resume": acked, "-2": acked})
	})
}

// An agent that is away too long while it goes on with its action: that action is
// the one to decide on, until the agent is back and says that it is executing it.
func TestAnAgentThatComesBackExecutingTakesItsActionOutOfThePause(t *testing.T) {
	inWard(t, func(w *ward) {
		held, goOn := w.desktop.holdNext()
		id := w.createWith(patient(clickStep(1)), clickStep(2))
		<-held
		w.relay.onUp(func(*reprisev1.ConnectRequest) fate { return cut })
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, "-1")
		if got := w.machine().GetActionInFlight(); got != "" {
			t.Errorf("%s is still in flight", got)
		}
		w.cure()
		time.Sleep(time.Minute)
		r := w.get(id)
		if !r.GetPausing() || r.GetPause().GetActionToDecide() != "" || r.GetPause().GetReason() != reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT {
			t.Errorf("pausing %v, paused for %v, to decide on %q; want it to wait for the report", r.GetPausing(), r.GetPause().GetReason(), r.GetPause().GetActionToDecide())
		}
		goOn()
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, "")
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}

// What a person resumes may have begun in a process that died meanwhile: nobody
// knows, so nothing is sent before a person has looked.
func TestAResumeOfWhatADeadProcessHadBegunAsksAPersonOnceMore(t *testing.T) {
	inWard(t, func(w *ward) {
		held, _ := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.crash()
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, "-1")
		w.resume(id)
		w.agent = w.start()
		w.stays(w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN, "-1_resume"))
		w.clicked(1)
		w.skip(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}

// pausingWith pauses a replay while its first click runs, which then ends with err.
func pausingWith(t *testing.T, sent int, err error, then func(w *ward, id string)) {
	t.Helper()
	inWard(t, func(w *ward) {
		held, goOn := make(chan struct{}), make(chan struct{})
		w.desk.feel(mood{refuse: func(context.Context, driver.Input) error {
			close(held)
			<-goOn
			return &driver.InputError{Sent: sent, Err: err}
		}})
		id := w.create(2)
		<-held
		if r := w.pause(id); !r.GetPausing() {
			t.Error("the replay is not pausing while its action runs")
		}
		if got := w.machine().GetActionInFlight(); got != id+"-1" {
			t.Errorf("in flight is %q; want the entry to stay", got)
		}
		for _, special := range []*reprisev1.ResumeReplayRequest{
			{Decision: reprisev1.ResumeDecision_RESUME_DECISION_SKIP}, {FromAction: "click 2"}, {Position: &reprisev1.Point{X: 0.1, Y: 0.1}},
		} {
			special.ReplayId = id
			_, err := w.resumeWith(special)
			w.refused(err, codes.FailedPrecondition, "ACTION_IN_FLIGHT")
		}
		close(goOn)
		then(w, id)
	})
}

func TestAFailureWhilePausingThatMayBeRetriedIsWhatFollows(t *testing.T) {
	pausingWith(t, 0, errHiccup, func(w *ward, id string) {
		w.stays(w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_OPERATOR, ""))
		w.actions(id, map[string]reprisev1.ActionState{"-1": superseded, "-1_retry1": queued, "-2": queued})
		w.cure()
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}

func TestAFailureWhilePausingThatNeedsAPersonIsTheOneToDecideOn(t *testing.T) {
	pausingWith(t, 1, errHiccup, func(w *ward, id string) {
		w.stays(w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_INTERNAL, "-1"))
		w.cure()
		w.resume(id)
		w.completed(id)
		w.actions(id, map[string]reprisev1.ActionState{"-1": superseded, "-1_resume": acked, "-2": acked})
		w.clicked(1, 2)
	})
}

// A resume before the report came is as if the replay had never been paused.
func TestAResumeWhilePausingGoesOnWithTheActionInFlight(t *testing.T) {
	inWard(t, func(w *ward) {
		held, goOn := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.pause(id)
		w.resume(id)
		if r := w.get(id); r.GetState() != reprisev1.ReplayState_REPLAY_STATE_RUNNING || r.GetPausing() {
			t.Errorf("the replay is %v, pausing %v", r.GetState(), r.GetPausing())
		}
		goOn()
		w.completed(id)
		w.clicked(1, 2)
		w.actions(id, map[string]reprisev1.ActionState{"-1": acked, "-2": acked})
	})
}

// The first of the actions without effect may have been done by hand; the others
// run again all the same.
func TestASkipOfSwallowedInputConcernsTheFirstActionAlone(t *testing.T) {
	inWard(t, func(w *ward) {
		w.swallowing(true)
		id := w.create(4)
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_INPUT_SWALLOWED, "-1")
		w.cure()
		w.skip(id)
		w.completed(id)
		w.clicked(1, 2, 3, 2, 3, 4)
	})
}
