package replay

// Verdict is how a report is taken, as the agent is told.
type Verdict int

// The verdicts.
const (
	Accepted Verdict = iota + 1
	Duplicate
	NoActiveReplay
	UnknownAction
)

var verdictNames = [...]string{Accepted: "ACCEPTED", Duplicate: "DUPLICATE", NoActiveReplay: "NO_ACTIVE_REPLAY", UnknownAction: "UNKNOWN_ACTION"}

func (v Verdict) String() string { return name(verdictNames[:], int(v)) }

// DecideReport takes an agent's report. The first to arrive settles the action,
// whichever attempt it answers; every later one changes nothing.
func (r *Replay) DecideReport(actionID, attemptID string, rep Report, p Policy) (Verdict, []Event) {
	i, ok := r.byID[actionID]
	switch {
	case !ok:
		return UnknownAction, nil
	case r.State.Ended():
		return NoActiveReplay, nil
	}
	a := &r.Actions[i]
	switch {
	case a.Dispatches == 0:
		return UnknownAction, nil // never sent, so this answers nothing
	case a.Reported || a.Lost || rep.SpoolID != "" && rep.SpoolID != a.SpoolID:
		return Duplicate, nil
	case rep.Code == CodeDesktopUnavailable:
		return Accepted, r.desktopUnavailable(a, attemptID)
	}
	if !r.settles(a, rep) {
		return Accepted, []Event{Reported{ActionID: actionID, AttemptID: attemptID, Outcome: OutcomeRecorded, Report: rep}}
	}
	outcome, follow := r.outcome(i, rep, p)
	return Accepted, append([]Event{Reported{ActionID: actionID, AttemptID: attemptID, Outcome: outcome, Report: rep}}, follow...)
}

// desktopUnavailable is not a result: it concerns its own attempt, settles
// nothing and spends nothing.
func (r *Replay) desktopUnavailable(a *Action, attemptID string) []Event {
	if a.State != ActionDispatched || attemptID != "" && attemptID != a.AttemptID {
		return nil
	}
	return []Event{Requeued{ActionID: a.ID, Reason: DesktopUnavailable, Refund: true}}
}

// settles says whether a report of an action still counts.
func (r *Replay) settles(a *Action, rep Report) bool {
	switch a.State {
	case ActionDispatched, ActionQueued, ActionNeedsHelp:
		return true
	case ActionAbandoned:
		return r.Pause != nil && r.Pause.Decide == a.ID
	case ActionSuperseded:
		newer := r.Current(a.Step)
		return rep.Success && newer.State == ActionQueued && newer.Dispatches == 0
	}
	return false
}

// outcome is the contract's section 5.7.
func (r *Replay) outcome(i int, rep Report, p Policy) (Outcome, []Event) {
	a, step := &r.Actions[i], &r.Steps[r.Actions[i].Step]
	if rep.Success {
		return OutcomeAcked, r.afterSuccess(i, rep, p)
	}
	limit := step.MaxRetries
	if limit < 0 {
		limit = p.MaxRetries
	}
	mayRetry := retriable(rep, step)
	switch {
	case rep.NeedsHuman:
		return OutcomeNeedsHelp, r.pauseFor("needs_human", rep.Message, a.ID)
	case mayRetry && a.Retries < limit:
		return OutcomeRetried, nil
	case mayRetry && step.FailExhausted:
		return OutcomeFailed, []Event{Ended{State: Failed, Reason: failure(a.ID, rep)}}
	case rep.Code == CodeInterrupted && r.State == Paused:
		return OutcomeNeedsHelp, nil // the pause that caused it stays
	}
	return OutcomeNeedsHelp, r.pauseFor(reasonOf(rep.Code), rep.Message, a.ID)
}

func (r *Replay) afterSuccess(i int, rep Report, p Policy) []Event {
	switch {
	case rep.NeedsHuman:
		return r.pauseFor("needs_human", rep.Message, "")
	case !rep.NoChange || !r.Steps[r.Actions[i].Step].ChangesScreen:
		return nil
	case p.SwallowedInput <= 0 || len(r.noEffect)+1 < p.SwallowedInput || r.State == Paused:
		return nil
	}
	pause := PausedBy{Reason: "input_swallowed", Message: message("input_swallowed", ""), Gate: -1}
	for n, j := range append(append([]int(nil), r.noEffect...), i) {
		if n == 0 {
			pause.Decide = r.Actions[j].ID
			continue
		}
		pause.Again = append(pause.Again, r.Actions[j].ID)
	}
	return []Event{pause}
}

// retriable says whether a failed action may be tried again without asking a
// person.
func retriable(rep Report, step *Step) bool {
	nothingSent := rep.Completion == CompletionNotStarted
	switch rep.Code {
	case CodeTargetNotFound, CodeTargetOffScreen, CodeTimeout, CodeInternal, CodeOther:
		return nothingSent || step.Safe || step.RetryExecuted
	case CodeVerifyFailed:
		return step.Safe || step.RetryExecuted
	case CodeOutcomeUnknown:
		return step.Safe
	}
	return false
}

// pauseFor pauses the replay because of an action. A replay that is pausing
// already gets the new reason: it is what the person has to decide on.
func (r *Replay) pauseFor(reason, detail, decide string) []Event {
	return []Event{PausedBy{Reason: reason, Message: message(reason, detail), Decide: decide, Gate: -1}}
}

func failure(actionID string, rep Report) string {
	if rep.Message == "" {
		return actionID + ": " + rep.Code
	}
	return actionID + ": " + rep.Code + ": " + rep.Message
}
