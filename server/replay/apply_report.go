package replay

import "time"

// report applies how a report was taken.
func (r *Replay) report(i int, ev Reported) error {
	a := &r.Actions[i]
	report := ev.Report
	a.Report, a.Reported = &report, true
	if ev.Outcome == OutcomeRecorded {
		a.RanLate = a.State == ActionSuperseded && report.Completion != CompletionNotStarted
		return nil
	}
	r.closeOlder(i)
	if r.Pause != nil && r.Pause.Decide == a.ID {
		r.Pause.Decide, r.Pause.Again = "", nil
		if ev.Outcome != OutcomeNeedsHelp {
			r.Pause.Message += " " + messageReportedLate
		}
	}
	switch ev.Outcome {
	case OutcomeAcked:
		r.acked(i)
		r.countEffect(i, report)
	case OutcomeRetried:
		next := Action{Step: a.Step, Resumes: a.Resumes, Retries: a.Retries + 1, Correction: a.Correction}
		r.setState(i, ActionSuperseded)
		r.decide(next)
	case OutcomeNeedsHelp:
		r.setState(i, ActionNeedsHelp)
		if r.Pause != nil {
			r.Pause.Decide = a.ID
		}
	case OutcomeFailed:
		r.setState(i, ActionFailed)
	default:
		return impossible(r, ev)
	}
	return nil
}

// acked settles an action. A late success of an older decision takes the place
// of the newer one, which was never delivered.
func (r *Replay) acked(i int) {
	step := r.Actions[i].Step
	if newer := r.current[step]; newer != i {
		r.setState(newer, ActionSuperseded)
		r.older[step] = append(r.older[step], newer)
		r.current[step] = i
	}
	r.setState(i, ActionAcked)
}

// closeOlder settles what older decisions to run the same step may have left
// open: the agent's answer for the newer one took their place.
func (r *Replay) closeOlder(i int) {
	for _, j := range r.older[r.Actions[i].Step] {
		if j < i {
			r.Actions[j].Reported, r.Actions[j].RanLate = true, false
		}
	}
}

func (r *Replay) countEffect(i int, report Report) {
	switch {
	case !r.Steps[r.Actions[i].Step].ChangesScreen:
	case report.NoChange:
		r.noEffect = append(r.noEffect, i)
	default:
		r.noEffect = nil
	}
}

func (r *Replay) pause(ev PausedBy, at time.Time) error {
	if ev.Gate >= 0 && !r.has(ev.Gate) || ev.Decide != "" && r.Find(ev.Decide) == nil {
		return impossible(r, ev)
	}
	for _, id := range ev.Again {
		if r.Find(id) == nil {
			return impossible(r, ev)
		}
	}
	r.pauses++
	r.Pause = &Pause{
		ID: pauseID(r.ID, r.pauses), Reason: ev.Reason, Message: ev.Message, Checks: ev.Checks,
		Decide: ev.Decide, Again: ev.Again, Gate: ev.Gate, By: ev.By, At: at,
	}
	r.State = Paused
	if i, ok := r.byID[ev.Decide]; ok {
		switch r.Actions[i].State {
		case ActionDispatched, ActionQueued, ActionAcked:
			r.setState(i, ActionNeedsHelp)
		}
	}
	return nil
}

// passGate lets a step past the pause that it asked for.
func (r *Replay) passGate(step int, skip bool) {
	r.gatePassed[step] = true
	switch {
	case !r.queued(step): // a late report has settled it meanwhile
	case skip:
		r.setState(r.current[step], ActionSkipped)
	case r.Steps[step].ServerSide:
		r.setState(r.current[step], ActionAcked)
	}
}

func (r *Replay) resume(ev Resumed) error {
	p := r.Pause
	if r.State != Paused || p == nil || ev.From >= 0 && !r.has(ev.From) {
		return impossible(r, ev)
	}
	r.Pause, r.noEffect = nil, nil
	r.State = Running
	if !r.started {
		r.State = Queued
	}
	switch {
	case ev.From >= 0:
		r.goOnFrom(ev.From, p.Gate)
	case p.Gate >= 0:
		r.passGate(p.Gate, ev.Skip)
	case p.Decide != "":
		r.runAgain(r.byID[p.Decide], ev.Skip, ev.Position)
	}
	if ev.From < 0 {
		for _, id := range p.Again {
			r.runAgain(r.byID[id], false, nil)
		}
	}
	return nil
}

// runAgain makes a new decision to run an action's step, with its budgets at
// zero, or counts it as done.
func (r *Replay) runAgain(i int, skip bool, correction *Point) {
	if skip {
		r.setState(i, ActionSkipped)
		return
	}
	next := Action{Step: r.Actions[i].Step, Resumes: r.Actions[i].Resumes, Correction: correction}
	for _, j := range r.older[next.Step] {
		next.Resumes = max(next.Resumes, r.Actions[j].Resumes)
		r.Actions[j].RanLate = false // this decision was made with its report at hand
	}
	next.Resumes++
	r.setState(i, ActionSuperseded)
	r.decide(next)
}

// goOnFrom passes over what is open before a step and runs it and all that
// follows; what of that had been delivered or settled gets a new decision. Every
// pause that a step asks for comes again, but for the one just resumed.
func (r *Replay) goOnFrom(from, gate int) {
	for step := range r.Steps {
		i := r.current[step]
		a := &r.Actions[i]
		fresh := a.State == ActionQueued && a.Dispatches == 0
		switch {
		case step < from && settled(a.State) == 0:
			r.setState(i, ActionSkipped)
		case step >= from && !fresh:
			r.runAgain(i, false, nil)
		}
		if step >= from {
			delete(r.gatePassed, step)
		}
	}
	if from == gate {
		r.passGate(from, false)
	}
}

// Unsettled returns the ids of older decisions to run an action's step that were
// delivered and never answered, or answered too late to count: the agent may
// have run one of them.
func (r *Replay) Unsettled(actionID string) []string {
	i, ok := r.byID[actionID]
	if !ok {
		return nil
	}
	var ids []string
	for _, j := range r.older[r.Actions[i].Step] {
		if a := &r.Actions[j]; j != i && (a.Open() || a.RanLate && !a.Lost) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// Open says whether the agent may still answer for the action.
func (a *Action) Open() bool { return a.Dispatches > 0 && !a.Reported && !a.Lost }
