package cases

import (
	"testing"

	"google.golang.org/grpc/codes"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Nothing is confirmed unless a person names exactly what is pending, and each
// gate asks for its own.
func TestAResumeIsRefusedUntilEveryRequiredCheckOfThisPauseIsConfirmed(t *testing.T) {
	inWard(t, func(w *ward) {
		paid := func(a *reprisev1.Action) {
			a.SafetyChecks = []*reprisev1.SafetyCheck{{Id: "paid", Label: "Is it paid?", Required: true}}
		}
		id := w.createWith(clickStep(1), clickStep(2, checked), clickStep(3, paid))
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, "")
		if got := r.GetPause().GetSafetyChecks(); len(got) != 2 || got[0].GetId() != "saved" || !got[0].GetRequired() || got[1].GetRequired() ||
			got[0].GetSource() != reprisev1.SafetyCheckSource_SAFETY_CHECK_SOURCE_WORKFLOW {
			t.Errorf("the pause asks for %v", got)
		}
		for _, c := range []struct {
			ids  []string
			says []string
		}{
			{nil, []string{"not acknowledged: saved"}},
			{[]string{"note"}, []string{"not acknowledged: saved"}},
			{[]string{"paid"}, []string{"not acknowledged: saved", "no such safety checks are pending: paid"}},
			{[]string{"saved", "paid"}, []string{"no such safety checks are pending: paid"}},
		} {
			_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id, AcknowledgedCheckIds: c.ids})
			w.refused(err, codes.FailedPrecondition, "SAFETY_CHECKS", c.says...)
		}
		w.stays(r)
		w.clicked(1)
		w.mustResume(id, "saved")
		r = w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, "")
		_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id, AcknowledgedCheckIds: []string{"saved"}})
		w.refused(err, codes.FailedPrecondition, "SAFETY_CHECKS", "not acknowledged: paid", "no such safety checks are pending: saved")
		w.stays(r)
		w.clicked(1, 2)
		w.mustResume(id, "paid")
		w.completed(id)
		w.clicked(1, 2, 3)
	})
}

func (w *ward) mustResume(id string, checks ...string) {
	w.t.Helper()
	_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id, AcknowledgedCheckIds: checks})
	w.must(err)
}

// A person may show where to act: that counts for the resumed action and for its
// retries, and for nothing else.
func TestACorrectionIsWhereTheResumedActionAndItsRetriesGo(t *testing.T) {
	inWard(t, func(w *ward) {
		w.desk.feel(mood{title: "Printer"})
		id := w.createWith(clickStep(1, inWindow), clickStep(2))
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_TARGET_NOT_FOUND, "-1_retry3")
		w.desk.feel(refusing(0, errHiccup))
		_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id, Position: &reprisev1.Point{X: place(7), Y: 0.5}})
		w.must(err)
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_INTERNAL, "-1_resume_retry3")
		for _, a := range r.GetActions()[4:8] {
			if got := a.GetReport().GetResolutionMethod(); got != "correction" {
				t.Errorf("%s found its place by %q", a.GetActionId(), got)
			}
		}
		w.desk.feel(mood{title: "Printer"})
		_, err = w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id, Position: &reprisev1.Point{X: place(8), Y: 0.5}})
		w.must(err)
		w.completed(id)
		w.clicked(8, 2)
	})
}

func TestAResumeFromAnActionRunsAgainOrPassesOverWhatIsBetween(t *testing.T) {
	pausedAtThird := func(w *ward) string {
		w.desk.feel(mood{title: "Printer"})
		id := w.createWith(clickStep(1), clickStep(2), clickStep(3, wantsTitleBefore), clickStep(4), clickStep(5))
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW, "-3")
		w.cure()
		return id
	}
	for name, c := range map[string]struct {
		from   func(id string) string
		left   int32
		clicks []int
		third  reprisev1.ActionState
	}{
		"an earlier one, by its own name": {func(string) string { return "click 2" }, 4, []int{1, 2, 2, 3, 4, 5}, superseded},
		"the one to decide on, by its id": {func(id string) string { return id + "-3" }, 3, []int{1, 2, 3, 4, 5}, superseded},
		"a later one":                     {func(id string) string { return id + "-5" }, 1, []int{1, 2, 5}, skipped},
	} {
		t.Run(name, func(t *testing.T) {
			inWard(t, func(w *ward) {
				id := pausedAtThird(w)
				res, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id, FromAction: c.from(id)})
				w.must(err)
				if res.GetRemainingActions() != c.left || res.GetSessionId() != w.machine().GetSessionId() || res.GetSessionId() == "" {
					t.Errorf("%d actions remain on session %q; want %d", res.GetRemainingActions(), res.GetSessionId(), c.left)
				}
				w.completed(id)
				w.clicked(c.clicks...)
				if got := w.ids(id)["-3"]; got != c.third {
					t.Errorf("the third action is %v, want %v", got, c.third)
				}
			})
		})
	}
}

