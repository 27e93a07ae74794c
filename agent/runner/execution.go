package runner

import (
	"errors"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

func (c *Core) began(actionID string) {
	r := c.running
	if !c.runs(actionID) || !r.busy {
		return
	}
	r.began = true
	if r.phase == executing {
		c.memory.Apply(spool.Record{Type: spool.TypeStarted, Ref: r.Ref, SessionID: r.SessionID, Safe: r.Safe, Masks: r.Action.Masks})
	}
}

func (c *Core) finished(now time.Time, e Finished) []Effect {
	r := c.running
	if !c.runs(e.ActionID) || !r.busy {
		return nil
	}
	r.busy = false
	switch r.phase {
	case hanging:
		return c.free(now)
	case executing:
	default:
		return nil // reported as hanging, and it returned while that was being stored
	}
	r.outcome = settle(e.Outcome)
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

// interrupt asks the executor to stop at its next safe point, once.
func (c *Core) interrupt(now time.Time, cause error) []Effect {
	r := c.running
	if r.phase != executing || r.cause != nil {
		return nil
	}
	r.cause, r.hang = cause, now.Add(hangTime)
	return []Effect{Stop{cause}}
}

func (c *Core) stop(now time.Time) []Effect {
	c.stopping, c.waiting = true, nil
	if c.running == nil || c.running.phase != executing {
		return nil
	}
	if c.running.Safe {
		return c.interrupt(now, work.ErrInterrupted)
	}
	c.running.drain = now.Add(drainTime)
	return nil
}

func (c *Core) due(now time.Time) []Effect {
	past := func(t time.Time) bool { return !t.IsZero() && !t.After(now) }
	var effects []Effect
	if r := c.running; r != nil && r.phase == executing {
		switch {
		case r.cause != nil && past(r.hang):
			effects = append(effects, c.hang())
		case r.cause == nil && past(r.deadline):
			effects = append(effects, c.interrupt(now, work.ErrTimedOut)...)
		case r.cause == nil && past(r.drain):
			effects = append(effects, c.interrupt(now, work.ErrInterrupted)...)
		}
		if c.open && r.phase == executing && past(r.progress) {
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
	return effects
}

// hang reports an action whose executor does not stop.
func (c *Core) hang() Effect {
	r := c.running
	code, completion := work.Interrupted, work.NotStarted
	if errors.Is(r.cause, work.ErrTimedOut) {
		code = work.Timeout
	}
	if r.began {
		completion = work.Unknown
	}
	r.phase, r.outcome = storing, work.Failure(code, completion, "the action did not stop; the desktop does not answer")
	return r.result()
}
