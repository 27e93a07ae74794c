package cases

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/reprise-rpa/reprise/agent/driver"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// failure is one way in which an action fails, and what that leads to.
type failure struct {
	name       string
	action     *reprisev1.Action
	fails      func(*ward) // until it is cured
	code       reprisev1.ErrorCode
	completion reprisev1.Completion
	retries    int // that come before the pause; the budget is 3
	pause      reprisev1.PauseReason
	says       string // to a person, of what happened
}

// The completions, in short.
const (
	notStarted = reprisev1.Completion_COMPLETION_NOT_STARTED
	completed  = reprisev1.Completion_COMPLETION_COMPLETED
	unknown    = reprisev1.Completion_COMPLETION_UNKNOWN
)

var errHiccup = errors.New("a hiccup")

// The ways to change a click for the table below.
func wantsTitleBefore(a *reprisev1.Action) { a.ExpectedWindowBefore = "Form" }
func wantsTitleAfter(a *reprisev1.Action)  { a.ExpectedWindowTitle = "Form" }
func inWindow(a *reprisev1.Action)         { a.Target.WindowTitle = "Form" }
func quick(a *reprisev1.Action)            { a.Timeout = durationpb.New(2 * time.Second) }
func safeTwice(a *reprisev1.Action)        { a.GetClick().ActivatesTab = true }
func mayRetry(a *reprisev1.Action)         { a.RetryPolicy = &reprisev1.RetryPolicy{RetryExecuted: true} }
func mustShow(a *reprisev1.Action) {
	a.ExpectedEffect = reprisev1.ExpectedEffect_EXPECTED_EFFECT_REQUIRED
}

func typeSecret() *reprisev1.Action {
	return &reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Secret{Secret: "door"}}}}
}

func clearAndType() *reprisev1.Action {
	return &reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: "x"}, ClearFirst: true}}}
}

// feeling is a fault of the desktop.
func feeling(m mood) func(*ward) { return func(w *ward) { w.desk.feel(m) } }

// relayed is a fault that the relay puts into the agent's true report.
func relayed(code reprisev1.ErrorCode, c reprisev1.Completion, message string) func(*ward) {
	return func(w *ward) { w.reporting(code, c, message) }
}

// fades is a desktop that goes away after the first gesture of an action.
func fades(w *ward) {
	w.desk.feel(mood{refuse: onlyFor[driver.Type](&driver.InputError{Err: driver.ErrUnavailable})})
}

