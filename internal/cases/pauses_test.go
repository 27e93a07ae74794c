package cases

import (
	"testing"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// trigger is one way in which a replay comes to a pause, and what a resume of it
// leads to.
type trigger struct {
	name   string
	change func(*setup)
	// play makes the replay pause, and returns its id.
	play   func(*ward) string
	reason reprisev1.PauseReason
	decide string // the action to decide on, after the replay's id; empty: none
	says   string // to a person
	// after takes the cause away, once the replay is resumed; nil: cure, before.
	after  func(*ward)
	acked  []string // checks that the resume confirms
	clicks []int    // what the desktop counted in the end
}

// triggers is the contract's section 8.1, row by row, but for
// server_action_failed. Those of "any other error" are the table of failures.
var triggers = []trigger{
	{name: "a pause for human", play: func(w *ward) string {
		return w.createWith(clickStep(1), humanStep("Insert the card."), clickStep(2))
	}, reason: reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, says: "Insert the card.", clicks: []int{1, 2}},
	{name: "an action with safety checks", play: func(w *ward) string {
		return w.createWith(clickStep(1), clickStep(2, checked), clickStep(3))
	}, reason: reprisev1.PauseReason_PAUSE_REASON_USER_REQUEST, says: "asks for a person", acked: []string{"saved"}, clicks: []int{1, 2, 3}},
	{name: "a report with a dialog of the system", play: func(w *ward) string {
		w.changing(func(r *reprisev1.Report) {
			r.Success, r.Completion = false, notStarted
			r.Error = &reprisev1.ActionError{Code: reprisev1.ErrorCode_ERROR_CODE_SYSTEM_DIALOG, Message: "SmartScreen asks"}
			r.SystemDialog = &reprisev1.SystemDialog{Category: "smartscreen", MatchedSignal: "window_class", Reason: "only a person may answer"}
		})
		return w.create(2)
	}, reason: reprisev1.PauseReason_PAUSE_REASON_SYSTEM_DIALOG, decide: "-1", says: "SmartScreen asks", clicks: []int{1, 1, 2}},
	{name: "a report with the wrong window", play: func(w *ward) string {
		w.desk.feel(mood{title: "Printer"})
		return w.createWith(clickStep(1), clickStep(2, wantsTitleBefore))
	}, reason: reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW, decide: "-2", says: "Another window", clicks: []int{1, 2}},
	{name: "a target that was not found by any retry", play: func(w *ward) string {
		w.desk.feel(mood{title: "Printer"})
		return w.createWith(clickStep(1), clickStep(2, inWindow), clickStep(3))
	}, reason: reprisev1.PauseReason_PAUSE_REASON_TARGET_NOT_FOUND, decide: "-2_retry3", says: "not on the screen", clicks: []int{1, 2, 3}},
	{name: "a give-up of a critical kind", play: func(w *ward) string {
		w.stuck()
		return w.createWith(patient(clickStep(1)), clickStep(2))
	}, reason: reprisev1.PauseReason_PAUSE_REASON_ORPHAN_MAX_RESENDS, decide: "-1", says: "did not answer", after: (*ward).cure, clicks: []int{1, 2}},
	{name: "two give-ups with no report between, the last of a critical kind", play: func(w *ward) string {
		w.stuck()
		return w.createWith(patient(scrollStep(1)), patient(clickStep(2)))
	}, reason: reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, decide: "-2", says: "no longer answers", after: (*ward).cure, clicks: []int{2}},
	{name: "two give-ups with no report between, of no critical kind", play: func(w *ward) string {
		w.stuck()
		return w.createWith(patient(scrollStep(1)), patient(scrollStep(2)), clickStep(3))
	}, reason: reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, says: "no longer answers", after: (*ward).cure, clicks: []int{3}},
	{name: "deliveries that are used up", change: func(with *setup) { with.server.MaxDeliveries = 4 }, play: func(w *ward) string {
		w.relay.onDown(func(m *reprisev1.ConnectResponse) fate {
			if m.GetDispatch() != nil {
				return drop
			}
			return pass
		})
		return w.create(2)
	}, reason: reprisev1.PauseReason_PAUSE_REASON_DELIVERY_FAILED, decide: "-1", says: "could not be delivered", clicks: []int{1, 2}},
	{name: "an agent that is away too long with an action in flight", play: func(w *ward) string {
		held, _ := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.relay.onUp(func(*reprisev1.ConnectRequest) fate { return drop })
		w.stopAgent()
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, "-1")
		w.cure()
		w.agent = w.start()
		return id
	}, reason: reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, decide: "-1", says: "is away", clicks: []int{1, 1, 2}},
	{name: "an agent that is away too long between two actions", play: func(w *ward) string {
		w.lockAfterTheFirst()
		id := w.create(2)
		time.Sleep(10 * time.Second)
		w.stopAgent()
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, "")
		w.agent = w.start()
		return id
	}, reason: reprisev1.PauseReason_PAUSE_REASON_DEAD_CLIENT, says: "is away", clicks: []int{1, 2}},
	{name: "three actions in a row without effect", play: func(w *ward) string {
		w.swallowing(true)
		return w.create(4)
	}, reason: reprisev1.PauseReason_PAUSE_REASON_INPUT_SWALLOWED, decide: "-1", says: "the viewer looks frozen, restart it", clicks: []int{1, 2, 3, 1, 2, 3, 4}},
	{name: "an agent that crashed in the middle of an action", play: func(w *ward) string {
		held, _ := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.crash()
		w.agent = w.start()
		return id
	}, reason: reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN, decide: "-1", says: "Look at the screen", clicks: []int{1, 1, 2}},
	{name: "an agent that lost its memory", play: func(w *ward) string {
		held, _ := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.crash()
		w.forget()
		w.agent = w.start()
		return id
	}, reason: reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN, decide: "-1", says: "lost its memory", clicks: []int{1, 1, 2}},
	{name: "a success that needs a person", play: func(w *ward) string {
		w.changing(func(r *reprisev1.Report) { r.NeedsHuman = true })
		return w.create(2)
	}, reason: reprisev1.PauseReason_PAUSE_REASON_NEEDS_HUMAN, says: "asks for a person", clicks: []int{1, 2}},
	{name: "a failure that needs a person spends no retry", play: func(w *ward) string {
		w.changing(func(r *reprisev1.Report) {
			r.Success, r.NeedsHuman, r.Completion = false, true, notStarted
			r.Error = &reprisev1.ActionError{Code: reprisev1.ErrorCode_ERROR_CODE_TARGET_NOT_FOUND, Message: "two of them"}
		})
		return w.create(2)
	}, reason: reprisev1.PauseReason_PAUSE_REASON_NEEDS_HUMAN, decide: "-1", says: "two of them", clicks: []int{1, 1, 2}},
	{name: "an operator", play: func(w *ward) string {
		held, goOn := w.desktop.holdNext()
		id := w.create(2)
		<-held
		w.pause(id)
		goOn()
		return id
	}, reason: reprisev1.PauseReason_PAUSE_REASON_OPERATOR, says: "Paused by a person", clicks: []int{1, 2}},
	{name: "the person at the machine who presses stop", play: func(w *ward) string {
		return w.personAsks(reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_STOP)
	}, reason: reprisev1.PauseReason_PAUSE_REASON_OPERATOR, says: "Paused by a person", clicks: []int{1, 2}},
	{name: "the person at the machine who takes over", play: func(w *ward) string {
		return w.personAsks(reprisev1.PersonRequestKind_PERSON_REQUEST_KIND_TAKE_OVER)
	}, reason: reprisev1.PauseReason_PAUSE_REASON_OPERATOR, says: "Paused by a person", clicks: []int{1, 2}},
	{name: "the person at the machine who asks for what no server knows yet", play: func(w *ward) string {
		return w.personAsks(reprisev1.PersonRequestKind(99))
	}, reason: reprisev1.PauseReason_PAUSE_REASON_OPERATOR, says: "Paused by a person", clicks: []int{1, 2}},
}

