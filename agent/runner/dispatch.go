package runner

import (
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

// dispatched takes in what the server asks for. At most one action is received
// and not started: a newer dispatch, of whatever action, replaces it.
func (c *Core) dispatched(now time.Time, d work.Dispatch) []Effect {
	if c.stopping || !c.open {
		return nil // never received: the server asks again
	}
	c.waiting = nil
	if e, ok := c.memory.Get(d.ActionID); ok && (e.State == spool.Finished || e.State == spool.Acknowledged) {
		return []Effect{c.repeat(now, e)}
	}
	if c.running == nil {
		return append([]Effect{received(d)}, c.start(now, d)...)
	}
	if c.runs(d.ActionID) {
		c.running.latest = d.AttemptID
		return []Effect{c.progress(now)}
	}
	if c.running.phase == hanging {
		return []Effect{refuse(d, work.Internal, fmt.Sprintf("action %s does not stop; the desktop does not answer", c.running.ActionID))}
	}
	c.waiting = &d
	return []Effect{received(d)}
}

// repeat answers from memory.
func (c *Core) repeat(now time.Time, e spool.Entry) Effect {
	r := report(e)
	r.Outcome = r.Outcome.Warned(work.AlreadyExecuted)
	if e.State == spool.Acknowledged {
		return SendReport{r} // the server has it; nothing waits for the answer
	}
	return c.send(now, r)
}

// start settles or executes d; nothing runs.
func (c *Core) start(now time.Time, d work.Dispatch) []Effect {
	if d.Invalid != "" {
		return c.answer(d, work.Failure(work.InvalidAction, work.NotStarted, d.Invalid))
	}
	if outcome, settled := c.remembered(d); settled {
		return c.answer(d, outcome)
	}
	if c.broken != nil {
		return []Effect{refuse(d, work.DesktopUnavailable, fmt.Sprintf("the agent cannot keep its journal and executes nothing: %v", c.broken))}
	}
	if c.hold != nil {
		return c.answer(d, work.Failure(work.Person, work.NotStarted, c.hold.message()))
	}
	timeout := d.Timeout
	if timeout <= 0 {
		timeout = c.settings.ActionTimeout
	}
	c.running = &running{
		Dispatch: d, phase: clearing, latest: d.AttemptID,
		progress: now.Add(c.settings.ProgressAfter), deadline: now.Add(timeout),
	}
	if c.keys.releasing || c.keys.held {
		return c.release("it failed before")
	}
	return c.execute()
}

// execute hands the running action over; no key is being let go of.
func (c *Core) execute() []Effect {
	c.running.phase, c.running.busy = executing, true
	return []Effect{Execute{Dispatch: c.running.Dispatch, Settings: c.settings}}
}

// remembered returns the outcome that d has because of what was done before:
// d's own id may have started in a process that died, and the ids that it
// replaces may have run without the server's knowing.
func (c *Core) remembered(d work.Dispatch) (work.Outcome, bool) {
	if e, ok := c.memory.Get(d.ActionID); ok && !d.Safe {
		return unknown(e), true
	}
	for _, id := range d.Replaces {
		e, ok := c.memory.Get(id)
		if !ok || id == d.ActionID {
			continue
		}
		switch e.State {
		case spool.Finished, spool.Acknowledged:
			if e.Outcome.Completion != work.NotStarted {
				return e.Outcome.Warned(work.AlreadyExecuted), true
			}
		case spool.Started, spool.Closed:
			if !e.Safe {
				return unknown(e), true
			}
		}
	}
	return work.Outcome{}, false
}

func unknown(e spool.Entry) work.Outcome {
	return work.Failure(work.OutcomeUnknown, work.Unknown,
		fmt.Sprintf("action %s started and the agent's process ended before its result was known", e.ActionID))
}

// answer stores an outcome without executing; the report follows.
func (c *Core) answer(d work.Dispatch, outcome work.Outcome) []Effect {
	c.running = &running{Dispatch: d, phase: storing, latest: d.AttemptID, outcome: outcome}
	return []Effect{c.running.result()}
}

func (r *running) result() Effect {
	outcome := r.outcome
	return Write{Await: true, Record: spool.Record{
		Type: spool.TypeResult, Ref: r.Ref, SessionID: r.SessionID, Safe: r.Safe, Outcome: &outcome, Masks: r.Action.Masks,
	}}
}

// refuse answers one attempt with something that is no result: it is not
// stored, and the next attempt finds the action unknown.
func refuse(d work.Dispatch, code work.Code, message string) Effect {
	return SendReport{work.Report{
		Ref: d.Ref, SessionID: d.SessionID, Outcome: work.Failure(code, work.NotStarted, message),
	}}
}

func received(d work.Dispatch) Effect { return SendProgress{work.Progress{Ref: d.Ref}} }

// progress says how far the running action is, and when to say so next.
func (c *Core) progress(now time.Time) Effect {
	r := c.running
	r.progress = now.Add(c.settings.ProgressInterval)
	ref := r.Ref
	ref.AttemptID = r.latest
	return SendProgress{work.Progress{Ref: ref, Executing: true, Doing: r.doing}}
}