// failures is the contract's section 5.7, row by row, as this agent and its
// desktop bring it about. For the errors that this agent cannot come to, the
// relay replaces the error in its true report.
var failures = []failure{
	{"a target that is not there", clickStep(1, inWindow), feeling(mood{title: "Printer"}),
		reprisev1.ErrorCode_ERROR_CODE_TARGET_NOT_FOUND, notStarted, 3, reprisev1.PauseReason_PAUSE_REASON_TARGET_NOT_FOUND, `"Printer"`},
	{"a target off the screen", clickStep(1, inWindow), feeling(mood{off: true}),
		reprisev1.ErrorCode_ERROR_CODE_TARGET_OFF_SCREEN, notStarted, 3, reprisev1.PauseReason_PAUSE_REASON_TARGET_OFF_SCREEN, "on no monitor"},
	{"a target that the driver finds off the screen", clickStep(1), feeling(refusing(0, driver.ErrOffScreen)),
		reprisev1.ErrorCode_ERROR_CODE_TARGET_OFF_SCREEN, notStarted, 3, reprisev1.PauseReason_PAUSE_REASON_TARGET_OFF_SCREEN, "on no monitor"},
	{"another title afterwards", clickStep(1, wantsTitleAfter), feeling(mood{title: "Printer"}),
		reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, completed, 0, reprisev1.PauseReason_PAUSE_REASON_VERIFY_FAILED, `"Printer"`},
	{"another title after what is safe to run twice", clickStep(1, wantsTitleAfter, safeTwice), feeling(mood{title: "Printer"}),
		reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, completed, 3, reprisev1.PauseReason_PAUSE_REASON_VERIFY_FAILED, `"Printer"`},
	{"another title where the workflow allows a retry", clickStep(1, wantsTitleAfter, mayRetry), feeling(mood{title: "Printer"}),
		reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, completed, 3, reprisev1.PauseReason_PAUSE_REASON_VERIFY_FAILED, `"Printer"`},
	{"no effect where one is required", clickStep(1, mustShow), func(w *ward) { w.swallowing(true) },
		reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED, completed, 0, reprisev1.PauseReason_PAUSE_REASON_VERIFY_FAILED, "nothing changed"},
	{"another window before", clickStep(1, wantsTitleBefore, mayRetry), feeling(mood{title: "Printer"}),
		reprisev1.ErrorCode_ERROR_CODE_WRONG_WINDOW, notStarted, 0, reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW, `"Printer"`},
	{"a window that does not come to the front", focusStep(), feeling(refusing(0, driver.ErrNotInFront)),
		reprisev1.ErrorCode_ERROR_CODE_WRONG_WINDOW, notStarted, 0, reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW, "did not come to the front"},
	{"a dialog of the system", clickStep(1, safeTwice), relayed(reprisev1.ErrorCode_ERROR_CODE_SYSTEM_DIALOG, notStarted, "user account control"),
		reprisev1.ErrorCode_ERROR_CODE_SYSTEM_DIALOG, notStarted, 0, reprisev1.PauseReason_PAUSE_REASON_SYSTEM_DIALOG, "user account control"},
	{"input that the system refuses", clickStep(1, safeTwice), feeling(refusing(0, driver.ErrBlocked)),
		reprisev1.ErrorCode_ERROR_CODE_INPUT_BLOCKED, notStarted, 0, reprisev1.PauseReason_PAUSE_REASON_INPUT_BLOCKED, "refused the input"},
	{"input that the system refuses in the middle", clickStep(1, mayRetry), feeling(refusing(2, driver.ErrBlocked)),
		reprisev1.ErrorCode_ERROR_CODE_INPUT_BLOCKED, unknown, 0, reprisev1.PauseReason_PAUSE_REASON_INPUT_BLOCKED, "after 2 input events"},
	{"a condition of the workflow", clickStep(1, safeTwice), relayed(reprisev1.ErrorCode_ERROR_CODE_GUARD_REFUSED, notStarted, "the amount differs"),
		reprisev1.ErrorCode_ERROR_CODE_GUARD_REFUSED, notStarted, 0, reprisev1.PauseReason_PAUSE_REASON_GUARD_REFUSED, "the amount differs"},
	{"a person at the mouse", clickStep(1, safeTwice), relayed(reprisev1.ErrorCode_ERROR_CODE_PERSON, notStarted, "somebody moved the mouse"),
		reprisev1.ErrorCode_ERROR_CODE_PERSON, notStarted, 0, reprisev1.PauseReason_PAUSE_REASON_OPERATOR, "somebody moved the mouse"},
	{"a time-out before any input", clickStep(1, quick), func(w *ward) { w.desk.feel(mood{deaf: make(chan struct{})}) },
		reprisev1.ErrorCode_ERROR_CODE_TIMEOUT, notStarted, 3, reprisev1.PauseReason_PAUSE_REASON_TIMEOUT, "longest time"},
	{"a time-out in the middle of the input", clickStep(1, quick), feeling(holding()),
		reprisev1.ErrorCode_ERROR_CODE_TIMEOUT, unknown, 0, reprisev1.PauseReason_PAUSE_REASON_TIMEOUT, "longest time"},
	{"a time-out in the middle of what is safe to run twice", clickStep(1, quick, safeTwice), feeling(holding()),
		reprisev1.ErrorCode_ERROR_CODE_TIMEOUT, unknown, 3, reprisev1.PauseReason_PAUSE_REASON_TIMEOUT, "longest time"},
	{"a fault of the driver before any input", clickStep(1), feeling(refusing(0, errHiccup)),
		reprisev1.ErrorCode_ERROR_CODE_INTERNAL, notStarted, 3, reprisev1.PauseReason_PAUSE_REASON_INTERNAL, "a hiccup"},
	{"a fault of the driver in the middle of the input", clickStep(1), feeling(refusing(3, errHiccup)),
		reprisev1.ErrorCode_ERROR_CODE_INTERNAL, unknown, 0, reprisev1.PauseReason_PAUSE_REASON_INTERNAL, "a hiccup"},
	{"a panic in the driver", clickStep(1), feeling(panicking()),
		reprisev1.ErrorCode_ERROR_CODE_INTERNAL, unknown, 0, reprisev1.PauseReason_PAUSE_REASON_INTERNAL, "panicked"},
	{"a desktop that goes away in the middle of the input", clearAndType(), fades,
		reprisev1.ErrorCode_ERROR_CODE_OUTCOME_UNKNOWN, unknown, 0, reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN, "went away in the middle"},
	{"a desktop that goes away where the workflow allows a retry", clickStep(1, mayRetry), feeling(refusing(1, driver.ErrUnavailable)),
		reprisev1.ErrorCode_ERROR_CODE_OUTCOME_UNKNOWN, unknown, 0, reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN, "went away in the middle"},
	{"a desktop that goes away in what is safe to run twice", clickStep(1, safeTwice), feeling(refusing(1, driver.ErrUnavailable)),
		reprisev1.ErrorCode_ERROR_CODE_OUTCOME_UNKNOWN, unknown, 3, reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN, "went away in the middle"},
	{"a secret that the agent does not hold", typeSecret(), feeling(mood{lost: true}),
		reprisev1.ErrorCode_ERROR_CODE_INVALID_ACTION, notStarted, 0, reprisev1.PauseReason_PAUSE_REASON_INVALID_ACTION, `secret "door"`},
	{"a gesture that this desktop does not have", clickStep(1, safeTwice), feeling(refusing(0, driver.ErrUnsupported)),
		reprisev1.ErrorCode_ERROR_CODE_UNSUPPORTED, notStarted, 0, reprisev1.PauseReason_PAUSE_REASON_INVALID_ACTION, "not possible on this desktop"},
	{"an error of a newer agent", clickStep(1), relayed(fromTheFuture, completed, "the screen was folded"),
		fromTheFuture, completed, 0, reprisev1.PauseReason_PAUSE_REASON_INTERNAL, "the screen was folded"},
	{"an error of a newer agent before any input", clickStep(1), relayed(fromTheFuture, notStarted, "the screen was folded"),
		fromTheFuture, notStarted, 3, reprisev1.PauseReason_PAUSE_REASON_INTERNAL, "the screen was folded"},
	{"an error without a code", clickStep(1), relayed(reprisev1.ErrorCode_ERROR_CODE_UNSPECIFIED, completed, "who knows"),
		reprisev1.ErrorCode_ERROR_CODE_UNSPECIFIED, completed, 0, reprisev1.PauseReason_PAUSE_REASON_INTERNAL, "who knows"},
}

