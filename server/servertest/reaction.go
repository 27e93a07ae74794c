package servertest

import (
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Script says how an agent reacts to an action that it would execute. It is asked
// once per execution, from the agent's own goroutine, and may call the agent.
type Script func(Call) Reaction

// Call is one execution that an agent is asked for.
type Call struct {
	Dispatch *reprisev1.Dispatch // as it came; not to be changed
	Step     string              // the step's own name; the action's id if it has none
	Kind     string              // the action's kind, by its name in the schema
	Try      int                 // 1 for the first time that this step of this replay is asked for
}

// Reaction is what an agent does about an action. The zero value succeeds.
type Reaction struct {
	does          conduct
	takes         time.Duration
	before, after []byte
	edits         []func(*reprisev1.Report)
}

// conduct is how an action goes, apart from its report.
type conduct int

const (
	reports conduct = iota
	silent
	locked
	diesBefore
	diesWithin
	diesAfter
)

// begins says whether the action is begun.
func (r Reaction) begins() bool { return r.does != silent && r.does != locked && r.does != diesBefore }

// Succeed does what the action says.
func Succeed() Reaction { return Reaction{} }

// NoEffect succeeds, and nothing changed on the screen. Several of them in a row
// pause the replay with INPUT_SWALLOWED, where the actions should change it.
func NoEffect() Reaction {
	return Reaction{}.Edit(func(r *reprisev1.Report) {
		r.Effect = reprisev1.Effect_EFFECT_NONE_SEEN
		r.Warnings = append(r.Warnings, reprisev1.Warning_WARNING_NO_SCREEN_CHANGE)
	})
}

// Fail reports a failure. How far the action came follows from the code, as with
// the real agent: nothing was sent where it was refused beforehand, all was sent
// where a check of its result failed, and else it is not known.
func Fail(code reprisev1.ErrorCode, message string) Reaction {
	return Reaction{}.Edit(func(r *reprisev1.Report) {
		r.Success, r.Completion, r.Effect = false, completion(code), reprisev1.Effect_EFFECT_NOT_CHECKED
		r.Error = &reprisev1.ActionError{Code: code, Message: message}
	})
}

func completion(code reprisev1.ErrorCode) reprisev1.Completion {
	switch code {
	case reprisev1.ErrorCode_ERROR_CODE_VERIFY_FAILED:
		return reprisev1.Completion_COMPLETION_COMPLETED
	case reprisev1.ErrorCode_ERROR_CODE_TARGET_NOT_FOUND, reprisev1.ErrorCode_ERROR_CODE_TARGET_OFF_SCREEN,
		reprisev1.ErrorCode_ERROR_CODE_WRONG_WINDOW, reprisev1.ErrorCode_ERROR_CODE_SYSTEM_DIALOG,
		reprisev1.ErrorCode_ERROR_CODE_INPUT_BLOCKED, reprisev1.ErrorCode_ERROR_CODE_GUARD_REFUSED,
		reprisev1.ErrorCode_ERROR_CODE_INVALID_ACTION, reprisev1.ErrorCode_ERROR_CODE_UNSUPPORTED:
		return reprisev1.Completion_COMPLETION_NOT_STARTED
	}
	return reprisev1.Completion_COMPLETION_UNKNOWN
}

// NotFound reports that the target is not on the screen. Nothing was sent, so the
// server tries again while there are retries left.
func NotFound(what string) Reaction {
	return Fail(reprisev1.ErrorCode_ERROR_CODE_TARGET_NOT_FOUND, "not on the screen: "+what).Edit(func(r *reprisev1.Report) {
		r.TargetDescription = what
	})
}

// SystemDialog reports that a dialog of the system stands in the way, such as
// uac_consent, credential_prompt or smartscreen.
func SystemDialog(category string) Reaction {
	return Fail(reprisev1.ErrorCode_ERROR_CODE_SYSTEM_DIALOG, "a dialog of the system: "+category).Edit(func(r *reprisev1.Report) {
		r.SystemDialog = &reprisev1.SystemDialog{Category: category, Reason: "only a person can answer it"}
	})
}

// NeedHuman sends nothing and asks for a person.
func NeedHuman(why string) Reaction {
	return Fail(reprisev1.ErrorCode_ERROR_CODE_GUARD_REFUSED, why).Edit(func(r *reprisev1.Report) { r.NeedsHuman = true })
}

// Silent takes the action, and neither begins it nor reports it: the server asks
// again, and each time the script is asked again, until the resends are used up.
func Silent() Reaction { return Reaction{does: silent} }

// DesktopLocked finds the desktop locked: nothing is sent, nothing is spent, and the
// action comes again after [Agent.Unlock].
func DesktopLocked() Reaction { return Reaction{does: locked} }

// Die ends the agent's process before it begins the action. It stays away until
// [Agent.Return].
func Die() Reaction { return Reaction{does: diesBefore} }

// UnknownOutcome ends the agent's process in the middle of the action. A new one
// comes back at once and does not know how it ended: an action that is not safe to
// run twice goes to a person.
func UnknownOutcome() Reaction { return Reaction{does: diesWithin} }

// DieBeforeReport ends the agent's process when the action is done and before the
// server hears of it. A new one comes back at once and tells it.
func DieBeforeReport() Reaction { return Reaction{does: diesAfter} }

// After makes the action take so long; the agent shows progress meanwhile. An
// action that takes longer than its longest time is stopped then and reports TIMEOUT.
func (r Reaction) After(d time.Duration) Reaction { r.takes = d; return r }

// Screenshots attaches pictures, PNG files, from before and after the action; nil:
// none. They are uploaded before the report is sent.
func (r Reaction) Screenshots(before, after []byte) Reaction {
	r.before, r.after = before, after
	return r
}

// Edit changes the report before it is kept and sent; several changes are made in
// order.
func (r Reaction) Edit(change func(*reprisev1.Report)) Reaction {
	r.edits = append(r.edits[:len(r.edits):len(r.edits)], change)
	return r
}
