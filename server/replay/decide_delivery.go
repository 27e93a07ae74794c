package replay

import "fmt"

// Session is what a delivery needs of the machine's stream.
type Session struct {
	ID      string
	SpoolID string // the agent's memory
	BootID  string // the agent's process
	Clean   bool   // the process before this one ended in order, as it was asked to
}

// DecideNext moves a replay whose machine is free: it puts the head of the queue
// in flight, pauses for a person, or completes. Without a session nothing is
// dispatched; a replay with nothing left to do completes all the same, unless it
// is open: it waits for more, and does not start before it has a first action.
func (r *Replay) DecideNext(s *Session) []Event {
	if r.InFlight >= 0 || r.State != Queued && r.State != Running {
		return nil
	}
	if r.helpless > 0 {
		return r.askNext()
	}
	step, ok := r.Next()
	switch {
	case !ok && r.Open:
		return nil
	case !ok:
		return []Event{Ended{State: Completed}}
	case s == nil:
		return nil
	}
	var events []Event
	if !r.started {
		events = append(events, Started{})
	}
	if ev := r.gate(step); ev != nil {
		return append(events, ev)
	}
	a := r.Current(step)
	return append(events, Dispatched{
		ActionID: a.ID, AttemptID: fmt.Sprintf("%s.%d", a.ID, a.Dispatches+1),
		SessionID: s.ID, SpoolID: s.SpoolID, BootID: s.BootID, Reason: a.Reason,
	})
}

// askNext pauses for the first action that needs a person and was not the one
// that the last pause was about.
func (r *Replay) askNext() []Event {
	for step := range r.Steps {
		a := r.Current(step)
		if a.State != ActionNeedsHelp {
			continue
		}
		switch {
		case a.Report == nil:
			return r.pauseFor("outcome_unknown", "", a.ID)
		case a.Report.Success:
			return r.pauseFor("input_swallowed", "", a.ID)
		case a.Report.NeedsHuman:
			return r.pauseFor("needs_human", a.Report.Message, a.ID)
		}
		return r.pauseFor(reasonOf(a.Report.Code), a.Report.Message, a.ID)
	}
	return nil
}

// gate returns what has to happen before a step runs: a pause, or its passing;
// nil: nothing.
func (r *Replay) gate(step int) Event {
	s := &r.Steps[step]
	if r.gatePassed[step] || !s.ServerSide && len(s.Checks) == 0 {
		return nil
	}
	required := false
	for _, c := range s.Checks {
		required = required || c.Required
	}
	if r.Unattended && s.ServerSide && !required {
		return GatePassed{Step: step}
	}
	return PausedBy{Reason: "user_request", Message: message("user_request", s.Message), Checks: s.Checks, Gate: step}
}

// DecideOrphan acts on an action whose deadline passed with no report. It checks
// again that the action is still in flight: a report may have come meanwhile.
// deadClient says that one more give-up means that the agent is dead.
func (r *Replay) DecideOrphan(actionID string, p Policy, deadClient bool) []Event {
	a := r.Find(actionID)
	if a == nil || a.State != ActionDispatched {
		return nil
	}
	switch {
	case p.SkipKinds[r.Steps[a.Step].Kind] || a.Resent >= p.MaxResends:
		return r.giveUp(a, "orphan_max_resends", "", deadClient)
	case a.Deliveries >= p.MaxDeliveries:
		return r.giveUp(a, "delivery_failed", "", deadClient)
	}
	return []Event{Requeued{ActionID: a.ID, Reason: OrphanTimeout, Spent: true, Tail: p.RequeueAtTail}}
}

// DecideNotReceived acts on an action that was sent on a live stream and not
// acknowledged in time. No resend is spent.
func (r *Replay) DecideNotReceived(actionID string, p Policy, deadClient bool) []Event {
	a := r.Find(actionID)
	switch {
	case a == nil || a.State != ActionDispatched || p.SkipKinds[r.Steps[a.Step].Kind]:
		return nil
	case a.Deliveries >= p.MaxDeliveries:
		return r.giveUp(a, "delivery_failed", "", deadClient)
	}
	return []Event{Requeued{ActionID: a.ID, Reason: NotReceived}}
}

// giveUp acts on used-up resends or deliveries. detail is for people.
func (r *Replay) giveUp(a *Action, reason, detail string, deadClient bool) []Event {
	events := []Event{GaveUp{ActionID: a.ID, AllDeliveries: reason == "delivery_failed"}}
	step := &r.Steps[a.Step]
	// Deliveries that are used up are no matter of the kind: something is wrong
	// with the way to the agent.
	pauses := step.OnGiveUp == GiveUpPause || step.OnGiveUp == GiveUpByKind && (step.Critical || reason == "delivery_failed")
	switch {
	case step.OnGiveUp == GiveUpFail:
		return append(events, Ended{State: Failed, Reason: a.ID + ": " + message(reason, detail)})
	case deadClient && pauses:
		return append(events, r.pauseFor("dead_client", detail, a.ID)...)
	case deadClient:
		return append(events, r.pauseFor("dead_client", detail, "")...)
	case pauses:
		return append(events, r.pauseFor(reason, detail, a.ID)...)
	}
	return events
}

// DecideAgentAway pauses a replay whose agent has been away too long. An action
// in flight becomes the one to decide on; a late report still settles it.
func (r *Replay) DecideAgentAway() []Event {
	if r.State != Running && (r.State != Paused || r.InFlight < 0) {
		return nil
	}
	decide := ""
	if r.InFlight >= 0 {
		decide = r.Actions[r.InFlight].ID
	}
	return r.pauseFor("dead_client", "", decide)
}