// fromTheFuture is an error code that no schema of today has.
const fromTheFuture = reprisev1.ErrorCode(999)

func TestWhatAFailedReportLeadsTo(t *testing.T) {
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			inWard(t, func(w *ward) {
				f.fails(w)
				id := w.createWith(f.action, clickStep(9))
				w.failed(id, f, "")
				w.resume(id)
				w.failed(id, f, "_resume") // a budget of its own
				w.cure()
				w.resume(id)
				w.completed(id)
				if got := w.ids(id)["-1_resume2"]; got != acked {
					t.Errorf("the resumed action is %v, want it acked", got)
				}

				f.fails(w)
				id = w.createWith(f.action, clickStep(9))
				last := w.failed(id, f, "")
				before := len(w.desktop.clicks())
				w.cure()
				w.skip(id)
				w.completed(id)
				if got := w.ids(id)[last]; got != skipped {
					t.Errorf("the skipped action is %v", got)
				}
				if now := w.desktop.clicks(); len(now) != before+1 || now[before]/10 != 9 {
					t.Errorf("after the skip the desktop counted %v, want the click that follows alone", now[before:])
				}
			})
		})
	}
}

// failed waits until a replay is paused for its first step, and checks what came
// before: the retries of this decision, each reported as it is, and no resend.
func (w *ward) failed(id string, f failure, decision string) (last string) {
	w.t.Helper()
	want := []string{"-1" + decision}
	for n := range f.retries {
		want = append(want, fmt.Sprintf("-1%s_retry%d", decision, n+1))
	}
	last = want[len(want)-1]
	r := w.awaitPause(id, f.pause, last)
	w.says(r, f.says)
	w.stays(r)
	byID := map[string]*reprisev1.ActionStatus{}
	for _, a := range r.GetActions() {
		short := strings.TrimPrefix(a.GetActionId(), id)
		if byID[short] = a; strings.HasPrefix(short, want[0]+"_retry") && a.GetRetryCount() > int32(f.retries) {
			w.t.Errorf("%s is a retry too many", short)
		}
	}
	for n, short := range want {
		a, state := byID[short], superseded
		if short == last {
			state = needsHelp
		}
		if a == nil {
			w.t.Fatalf("there is no %s; there are %v", short, w.ids(id))
		}
		if a.GetState() != state || a.GetRetryCount() != int32(n) || a.GetResentCount() != 0 || a.GetDeliveries() != 1 {
			w.t.Errorf("%s is %v, retry %d, %d resends, %d deliveries; want %v, %d, none, one",
				short, a.GetState(), a.GetRetryCount(), a.GetResentCount(), a.GetDeliveries(), state, n)
		}
		if rep := a.GetReport(); rep.GetError().GetCode() != f.code || rep.GetCompletion() != f.completion {
			w.t.Errorf("%s was reported as %v, %v; want %v, %v", short, rep.GetError().GetCode(), rep.GetCompletion(), f.code, f.completion)
		}
	}
	return last
}
