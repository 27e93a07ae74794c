package sim

import (
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/liveness"
)

// agentOpenTimeout is how long a stream may take from the dial to the welcome.
const agentOpenTimeout = 10 * time.Second

// agent is an agent's process, its disk and its way to the server.
type agent struct {
	process
	w     *world
	m     *machine
	clock clock
	disk  *spoolDisk

	core     *runner.Core
	bootID   string
	clean    bool // the process before ended in order
	conn     *conn
	open     bool
	session  string
	opened   time.Duration
	pings    *liveness.Pings
	lease    link.Lease
	hailed   time.Time // when the hello was said
	said     string    // the action that was reported last, and when
	saidAt   time.Time
	retry    link.Retry
	after    time.Duration // when the server asked it to come back
	heard    time.Duration // when the server said something last
	backlog  []runner.Effect
	writing  bool
	job      *job
	begins   func() // what the job does once the server vouches for it; nil: it does not wait for that
	timer    int
	clearing bool          // keys are being let go of
	stopping time.Duration // when it comes back, once it has stopped in order; 0: it runs on
	down     bool          // a key or a button is held; it outlives the process
	told     *bool         // what the server was told of the desktop last; nil: is to be told
}

func newAgent(w *world, m *machine, spoolID, name string) *agent {
	a := &agent{w: w, m: m, process: process{name: name}, disk: newSpoolDisk(w, spoolID)}
	a.clock = clock{offset: w.between(-time.Hour, time.Hour), drift: float64(w.between(-1000, 1000)) / 1e6}
	return a
}

// boot starts the agent's process from its disk.
func (a *agent) boot() {
	a.start()
	a.bootID = fmt.Sprintf("%s.%d", a.disk.id, a.gen)
	a.clean, a.disk.clean = a.disk.clean, false
	a.core = runner.NewCore(a.disk.memory, a.w.plan.Policy.Remember)
	a.conn, a.open, a.retry, a.after = nil, false, link.Retry{}, 0
	a.clearing, a.begins = false, nil
	a.backlog, a.writing, a.job, a.stopping, a.told = nil, false, nil, 0, nil
	a.w.witness.agentStarted(a)
	a.w.tell("the %s starts with %s", a.name, a.disk.id)
	e := runner.Starting{Crashed: !a.clean, Fresh: a.disk.fresh}
	a.disk.fresh = false
	if a.disk.broken {
		e.Broken = errSpoolFull
	}
	a.step(e)
	a.w.in(&a.process, 0, a.dial)
	a.poll()
}

func (a *agent) now() time.Time { return a.clock.at(a.w.now) }

// step lets the core take in an event and carries out what it decides.
func (a *agent) step(e runner.Event) {
	if d, ok := e.(runner.Dispatched); ok {
		a.w.witness.receives(a, d.Dispatch)
	}
	for _, effect := range a.core.Step(a.now(), e) {
		a.carryOut(effect)
	}
	a.w.witness.agentStepped(a)
	a.serveDisk()
	a.arm()
	a.leave()
}

// arm sets the timer to the core's next deadline.
func (a *agent) arm() {
	a.timer++
	next := a.core.Next()
	if next.IsZero() {
		return
	}
	mine := a.timer
	a.w.in(&a.process, a.clock.until(a.w.now, next), func() {
		if mine == a.timer {
			a.step(runner.Due{})
		}
	})
}

