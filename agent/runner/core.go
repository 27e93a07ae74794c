// Package runner decides what the agent does with what the server sends: what
// is executed, what is answered from memory, what is reported and when, and when
// keys that may be down are let go of. Core is the decision, a function of the
// time and one event at a time; Runner carries it out. It knows neither the schema
// nor the desktop: link brings the stream, an Executor the hands.
package runner

import (
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

const (
	// drainTime is how long an action may go on after the process is asked to end.
	drainTime = 5 * time.Second
	// hangTime is how long an executor may take to stop. After it the action is
	// reported, and nothing is executed while the executor hangs.
	hangTime = 5 * time.Second
	// mendTime is how long to wait before a spool is written again.
	mendTime = 10 * time.Second
	// shownPauses is how many pauses are remembered as shown.
	shownPauses = 64
)

// phase is how far the action is that holds the machine.
type phase int

const (
	clearing    phase = iota + 1 // keys that may be down are let go of before it
	executing                    // the executor has it
	settling                     // the executor panicked, and keys are let go of
	storing                      // its result is on the way to the disk
	withdrawing                  // nothing was sent: its "started" is being taken back
	hanging                      // reported, and the executor does not return
)

// running is the action that holds the machine.
type running struct {
	work.Dispatch
	phase    phase
	latest   string // the newest attempt that asked for it
	doing    string
	began    bool      // "started" is on the disk
	progress time.Time // when to say so next
	deadline time.Time
	drain    time.Time // when it is stopped because the process ends; zero: not
	cause    error     // why it was asked to stop; nil: not
	hang     time.Time // when it counts as hanging
	busy     bool      // the executor has not returned, or panicked and left keys down
	panicked bool      // it did, and they are being let go of
	outcome  work.Outcome
	silent   bool // nothing is reported when it is withdrawn
}

// Core is the agent's state. It is used by one goroutine; the zero value is of
// no use.
type Core struct {
	keep     int
	settings work.Settings
	memory   *spool.Memory
	running  *running
	waiting  *work.Dispatch // received and not started
	open     bool
	leaving  bool                 // the server wants to go
	stopping bool                 // the process ends
	sent     map[string]time.Time // reports on this stream without an answer
	unsaid   *work.Report         // an unstored answer to what a hello under way names as executing
	shown    []string
	pauses   []work.Pause // that are not over, as far as this stream said
	hold     *hold        // nothing is executed because of the person at the machine; nil: not so
	broken   error        // why the spool can't be written
	mend     time.Time
	keys     keys
}

// NewCore returns a core that knows what memory holds and remembers keep
// actions.
func NewCore(memory *spool.Memory, keep int) *Core {
	if keep <= 0 {
		keep = spool.DefaultKeep
	}
	return &Core{
		keep: keep, settings: work.Settings{}.WithDefaults(),
		memory: memory.Clone(), sent: map[string]time.Time{}, hold: holdOf(memory),
	}
}

// Step takes in one event and returns what is to be done. Late, repeated and
// unexpected events change nothing.
func (c *Core) Step(now time.Time, event Event) []Effect {
	effects := append(c.step(now, event), c.ending(now)...)
	c.memory.Trim(c.keep)
	if c.leaving && c.open && c.Idle() && len(c.memory.In(spool.Finished)) == 0 {
		c.leaving = false
		effects = append(effects, Reopen{Reason: "the server goes away and nothing is in flight"})
	}
	return effects
}

func (c *Core) step(now time.Time, event Event) []Effect {
	switch e := event.(type) {
	case Opened:
		return c.opened(now, e)
	case Lost:
		c.open, c.leaving, c.waiting = false, false, nil
		c.pauses = nil // the next stream says which there are
		if c.running != nil && c.running.phase == clearing {
			c.running = nil // received and not started, as what waits
		}
		clear(c.sent)
	case Dispatched:
		return c.dispatched(now, e.Dispatch)
	case Acked:
		return c.acked(e.Ack)
	case Cancelled:
		return c.cancelled(now, e)
	case Paused:
		return c.paused(e.Pause)
	case Resumed:
		return c.resumed(e)
	case PersonActs:
		return c.personActs(now, e)
	case GoingAway:
		c.leaving = true
	case Began:
		c.began(e.ActionID)
	case Doing:
		if c.runs(e.ActionID) {
			c.running.doing = e.Text
		}
	case Finished:
		return c.finished(now, e)
	case Panicked:
		return c.panicked(e)
	case Released:
		return c.released(now, e)
	case Stored:
		return c.stored(now, e)
	case SpoolFailed:
		c.fail(now, e.Err)
	case SpoolMended:
		c.broken, c.mend = nil, time.Time{}
	case Due:
		return c.due(now)
	case Starting:
		return c.starting(now, e)
	case Stopping:
		return c.stop(now)
	}
	return nil
}

// Idle says whether no action is being executed or stored. A hanging executor
// counts as idle: all that can be said of its action has been said.
func (c *Core) Idle() bool { return c.running == nil || c.running.phase == hanging }

// working says whether the action is neither done nor given up.
func (r *running) working() bool { return r.phase <= settling }

// Impaired returns why the spool can't be written; nil: it can, as far as is
// known. Nothing is executed while it can't.
func (c *Core) Impaired() error { return c.broken }

// Remembered is how many actions the core knows.
func (c *Core) Remembered() int { return c.memory.Len() }

// Next returns when Due is to come; zero means that nothing is due.
func (c *Core) Next() time.Time {
	var next time.Time
	add := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if r := c.running; r != nil && r.working() {
		if c.open {
			add(r.progress)
		}
		if r.cause == nil {
			add(r.deadline)
			add(r.drain)
		} else {
			add(r.hang)
		}
	}
	for _, at := range c.sent {
		add(at.Add(c.settings.ReportAck))
	}
	if !c.writing() {
		add(c.mend)
	}
	add(c.nextRelease())
	return next
}

func (c *Core) opened(now time.Time, e Opened) []Effect {
	c.open, c.leaving, c.settings = true, false, e.Settings.WithDefaults()
	clear(c.sent)
	var effects []Effect
	for _, a := range e.Acks {
		effects = append(effects, c.acked(a)...)
	}
	for _, id := range e.Closed {
		if entry, ok := c.memory.Get(id); ok && entry.State == spool.Started && !c.runs(id) {
			effects = append(effects, c.write(spool.Record{Type: spool.TypeClosed, Ref: entry.Ref}))
		}
	}
	if c.running != nil && e.Stop {
		effects = append(effects, c.interrupt(now, work.ErrInterrupted)...)
	}
	if c.running != nil && c.running.working() {
		effects = append(effects, c.progress(now))
	}
	if c.unsaid != nil {
		effects = append(effects, SendReport{*c.unsaid})
		c.unsaid = nil
	}
	effects = append(effects, c.tellHold()...)
	// What finished since the opening was written, and what the server did not
	// answer.
	for _, entry := range c.memory.In(spool.Finished) {
		effects = append(effects, c.send(now, report(entry)))
	}
	return effects
}

// acked forgets the duty to report. The answer must be to the report of the
// attempt that was stored: one to an attempt that found the desktop unusable
// says nothing of a later result.
func (c *Core) acked(a Ack) []Effect {
	e, ok := c.memory.Get(a.ActionID)
	if !ok || e.State != spool.Finished || (a.AttemptID != "" && a.AttemptID != e.AttemptID) {
		return nil
	}
	delete(c.sent, a.ActionID)
	effects := []Effect{c.write(spool.Record{Type: spool.TypeAcknowledged, Ref: e.Ref})}
	if e.Outcome.Code == work.Person {
		effects = append(effects, c.lift()...) // its replay is paused
	}
	return effects
}

// write puts a record that nothing waits for into the memory and on the disk.
func (c *Core) write(r spool.Record) Effect {
	c.memory.Apply(r)
	return Write{Record: r}
}

// send sends a report and expects its answer, from when this stream carried it first:
// to say it again is not to wait anew.
func (c *Core) send(now time.Time, r work.Report) Effect {
	if _, waits := c.sent[r.ActionID]; !waits {
		c.sent[r.ActionID] = now
	}
	return SendReport{r}
}

// fail notes that the spool can't be written. The first reason counts: what fails
// after it, fails because of it.
func (c *Core) fail(now time.Time, err error) {
	if c.broken == nil {
		c.broken = err
	}
	if c.mend.IsZero() {
		c.mend = now.Add(mendTime)
	}
}

// writing says whether a record is on its way to the disk that the memory does
// not hold yet.
func (c *Core) writing() bool {
	return c.running != nil && (c.running.phase == storing || c.running.phase == withdrawing)
}

func (c *Core) runs(actionID string) bool { return c.running != nil && c.running.ActionID == actionID }

func report(e spool.Entry) work.Report {
	return work.Report{Ref: e.Ref, SessionID: e.SessionID, Outcome: e.Outcome}
}
