package runner

import (
	"errors"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

func (c *Core) began(actionID string) {
	c.keys.pressed = true
	r := c.running
	if !c.runs(actionID) || !r.busy {
		return
	}
	r.began = true
	if r.working() {
		c.memory.Apply(spool.Record{Type: spool.TypeStarted, Ref: r.Ref, SessionID: r.SessionID, Safe: r.Safe, Masks: r.Action.Masks})
	}
}

func (c *Core) finished(now time.Time, e Finished) []Effect {
	r := c.running
	if !c.runs(e.ActionID) || !r.busy || r.panicked {
		return nil
	}
	return c.returned(now, e.Outcome)
}

// panicked lets go of what the executor may have left down, before the result says
// that the action is over: a process that dies in between would not know of it.
func (c *Core) panicked(e Panicked) []Effect {
	r := c.running
	if !c.runs(e.ActionID) || !r.busy || r.panicked {
		return nil
	}
	r.panicked = true
	if r.phase == executing {
		r.phase, r.outcome = settling, work.Failure(work.Internal, r.sent(), "the agent's executor panicked")
	}
	return c.release("the executor panicked")
}

// sent says how much of the action's input has left, when the executor does not.
func (r *running) sent() work.Completion {
	if r.began {
		return work.Unknown
	}
	return work.NotStarted
}

// returned takes in the outcome of an executor that has returned and left no key
// down.
func (c *Core) returned(now time.Time, outcome work.Outcome) []Effect {
	r := c.running
	r.busy = false
	switch {
	case r.phase == hanging:
		return c.free(now)
	case !r.working():
		return nil // reported as hanging, and it returned while that was being stored
	}
	return c.conclude(now, outcome)
}

// conclude brings the running action to its end; no executor has it.
func (c *Core) conclude(now time.Time, outcome work.Outcome) []Effect {
	r := c.running
	r.outcome = settle(outcome)
	switch {
	case r.outcome.Code == work.DesktopUnavailable:
		return c.withdraw(now)
	case c.stopping && r.outcome.Code == work.Interrupted && (r.Safe || r.outcome.Completion == work.NotStarted):
		r.silent = true // the next process is asked again
		return c.withdraw(now)
	}
	r.phase = storing
	return []Effect{r.result()}
}

// settle keeps an unusable desktop from being taken for "nothing happened" when
// input had already left.
func settle(o work.Outcome) work.Outcome {
	if o.Code == work.DesktopUnavailable && o.Completion != work.NotStarted {
		o.Code, o.Completion = work.OutcomeUnknown, work.Unknown
	}
	return o
}

// withdraw makes the action as if it had never been seen.
func (c *Core) withdraw(now time.Time) []Effect {
	r := c.running
	if !r.began {
		return c.withdrawn(now)
	}
	r.phase = withdrawing
	return []Effect{Write{Await: true, Record: spool.Record{Type: spool.TypeWithdrawn, Ref: r.Ref}}}
}

func (c *Core) withdrawn(now time.Time) []Effect {
	r := c.running
	answer := work.Report{Ref: r.Ref, SessionID: r.SessionID, Outcome: r.outcome}
	switch {
	case r.silent:
		return c.free(now)
	case !c.open:
		c.unsaid = &answer
		return c.free(now)
	}
	return append([]Effect{SendReport{answer}}, c.free(now)...)
}

// stored goes on when a write is done. When it failed, what is known is told
// from memory all the same: the report is true, and nothing else is executed.
func (c *Core) stored(now time.Time, e Stored) []Effect {
	r := c.running
	if e.Err != nil {
		c.fail(now, e.Err)
	}
	if !c.runs(e.ActionID) {
		return nil
	}
	switch r.phase {
	case withdrawing:
		c.memory.Apply(spool.Record{Type: spool.TypeWithdrawn, Ref: r.Ref})
		return c.withdrawn(now)
	case storing:
	default:
		return nil
	}
	outcome := r.outcome
	c.memory.Apply(spool.Record{
		Type: spool.TypeResult, Ref: r.Ref, SessionID: r.SessionID, Safe: r.Safe, Outcome: &outcome, Masks: r.Action.Masks,
	})
	var effects []Effect
	if entry, ok := c.memory.Get(r.ActionID); ok && c.open {
		effects = append(effects, c.send(now, report(entry)))
	}
	if r.busy {
		r.phase = hanging
		return effects
	}
	return append(effects, c.free(now)...)
}

// free lets the machine go to the action that waits.
func (c *Core) free(now time.Time) []Effect {
	c.running = nil
	if c.waiting == nil {
		return nil
	}
	next := *c.waiting
	c.waiting = nil
	return c.start(now, next)
}

func (c *Core) cancelled(now time.Time, e Cancelled) []Effect {
	meant := func(r work.Ref) bool {
		return r.ReplayID == e.ReplayID && (e.ActionID == "" || e.ActionID == r.ActionID)
	}
	if c.waiting != nil && meant(c.waiting.Ref) {
		c.waiting = nil
	}
	if c.running != nil && meant(c.running.Ref) {
		return c.interrupt(now, work.ErrInterrupted)
	}
	return nil
}

// interrupt asks the executor to stop at its next safe point, once. An action that
// no executor has yet is over at once.
func (c *Core) interrupt(now time.Time, cause error) []Effect {
	r := c.running
	if r.cause != nil || !r.working() {
		return nil
	}
	r.cause, r.hang = cause, now.Add(hangTime)
	switch r.phase {
	case clearing:
		return c.conclude(now, work.Failure(r.code(), work.NotStarted, "stopped before it began: keys that may be down were still to be let go of"))
	case executing:
		return []Effect{Stop{cause}}
	}
	return nil // it panicked: nothing is left that could stop
}

// code is what an action that was stopped reports.
func (r *running) code() work.Code {
	switch {
	case errors.Is(r.cause, work.ErrTimedOut):
		return work.Timeout
	case errors.Is(r.cause, work.ErrPerson):
		return work.Person
	}
	return work.Interrupted
}

func (c *Core) stop(now time.Time) []Effect {
	c.stopping, c.waiting = true, nil
	if c.running == nil || !c.running.working() {
		return nil
	}
	if c.running.Safe || c.running.phase == clearing {
		return c.interrupt(now, work.ErrInterrupted)
	}
	c.running.drain = now.Add(drainTime)
	return nil
}

func (c *Core) due(now time.Time) []Effect {
	past := func(t time.Time) bool { return !t.IsZero() && !t.After(now) }
	var effects []Effect
	if r := c.running; r != nil && r.working() {
		switch {
		case r.cause != nil && past(r.hang):
			effects = append(effects, c.hang()...)
		case r.cause == nil && past(r.deadline):
			effects = append(effects, c.interrupt(now, work.ErrTimedOut)...)
		case r.cause == nil && past(r.drain):
			effects = append(effects, c.interrupt(now, work.ErrInterrupted)...)
		}
		if c.open && r.working() && past(r.progress) {
			effects = append(effects, c.progress(now))
		}
	}
	for _, at := range c.sent {
		if past(at.Add(c.settings.ReportAck)) {
			clear(c.sent) // once: the new stream's opening says them again
			effects = append(effects, Reopen{Reason: "a report was not acknowledged in time"})
			break
		}
	}
	if past(c.mend) && !c.writing() {
		c.mend = now.Add(mendTime)
		effects = append(effects, Mend{Memory: c.memory.Clone()})
	}
	return append(effects, c.dueRelease(now)...)
}

// hang reports an action whose executor does not stop, or whose keys are not let go
// of after it panicked. An executor that hangs may hold a key down: the desktop is
// asked to let go of it all the same.
func (c *Core) hang() []Effect {
	r := c.running
	var effects []Effect
	if r.phase == executing {
		r.outcome = work.Failure(r.code(), r.sent(), "the action did not stop; the desktop does not answer")
		if r.began {
			effects = c.release("the executor hangs")
		}
	}
	r.phase = storing
	return append(effects, r.result())
}
