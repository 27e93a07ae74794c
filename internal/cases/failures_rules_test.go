package cases

import (
	"fmt"
	"strings"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// rule is one row of the contract's section 5.7: when a failure is tried again,
// and the pause that it ends at.
type rule struct {
	nothingSent bool // when nothing was sent
	safe        bool // when its kind is safe to run twice
	allowed     bool // when the workflow allows it
	pause       reprisev1.PauseReason
}

// rules holds every error but desktop_unavailable, which is no failure.
var rules = map[reprisev1.ErrorCode]rule{
	reprisev1.ErrorCode_ERROR_CODE_UNSPECIFIED:       {true, true, true, reprisev1.PauseReason_PAUSE_REASON_INTERNAL},
	reprisev1.ErrorCode_ERROR_CODE_TARGET_NOT_FOUND:  {true, true, true, reprisev1.PauseReason_PAUSE_REASON_TARGET_NOT_FOUND},
	reprisev1.ErrorCode_ERROR_CODE_TARGET_OFF_SCREEN: {true, true, true, reprisev1.PauseReason_PAUSE_REASON_TARGET_OFF_SCREEN},
	reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED:     {false, true, true, reprisev1.PauseReason_PAUSE_REASON_VERIFY_FAILED},
	reprisev1.ErrorCode_ERROR_CODE_WRONG_WINDOW:      {pause: reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW},
	reprisev1.ErrorCode_ERROR_CODE_SYSTEM_DIALOG:     {pause: reprisev1.PauseReason_PAUSE_REASON_SYSTEM_DIALOG},
	reprisev1.ErrorCode_ERROR_CODE_INPUT_BLOCKED:     {pause: reprisev1.PauseReason_PAUSE_REASON_INPUT_BLOCKED},
	reprisev1.ErrorCode_ERROR_CODE_GUARD_REFUSED:     {pause: reprisev1.PauseReason_PAUSE_REASON_GUARD_REFUSED},
	reprisev1.ErrorCode_ERROR_CODE_PERSON:            {pause: reprisev1.PauseReason_PAUSE_REASON_OPERATOR},
	reprisev1.ErrorCode_ERROR_CODE_TIMEOUT:           {true, true, true, reprisev1.PauseReason_PAUSE_REASON_TIMEOUT},
	reprisev1.ErrorCode_ERROR_CODE_INTERNAL:          {true, true, true, reprisev1.PauseReason_PAUSE_REASON_INTERNAL},
	reprisev1.ErrorCode_ERROR_CODE_OUTCOME_UNKNOWN:   {false, true, false, reprisev1.PauseReason_PAUSE_REASON_OUTCOME_UNKNOWN},
	reprisev1.ErrorCode_ERROR_CODE_INVALID_ACTION:    {pause: reprisev1.PauseReason_PAUSE_REASON_INVALID_ACTION},
	reprisev1.ErrorCode_ERROR_CODE_UNSUPPORTED:       {pause: reprisev1.PauseReason_PAUSE_REASON_INVALID_ACTION},
	reprisev1.ErrorCode_ERROR_CODE_INTERRUPTED:       {pause: reprisev1.PauseReason_PAUSE_REASON_INTERRUPTED},
	fromTheFuture: {true, true, true, reprisev1.PauseReason_PAUSE_REASON_INTERNAL},
}

// circumstance is what an error meets.
type circumstance struct {
	code          reprisev1.ErrorCode
	completion    reprisev1.Completion
	safe, allowed bool
}

func (c circumstance) String() string {
	return fmt.Sprintf("%v, %v, safe %v, allowed %v", c.code, c.completion, c.safe, c.allowed)
}

// budget is how often an action is tried again in these tests, if it is.
const budget = 1

// retries says how often the contract tries again: the whole budget or not at all.
func (c circumstance) retries() int {
	r := rules[c.code]
	if r.nothingSent && c.completion == notStarted || r.safe && c.safe || r.allowed && c.allowed {
		return budget
	}
	return 0
}

// circumstances are an error's. That everything was sent, or that nothing is said,
// differs from not knowing for nobody, so one of each is enough.
func circumstances(code reprisev1.ErrorCode) []circumstance {
	all := []circumstance{{code: code, completion: completed}, {code: code}}
	for _, completion := range []reprisev1.Completion{notStarted, unknown} {
		for _, safe := range []bool{false, true} {
			all = append(all, circumstance{code, completion, safe, false}, circumstance{code, completion, safe, true})
		}
	}
	return all
}

// A click that may be safe to run twice, and that the workflow may let be tried
// again, succeeds on the desktop; the relay makes each error of the schema of it,
// and one that the schema does not have.
func TestAFailureIsTriedAgainOnlyWhereThatCanDoNoHarm(t *testing.T) {
	inWard(t, func(w *ward) {
		codes := []reprisev1.ErrorCode{fromTheFuture}
		for code := range reprisev1.ErrorCode_name {
			codes = append(codes, reprisev1.ErrorCode(code))
		}
		for _, code := range codes {
			if _, known := rules[code]; !known {
				if code != reprisev1.ErrorCode_ERROR_CODE_DESKTOP_UNAVAILABLE {
					t.Errorf("no rule for %v", code)
				}
				continue
			}
			for n, c := range circumstances(code) {
				w.meets(c, n%2 == 0)
			}
		}
	}, func(with *setup) { with.server.MaxRetries = budget })
}

// meets plays one circumstance to its end: by a resume, or by a skip.
func (w *ward) meets(c circumstance, resume bool) {
	w.t.Helper()
	w.reporting(c.code, c.completion, "as the relay says")
	click := clickStep(1)
	click.GetClick().ActivatesTab = c.safe
	click.RetryPolicy = &reprisev1.RetryPolicy{RetryExecuted: c.allowed}
	id := w.createWith(click)
	r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_PAUSED)
	var want, got []string
	for n := range c.retries() + 1 {
		if want = append(want, "-1"); n > 0 {
			want[n] += fmt.Sprintf("_retry%d", n)
		}
	}
	for _, a := range r.GetActions() {
		got = append(got, strings.TrimPrefix(a.GetActionId(), id))
	}
	pause, last := r.GetPause(), want[len(want)-1]
	if fmt.Sprint(got) != fmt.Sprint(want) || pause.GetReason() != rules[c.code].pause || pause.GetActionToDecide() != id+last {
		w.t.Errorf("%v: %v, then paused for %v on %s; want %v and %v", c, got, pause.GetReason(), pause.GetActionToDecide(), want, rules[c.code].pause)
	}
	w.says(r, "as the relay says")
	w.cure()
	state := map[bool]reprisev1.ActionState{true: superseded, false: skipped}[resume]
	if resume {
		w.resume(id)
	} else {
		w.skip(id)
	}
	w.completed(id)
	after := w.ids(id)
	if after[last] != state || resume && after["-1_resume"] != acked {
		w.t.Errorf("%v: afterwards the actions are %v", c, after)
	}
}