func TestAResumeThatContradictsItselfIsRefused(t *testing.T) {
	inWard(t, func(w *ward) {
		w.desk.feel(mood{title: "Printer"})
		id := w.createWith(clickStep(1, wantsTitleBefore), clickStep(2))
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW, "-1")
		skip, at := reprisev1.ResumeDecision_RESUME_DECISION_SKIP, &reprisev1.Point{X: 0.5, Y: 0.5}
		for _, c := range []struct {
			req    *reprisev1.ResumeReplayRequest
			reason string
		}{
			{&reprisev1.ResumeReplayRequest{Decision: skip, Position: at}, "OPTIONS_EXCLUSIVE"},
			{&reprisev1.ResumeReplayRequest{Decision: skip, FromAction: "click 2"}, "OPTIONS_EXCLUSIVE"},
			{&reprisev1.ResumeReplayRequest{Position: at, FromAction: "click 2"}, "OPTIONS_EXCLUSIVE"},
			{&reprisev1.ResumeReplayRequest{FromAction: "click 3"}, "ACTION_NOT_FOUND"},
		} {
			c.req.ReplayId = id
			_, err := w.resumeWith(c.req)
			w.refused(err, codes.InvalidArgument, c.reason)
		}
		w.stays(r)
		w.clicked()
	})
}

func TestOnlyAPausedReplayIsResumed(t *testing.T) {
	inWard(t, func(w *ward) {
		held, goOn := w.desktop.holdNext()
		running := w.create(1)
		<-held
		waiting := w.create(1)
		for id, state := range map[string]string{running: "RUNNING", waiting: "QUEUED"} {
			_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id})
			w.refused(err, codes.FailedPrecondition, "REPLAY_NOT_PAUSED", "not paused", state)
		}
		goOn()
		w.completed(waiting)
		_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: waiting})
		w.refused(err, codes.FailedPrecondition, "REPLAY_NOT_PAUSED", "COMPLETED")
		w.clicked(1, 1)
	})
}

func TestOfTwoResumesAtOnceOneWinsAndTheOtherIsToldThatItRuns(t *testing.T) {
	inWard(t, func(w *ward) {
		id := w.createWith(humanStep("Look."), clickStep(1), clickStep(2))
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, "")
		_, goOn := w.desktop.holdNext() // the replay still runs when the slower one is answered
		const people = 8
		answers := make(chan error, people)
		for range people {
			go func() {
				_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id})
				answers <- err
			}()
		}
		won := 0
		for range people {
			if err := <-answers; err != nil {
				w.refused(err, codes.FailedPrecondition, "REPLAY_NOT_PAUSED", "it is RUNNING")
				continue
			}
			won++
		}
		if won != 1 {
			t.Errorf("%d resumes won, want one", won)
		}
		goOn()
		w.completed(id)
		w.clicked(1, 2)
		if got := w.happened(id, "replay_resumed"); got != 1 {
			t.Errorf("%d events say that it was resumed, want one", got)
		}
	})
}

// The pause is over at once; the work waits for the agent.
func TestAResumeWhileTheAgentIsAwayCountsWhenItIsBack(t *testing.T) {
	inWard(t, func(w *ward) {
		w.stopAgent()
		id := w.create(2)
		w.pause(id)
		res, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id})
		w.must(err)
		if res.GetSessionId() != "" || res.GetRemainingActions() != 2 {
			t.Errorf("session %q, %d remain; want no session and both actions", res.GetSessionId(), res.GetRemainingActions())
		}
		w.agent = w.start()
		w.completed(id)
		w.clicked(1, 2)
	})
}
