package sim

import (
	"errors"
	"time"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

// job is one execution: it looks, writes "started", sends input event after input
// event, and looks again, as package execute does.
type job struct {
	work.Dispatch
	fate  What  // what goes wrong with it; empty: nothing
	cause error // why it was asked to stop; nil: it was not
	began bool
	sent  int // input events
}

// inputs is how many input events an action has.
const inputs = 3

func (a *agent) execute(e runner.Execute) {
	a.w.witness.executes(a, e.Dispatch)
	j := &job{Dispatch: e.Dispatch}
	a.job = j
	a.w.tell("the %s executes %s", a.name, e.Dispatch.AttemptID)
	a.m.desktop.fate = ""
	a.w.hitIn(&a.process, a.m.id, Executes)
	j.fate = a.m.desktop.fate
	took := a.w.between(0, 150*time.Millisecond)
	if j.fate == Slow {
		took = a.w.between(5*time.Second, 50*time.Second)
	}
	a.then(j, took, func() { a.look(j) })
}

// then goes on with a job, unless it is over.
func (a *agent) then(j *job, d time.Duration, do func()) {
	a.w.in(&a.process, d, func() {
		if a.job == j {
			do()
		}
	})
}

// look finds the target, or does not.
func (a *agent) look(j *job) {
	switch {
	case j.cause != nil:
		a.stopped(j)
	case j.fate == NotFound:
		a.finish(j, work.Failure(work.TargetNotFound, work.NotStarted, "not found"))
	case j.fate == WrongWindow:
		a.finish(j, work.Failure(work.WrongWindow, work.NotStarted, "another window"))
	case j.fate == Panics && a.w.chance(2):
		a.panics(j)
	case a.m.desktop.locked:
		a.finish(j, work.Failure(work.DesktopUnavailable, work.NotStarted, "locked"))
	default:
		a.w.hitIn(&a.process, a.m.id, Begins)
		a.vouch(j, func() {
			a.disk.begin(a.started(j))
			a.then(j, a.disk.takes(), func() { a.begun(j) })
		})
	}
}

// vouch goes on with a job once the server vouches for it. Without a stream, and when the
// stream ends first, nothing of it is sent.
func (a *agent) vouch(j *job, do func()) {
	if !a.open {
		a.refuse(j)
		return
	}
	vouched, ask := a.lease.Begins(a.now())
	if ask != 0 {
		a.send(ping{ask})
	}
	if vouched {
		do()
		return
	}
	a.begins = do
}

// unvouched ends the wait for the server when the stream has ended. The executor hears of
// it about when the core does, and a hello may be under way then.
func (a *agent) unvouched() {
	if j := a.job; j != nil && a.begins != nil {
		a.begins = nil
		a.then(j, a.w.between(0, 20*time.Millisecond), func() { a.refuse(j) })
	}
}

// stopWaiting ends the wait for the server when the job is to stop.
func (a *agent) stopWaiting() {
	if j := a.job; a.begins != nil {
		a.begins = nil
		a.lease.Stopped()
		a.then(j, 0, func() { a.stopped(j) })
	}
}

func (a *agent) refuse(j *job) {
	if j.cause != nil {
		a.stopped(j)
		return
	}
	a.finish(j, work.Failure(work.DesktopUnavailable, work.NotStarted, "the server does not vouch for it"))
}

func (a *agent) started(j *job) spool.Record {
	return spool.Record{Type: spool.TypeStarted, Ref: j.Ref, SessionID: j.SessionID, Safe: j.Safe}
}

// begun goes on once "started" is on the disk.
func (a *agent) begun(j *job) {
	if err := a.disk.end(a.started(j)); err != nil {
		a.step(runner.SpoolFailed{Err: err})
		if a.job == j {
			a.finish(j, work.Failure(work.DesktopUnavailable, work.NotStarted, "the spool can't be written"))
		}
		return
	}
	j.began = true
	a.w.hitIn(&a.process, a.m.id, Started)
	a.step(runner.Began{ActionID: j.ActionID})
	if a.job == j {
		a.vouch(j, func() {
			if j.fate == Popup {
				a.closes(j)
				return
			}
			a.input(j)
		})
	}
}

// closes closes a popup, and then looks for the target for a while: the server is asked
// again before the action's own input.
func (a *agent) closes(j *job) {
	a.w.tell("the %s closes a popup for %s", a.name, j.ActionID)
	a.then(j, a.w.between(100*time.Millisecond, 50*time.Second), func() {
		switch {
		case j.cause != nil:
			a.stopped(j)
		case a.m.desktop.locked:
			a.finish(j, work.Failure(work.DesktopUnavailable, work.NotStarted, "locked"))
		default:
			a.vouch(j, func() { a.input(j) })
		}
	})
}

// input sends the next input event; between two it may be stopped.
func (a *agent) input(j *job) {
	switch {
	case j.cause != nil:
		a.stopped(j)
	case j.fate == Hangs && j.sent == 1:
		a.then(j, 10*time.Minute, func() { a.stopped(j) })
	case j.fate == Panics && j.sent == 1:
		a.panics(j)
	case a.m.desktop.locked && j.sent > 0:
		a.down = false
		a.finish(j, work.Failure(work.DesktopUnavailable, work.Unknown, "locked in the middle"))
	case a.m.desktop.locked:
		a.finish(j, work.Failure(work.DesktopUnavailable, work.NotStarted, "locked"))
	default:
		a.w.witness.input(a, j)
		j.sent++
		a.down = j.sent < inputs
		if j.sent == inputs {
			a.w.hitIn(&a.process, a.m.id, InputDone)
			a.then(j, a.w.between(10*time.Millisecond, 800*time.Millisecond), func() { a.seen(j) })
			return
		}
		a.w.hitIn(&a.process, a.m.id, MidInput)
		a.then(j, a.w.between(0, 30*time.Millisecond), func() { a.input(j) })
	}
}

// seen is what came of it.
func (a *agent) seen(j *job) {
	o := work.Outcome{Completion: work.Completed, Effect: work.Seen}
	switch j.fate {
	case VerifyFails:
		o.Code = work.VerifyFailed
	case Swallows:
		o.Warnings = []work.Warning{work.NoScreenChange}
	case NeedsHuman:
		o.NeedsHuman = true
	default:
	}
	a.finish(j, o)
}

func (a *agent) stopped(j *job) {
	code, completion := work.Interrupted, work.NotStarted
	switch {
	case errors.Is(j.cause, work.ErrTimedOut):
		code = work.Timeout
	case errors.Is(j.cause, work.ErrPerson):
		code = work.Person
	}
	switch {
	case j.sent == inputs:
		completion = work.Completed
	case j.sent > 0:
		completion = work.Unknown
	}
	a.down = false
	a.finish(j, work.Failure(code, completion, "stopped"))
}

// panics leaves down what is down.
func (a *agent) panics(j *job) {
	a.job = nil
	a.w.tell("the executor of the %s panics in %s", a.name, j.ActionID)
	a.step(runner.Panicked{ActionID: j.ActionID})
}

func (a *agent) finish(j *job, o work.Outcome) {
	a.job = nil
	a.w.tell("the %s has done %s: %s", a.name, j.ActionID, outcomeOf(o))
	a.step(runner.Finished{ActionID: j.ActionID, Outcome: o})
}
