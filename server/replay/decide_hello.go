package replay

// Executing is what the server says to an action that an agent is executing when
// it opens a stream.
type Executing int

// The answers.
const (
	NotExecuting Executing = iota
	GoOn
	Stop
)

// DecideExecuting answers an agent that is executing an action: it counts as
// dispatched, paused or not, unless nobody waits for it any more.
func (r *Replay) DecideExecuting(actionID, attemptID string) (Executing, []Event) {
	a := r.Find(actionID)
	switch {
	case a == nil || r.State.Ended() || !a.Open():
		return Stop, nil
	case a.State == ActionDispatched:
		return GoOn, nil
	case a.State == ActionSuperseded:
		// Its outcome answers the decision that replaced it.
		if settled(r.Current(a.Step).State) == 1 {
			return Stop, nil
		}
		return GoOn, nil
	case !r.adoptable(a):
		return Stop, nil
	}
	var events []Event
	if r.InFlight >= 0 {
		// It was sent while the agent was still busy, and dropped with the stream.
		events = append(events, Requeued{ActionID: r.Actions[r.InFlight].ID, Reason: Reconnect})
	}
	return GoOn, append(events, Adopted{ActionID: a.ID, AttemptID: attemptID})
}

func (r *Replay) adoptable(a *Action) bool {
	switch a.State {
	case ActionQueued, ActionNeedsHelp:
		return true
	case ActionAbandoned:
		return r.Pause != nil && r.Pause.Decide == a.ID
	}
	return false
}

// DecideOtherMemory acts on an agent that came back with another memory: what
// was delivered to an older one and is not settled is outcome unknown, and goes
// to a person unless its kind is safe to run twice.
func (r *Replay) DecideOtherMemory(spoolID string) []Event {
	if !r.started || r.State.Ended() {
		return nil
	}
	var events []Event
	decide := "" // the first of them; DecideNext asks about the others
	for i := range r.Actions {
		a := &r.Actions[i]
		if !a.Open() || a.SpoolID == spoolID {
			continue
		}
		current := r.Current(a.Step)
		switch current.State {
		case ActionQueued, ActionDispatched, ActionNeedsHelp, ActionAbandoned:
			events = append(events, LostMemory{ActionID: a.ID})
		default:
			continue
		}
		if waits := current.State == ActionQueued || current.State == ActionDispatched; waits && decide == "" && !r.Steps[a.Step].Safe {
			decide = current.ID
		}
	}
	if decide != "" {
		events = append(events, r.pauseFor("outcome_unknown", "The agent lost its memory.", decide)...)
	}
	return events
}

// DecideReconnect acts on the action in flight when the agent that has it opens
// a stream without executing it: it is delivered again, and the agent answers
// from memory if it knows it. An agent whose process died with the action in
// flight spends a resend: the action may be what kills it. One that was stopped in
// order, to be updated for example, spends nothing.
func (r *Replay) DecideReconnect(s Session, reason Reason, p Policy, deadClient bool) []Event {
	if r.InFlight < 0 {
		return nil
	}
	a := &r.Actions[r.InFlight]
	died := a.BootID != s.BootID && !s.Clean
	switch {
	case p.SkipKinds[r.Steps[a.Step].Kind]:
		// Never redelivered, and the agent has nothing more to say about it.
		return r.giveUp(a, "orphan_max_resends", "", deadClient)
	case died && a.Resent >= p.MaxResends:
		return r.giveUp(a, "orphan_max_resends", "its process died again and again with this action in flight", deadClient)
	case a.Deliveries >= p.MaxDeliveries:
		return r.giveUp(a, "delivery_failed", "", deadClient)
	}
	return []Event{Requeued{ActionID: a.ID, Reason: reason, Spent: died}}
}

// Expects says whether the server will still ask for an action, or is waiting
// for its outcome.
func (r *Replay) Expects(actionID string) bool {
	a := r.Find(actionID)
	if a == nil || r.State.Ended() || !a.Open() {
		return false
	}
	switch r.Current(a.Step).State {
	case ActionQueued, ActionDispatched, ActionNeedsHelp, ActionAbandoned:
		return true
	}
	return false
}
