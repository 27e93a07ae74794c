package cases

import (
	"testing"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// unattended queues a replay that nobody watches.
func (w *ward) unattended(actions ...*reprisev1.Action) string {
	w.t.Helper()
	res, err := w.replays.CreateReplay(w.ctx, &reprisev1.CreateReplayRequest{
		MachineId: machineID, Workflow: &reprisev1.Workflow{Name: "night", Actions: actions},
		Supervision: reprisev1.Supervision_SUPERVISION_UNATTENDED,
	})
	w.must(err)
	return res.GetReplay().GetReplayId()
}

func TestAnUnattendedReplayPassesAPauseForHumanAndPausesForAllElse(t *testing.T) {
	inWard(t, func(w *ward) {
		asks := humanStep("Sign here.")
		asks.Name = "ask again"
		checked(asks)
		id := w.unattended(clickStep(1), humanStep("Insert the card."), clickStep(2), asks, clickStep(3), clickStep(4, wantsTitleBefore))
		w.stays(w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, ""))
		w.clicked(1, 2)
		if got := w.happened(id, "pause_passed"); got != 1 {
			t.Errorf("%d events say that a pause was passed, want one", got)
		}
		w.desk.feel(mood{title: "Printer"})
		w.mustResume(id, "saved")
		w.stays(w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW, "-6"))
		w.cure()
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2, 3, 4)

		id = w.unattended(clickStep(1, checked))
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, "")
		w.mustResume(id, "saved", "note")
		w.completed(id)
	})
}

// happened counts a replay's events of one type.
func (w *ward) happened(id, kind string) (n int) {
	w.t.Helper()
	watch, err := w.replays.WatchEvents(w.ctx, &reprisev1.WatchEventsRequest{ReplayId: id, FromBeginning: true, UntilPresent: true})
	w.must(err)
	for {
		res, err := watch.Recv()
		if err != nil {
			return n
		}
		for _, ev := range res.GetEvents() {
			if ev.GetType() == kind {
				n++
			}
		}
	}
}

// The person at the machine goes on as an operator does: not past a required check.
func TestThePersonAtTheMachineGoesOnUnlessARequiredCheckIsOpen(t *testing.T) {
	inWard(t, func(w *ward) {
		id := w.createWith(humanStep("Look."), clickStep(1), clickStep(2, checked))
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, "")
		w.goesOn()
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, "")
		w.clicked(1)
		if len(r.GetPause().GetSafetyChecks()) != 2 {
			t.Fatalf("paused for %v", r.GetPause())
		}
		w.goesOn()
		w.stays(r)
		w.clicked(1)
		if got := w.log.lines("asked in vain"); len(got) != 1 {
			t.Errorf("the log says %q, want that the person asked in vain", got)
		}
		w.mustResume(id, "saved")
		w.completed(id)
		w.clicked(1, 2)
	})
}

// goesOn lets the person at the machine ask to go on. This agent has no button for
// it yet: the relay makes the request of the news that somebody locks the desktop,
// which the server does not hear.
func (w *ward) goesOn() {
	w.t.Helper()
	w.relay.onUp(firstTime(func(m *reprisev1.ConnectRequest) bool {
		if m.GetDesktopState() == nil {
			return false
		}
		m.Message = &reprisev1.ConnectRequest_PersonRequest{PersonRequest: &reprisev1.PersonRequest{
			Kind: reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_GO_ON,
		}}
		return true
	}, pass))
	w.desk.feel(mood{locked: true})
	time.Sleep(2 * time.Second)
	w.cure()
	time.Sleep(10 * time.Second)
}

// A person's own words are what is shown, also when they change their mind.
func TestAPauseSaysWhatThePersonSaid(t *testing.T) {
	inWard(t, func(w *ward) {
		held, goOn := w.desktop.holdNext()
		id := w.create(2)
		<-held
		for _, words := range []string{"the printer is out of paper", "wait for the backup"} {
			_, err := w.replays.PauseReplay(w.ctx, &reprisev1.PauseReplayRequest{ReplayId: id, Message: words})
			w.must(err)
		}
		goOn()
		r := w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_OPERATOR, "")
		if r.GetPause().GetMessage() != "wait for the backup" || r.GetPause().GetPausedBy() == "" {
			t.Errorf("the pause says %q, by %q", r.GetPause().GetMessage(), r.GetPause().GetPausedBy())
		}
		w.stays(r)
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}