// Every error of the schema is brought about by the table of failures, or by a
// test of its own.
func TestEveryErrorOfTheSchemaHasATest(t *testing.T) {
	own := map[reprisev1.ErrorCode]func(*testing.T){
		reprisev1.ErrorCode_ERROR_CODE_DESKTOP_UNAVAILABLE: TestADesktopThatIsAwayCostsNothingAndWorkGoesOnByItself,
		reprisev1.ErrorCode_ERROR_CODE_INTERRUPTED:         TestAnActionThatTheAgentsEndInterruptsGoesToAPerson,
	}
	covered := map[reprisev1.ErrorCode]bool{}
	for code, test := range own {
		covered[code] = test != nil
	}
	for _, f := range failures {
		covered[f.code] = true
	}
	for code := range reprisev1.ErrorCode_name {
		if !covered[reprisev1.ErrorCode(code)] {
			t.Errorf("no test brings about %v", reprisev1.ErrorCode(code))
		}
	}
}

func TestRetriesThatAreUsedUpFailTheReplayWhereTheWorkflowSaysSo(t *testing.T) {
	fails := func(a *reprisev1.Action) {
		a.RetryPolicy = &reprisev1.RetryPolicy{OnExhausted: reprisev1.RetriesExhausted_RETRIES_EXHAUSTED_FAIL}
	}
	inWard(t, func(w *ward) {
		w.desk.feel(mood{title: "Printer"})
		id := w.createWith(clickStep(1, inWindow, fails), clickStep(2))
		r := w.await(id, reprisev1.ReplayState_REPLAY_STATE_FAILED)
		if got := r.GetEndReason(); !strings.Contains(got, id+"-1_retry3") || !strings.Contains(got, "target_not_found") {
			t.Errorf("it failed for %q, want the action and the error in it", got)
		}
		// Where nothing may be tried again no retries are used up: a person decides.
		id = w.createWith(clickStep(1, wantsTitleBefore, fails), clickStep(2))
		w.awaitPause(id, reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW, "-1")
		w.cure()
		w.resume(id)
		w.completed(id)
		w.clicked(1, 2)
	})
}