func (a *agent) carryOut(effect runner.Effect) {
	switch e := effect.(type) {
	case runner.Execute:
		a.execute(e)
	case runner.Stop:
		if a.job != nil {
			a.w.tell("%s is asked to stop: %v", a.job.ActionID, e.Cause)
			a.job.cause = e.Cause
			a.stopWaiting()
		}
	case runner.Write:
		if e.Record.Type == spool.TypeAcknowledged {
			a.w.witness.forgets(a, e.Record)
		}
		a.backlog = append(a.backlog, e)
	case runner.Mend:
		a.backlog = append(a.backlog, e)
	case runner.SendReport:
		a.w.witness.reports(a, e.Report)
		if e.Outcome.Code == work.DesktopUnavailable {
			a.told = nil
		}
		a.send(report{e.Report, a.disk.id})
		if a.said != e.ActionID {
			a.said, a.saidAt = e.ActionID, a.now()
		}
		a.w.tell("the %s reports %s: %s", a.name, e.ActionID, outcomeOf(e.Outcome))
		a.w.hitIn(&a.process, a.m.id, ReportSent)
	case runner.SendProgress:
		a.w.witness.progresses(a)
		a.send(e.Progress)
	case runner.SendPerson:
		a.w.tell("the person at the %s asks to %v", a.name, e.Wish)
		a.send(e)
	case runner.GoOn:
		a.w.witness.goesOn(a)
	case runner.Reopen:
		a.w.tell("the %s opens the stream anew: %s", a.name, e.Reason)
		a.lost("it opens it anew")
	case runner.Show:
		a.w.witness.shows(a, e.PauseID)
	case runner.Release:
		a.clearing = true
		a.w.in(&a.process, time.Millisecond, func() {
			a.down = false
			a.step(runner.Released{})
			a.clearing = false
		})
	case runner.Hide:
	}
}

func (a *agent) send(msg any) {
	if a.open {
		a.conn.up(msg)
	}
}

// serveDisk carries out the writes, one after the other.
func (a *agent) serveDisk() {
	if a.writing || len(a.backlog) == 0 {
		return
	}
	effect := a.backlog[0]
	a.backlog = a.backlog[1:]
	a.writing = true
	if w, ok := effect.(runner.Write); ok {
		if w.Record.Type == spool.TypeResult {
			a.w.hitIn(&a.process, a.m.id, ResultReady)
		}
		a.disk.begin(w.Record)
	}
	a.w.in(&a.process, a.disk.takes(), func() {
		a.writing = false
		if e := a.wrote(effect); e != nil {
			a.step(e)
			return
		}
		a.serveDisk()
		a.leave()
	})
}

// wrote ends a write and returns the event that follows; nil: none.
func (a *agent) wrote(effect runner.Effect) runner.Event {
	switch e := effect.(type) {
	case runner.Mend:
		if a.disk.rewrite(e.Memory) == nil {
			return runner.SpoolMended{}
		}
	case runner.Write:
		err := a.disk.end(e.Record)
		if e.Record.Type == spool.TypeResult && err == nil {
			a.w.hitIn(&a.process, a.m.id, ResultStored)
		}
		switch {
		case e.Await:
			return runner.Stored{ActionID: e.Record.ActionID, Err: err}
		case err != nil:
			return runner.SpoolFailed{Err: err}
		}
	}
	return nil
}

// crash is kill -9: the connection's other end is told, unless the power went.
func (a *agent) crash(back time.Duration, silent bool) {
	if !a.alive {
		return
	}
	a.w.tell("the %s is killed", a.name)
	for _, c := range a.m.wire.of(&a.process) {
		if silent {
			c.cut = true
			c.breakForServer(back + a.w.between(time.Second, 10*time.Second))
		} else {
			c.closeByAgent()
		}
	}
	a.w.witness.agentDies(a)
	a.disk.crash()
	a.kill()
	if back > 0 {
		a.w.after(back, a.boot)
	}
	a.w.killed(&a.process)
}

// stop asks the agent to end in order.
func (a *agent) stop(back time.Duration) {
	if !a.alive || a.stopping > 0 {
		return
	}
	a.w.tell("the %s is stopped in order", a.name)
	a.stopping = back
	a.step(runner.Stopping{})
}

// leave ends the process once all that is to be done before is done.
func (a *agent) leave() {
	if a.stopping == 0 || !a.alive || a.writing || len(a.backlog) > 0 || !a.core.Idle() {
		return
	}
	a.w.in(&a.process, 10*time.Millisecond, func() {
		back := a.stopping
		if a.writing || len(a.backlog) > 0 || !a.core.Idle() || a.disk.broken {
			if a.disk.broken {
				a.stopping = 0
				a.crash(back, false)
			}
			return
		}
		if a.conn != nil {
			a.conn.closeByAgent()
		}
		a.disk.sync()
		a.disk.clean = true
		a.down = false
		a.w.witness.agentDies(a)
		a.kill()
		a.w.tell("the %s has ended in order", a.name)
		a.w.after(back, a.boot)
	})
}
