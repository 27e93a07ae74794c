package sim

import (
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// leaves looks at what leaves a machine: all of it must be durable.
func (v *witness) leaves(o *owner, effect dispatch.Effect) {
	switch e := effect.(type) {
	case dispatch.Changed:
		v.changed(o, e)
	case dispatch.Fault:
		v.w.fail("I5", "an event did not fit: %v", e.Err)
	case dispatch.Answer:
		v.answerLeaves(e)
	case dispatch.Welcome:
		v.welcomed[e.SessionID] = true
		v.holders[o.machine] = v.opening[e.SessionID]
		v.away[o.machine] = v.w.now // the grace counts from its end
		delete(v.opening, e.SessionID)
		v.welcomeLeaves(o, e)
	case dispatch.Deliver:
		v.spoken(e.SessionID, "a dispatch")
		v.deliverLeaves(o, e)
	case dispatch.Ack:
		v.spoken(e.SessionID, "an acknowledgement")
		v.ackLeaves(e.Ref, e.Verdict)
	case dispatch.CancelAction:
		delete(v.cancels, o.machine)
	case dispatch.CloseSession:
		delete(v.hangUp, o.machine)
		if h := v.holders[o.machine]; h != nil && h.id == e.SessionID {
			v.holders[o.machine] = nil
		}
	}
}

// spoken: a session hears nothing before its welcome.
func (v *witness) spoken(sessionID, what string) {
	if !v.welcomed[sessionID] && v.opening[sessionID] != nil {
		v.w.fail("5.1", "%s leaves for %s before its welcome", what, sessionID)
	}
}

func (v *witness) answerLeaves(e dispatch.Answer) {
	if e.Err != nil || e.View == nil {
		return
	}
	if r := v.w.server.disk.folded[e.Replay]; r == nil || r.Revision < e.View.Head.Revision {
		v.w.fail("I9", "a command to %s is answered before it is durable", e.Replay)
	}
}

func (v *witness) welcomeLeaves(o *owner, e dispatch.Welcome) {
	ses := o.sessions[e.SessionID]
	if ses == nil {
		return
	}
	v.executingLeaves(o, e)
	for i, verdict := range e.Verdicts {
		if verdict != 0 {
			r := ses.results[i]
			v.ackLeaves(dispatch.Ref{ActionID: r.ActionID, AttemptID: r.AttemptID}, verdict)
		}
	}
	for _, id := range e.Closed {
		v.w.tell("the server will not ask for %s again", id)
	}
}

// ackLeaves: an answer to a report stands for something durable.
func (v *witness) ackLeaves(ref dispatch.Ref, verdict replay.Verdict) {
	v.w.tell("the server answers the report of %s: %v", ref.ActionID, verdict)
	v.answers[ref.ActionID] = true
	r, a, err := v.w.server.disk.action(replayOf(ref.ActionID), ref.ActionID)
	switch verdict {
	case replay.Accepted:
		if v.takenOf[ref.ActionID] == 0 && !v.unusable[ref.ActionID+ref.AttemptID] {
			v.w.fail("I9", "the report of %s is accepted and not durable", ref.ActionID)
		}
	case replay.Duplicate:
		if err != nil || !a.Reported && !a.Lost && !v.foreign[ref.ActionID] {
			v.w.fail("I3", "the report of %s is called a duplicate, and none was taken", ref.ActionID)
		}
	case replay.NoActiveReplay:
		if r == nil || !r.State.Ended() {
			v.w.fail("I3", "%s is said to have no live replay, and has one", ref.ActionID)
		}
	case replay.UnknownAction:
		if err == nil && a.Dispatches > 0 {
			v.w.fail("I3", "%s is said to be unknown, and was dispatched", ref.ActionID)
		}
	}
}

func (v *witness) deliverLeaves(o *owner, e dispatch.Deliver) {
	d := e.Delivery
	v.w.tell("the server sends %s (%v) to %s", d.AttemptID, d.Reason, e.SessionID)
	r, a, err := v.w.server.disk.action(d.ReplayID, d.ActionID)
	h := v.present(o.machine)
	switch {
	case err != nil || a.AttemptID != d.AttemptID:
		v.w.fail("I9", "%s leaves and is not durable", d.AttemptID)
		return
	case r.State.Ended():
		v.w.fail("I4", "%s leaves and its replay is %v", d.AttemptID, r.State)
	case r.State != replay.Running:
		v.w.fail("I6", "%s leaves and its replay is %v", d.AttemptID, r.State)
	case a.State != replay.ActionDispatched:
		v.w.fail("I5", "%s leaves and is %v", d.AttemptID, a.State)
	case v.attempts[d.AttemptID]:
		v.w.fail("I2", "attempt %s leaves twice", d.AttemptID)
	case h != nil && h.id == e.SessionID && !h.usable:
		v.w.fail("C8", "%s leaves for a desktop that takes no input", d.AttemptID)
	}
	v.attempts[d.AttemptID] = true
	for i := range r.Actions {
		if other := &r.Actions[i]; other.Step == a.Step && other.ID != a.ID && other.State == replay.ActionAcked {
			v.w.fail("3", "%s leaves, and %s is done", d.AttemptID, other.ID)
		}
	}
	for step := range a.Step {
		switch s := r.Current(step).State; s {
		case replay.ActionAcked, replay.ActionSkipped, replay.ActionAbandoned:
		default:
			v.w.fail("I7", "%s leaves while step %d before it is %v", d.AttemptID, step+1, s)
		}
	}
	for _, id := range v.w.server.disk.order {
		if other := v.w.server.disk.folded[id]; other.MachineID == r.MachineID && id != r.ID && other.InFlight >= 0 {
			v.w.fail("I7", "%s leaves while %s has an action in flight", d.AttemptID, id)
		}
	}
}

// answered notes how a command was answered.
func (v *witness) answered(what string, a dispatch.Answer) {
	if a.Err != nil {
		v.w.tell("the server refuses %q: %v", what, a.Err)
	}
}