// personAsks lets the person at the machine ask for something while the first of
// two clicks runs. This agent has no button for it yet: the relay makes the request
// of the progress that the agent sends.
func (w *ward) personAsks(what reprisev1.PersonRequestKind) string {
	w.t.Helper()
	asked := false
	w.relay.onUp(func(m *reprisev1.ConnectRequest) fate {
		if !asked && m.GetProgress().GetState() == reprisev1.ProgressState_PROGRESS_STATE_EXECUTING {
			asked = true
			m.Message = &reprisev1.ConnectRequest_PersonRequest{PersonRequest: &reprisev1.PersonRequest{Kind: what}}
		}
		return pass
	})
	held, goOn := w.desktop.holdNext()
	id := w.create(2)
	<-held
	time.Sleep(time.Second)
	if r := w.get(id); !r.GetPausing() || r.GetPause().GetPausedBy() != "person at "+machineID {
		w.t.Errorf("pausing %v, by %q", r.GetPausing(), r.GetPause().GetPausedBy())
	}
	goOn()
	return id
}

func TestWhatPausesAReplay(t *testing.T) {
	for _, c := range triggers {
		t.Run(c.name, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*setup) {}
			}
			inWard(t, func(w *ward) {
				id := c.play(w)
				r := w.awaitPause(id, c.reason, c.decide)
				w.says(r, c.says)
				w.stays(r)
				if c.after == nil {
					w.cure()
				}
				_, err := w.resumeWith(&reprisev1.ResumeReplayRequest{ReplayId: id, AcknowledgedCheckIds: c.acked})
				w.must(err)
				if c.after != nil {
					time.Sleep(time.Second)
					c.after(w)
				}
				w.completed(id)
				w.clicked(c.clicks...)
			}, change)
		})
	}
}

// Every pause reason of the schema is reached by the table of triggers, by that of
// failures, or by a test of its own.
func TestEveryPauseReasonOfTheSchemaHasATest(t *testing.T) {
	reached := map[reprisev1.PauseReason]bool{
		reprisev1.PauseReason_PAUSE_REASON_UNSPECIFIED:          true, // no pause
		reprisev1.PauseReason_PAUSE_REASON_SERVER_ACTION_FAILED: true, // comes with server-side actions
	}
	own := map[reprisev1.PauseReason]func(*testing.T){
		reprisev1.PauseReason_PAUSE_REASON_INTERRUPTED: TestAnActionThatTheAgentsEndInterruptsGoesToAPerson,
	}
	for reason, test := range own {
		reached[reason] = test != nil
	}
	for _, c := range triggers {
		reached[c.reason] = true
	}
	for _, f := range failures {
		reached[f.pause] = true
	}
	for n := range reprisev1.PauseReason_name {
		if reason := reprisev1.PauseReason(n); !reached[reason] {
			t.Errorf("no test pauses a replay for %v", reason)
		}
	}
}
