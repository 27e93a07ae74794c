package dispatch

import (
	"fmt"
	"slices"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// agent is an agent as the contract's section 4 has it, reduced to what the
// server can notice, and the desktop that counts what it does.
type agent struct {
	w       *world
	session string // empty: it has no stream
	opened  int    // streams so far
	boots   int
	spools  int
	memory  map[string]*memory // by action id
	known   []string           // its keys, in the order they came
	held    *Delivery          // received, not started
	busy    *Delivery          // executing
	outcome replay.Report      // of busy, once it is done
	inbox   []Effect           // sent to it, not yet read
	outbox  []Result           // reported, not yet taken
	locked  bool               // the desktop takes no input

	effects map[string]int // by action id, whatever memory the agent had
}

// memory is what an agent's spool says of an action.
type memory struct {
	report replay.Report
	done   bool // there is a result; else it was started
	acked  bool // the server has it
}

func newAgent(w *world) *agent {
	a := &agent{w: w, memory: map[string]*memory{}, effects: map[string]int{}}
	w.deliver = a.sent
	return a
}

func (a *agent) boot() string  { return fmt.Sprintf("boot%d", a.boots) }
func (a *agent) spool() string { return fmt.Sprintf("spool%d", a.spools) }

// sent takes what the server sends on this agent's stream; a stream that was
// closed carries nothing.
func (a *agent) sent(e Effect) {
	switch e := e.(type) {
	case Welcome, Deliver, Ack, CancelAction:
		if sessionOf(e) == a.session {
			a.inbox = append(a.inbox, e)
		}
	case CloseSession:
		if e.SessionID == a.session {
			a.cut()
		}
	}
}

func sessionOf(e Effect) string {
	switch e := e.(type) {
	case Welcome:
		return e.SessionID
	case Deliver:
		return e.SessionID
	case Ack:
		return e.SessionID
	case CancelAction:
		return e.SessionID
	}
	return ""
}

// open opens a stream and says what the agent knows.
func (a *agent) open() {
	a.lose()
	a.opened++
	a.session = fmt.Sprintf("s%d", a.opened)
	in := Open{Session: Session{Session: replay.Session{ID: a.session, BootID: a.boot(), SpoolID: a.spool()}, Usable: !a.locked}}
	if a.busy != nil {
		in.Executing = &Ref{ActionID: a.busy.ActionID, AttemptID: a.busy.AttemptID}
	}
	for _, id := range a.known {
		m := a.memory[id]
		switch {
		case m.done && !m.acked:
			in.Results = append(in.Results, Result{Ref: Ref{ActionID: id}, Report: m.report})
		case !m.done && (a.busy == nil || a.busy.ActionID != id):
			in.Unfinished = append(in.Unfinished, Ref{ActionID: id})
		}
	}
	failing := a.w.fail
	a.w.do(in)
	if failing && !a.w.fail && !a.w.welcomed[a.session] {
		a.lose() // the server closes a stream whose opening was not written
	}
}

// lose is the end of the stream as the agent sees it.
func (a *agent) lose() { a.session, a.held, a.inbox, a.outbox = "", nil, nil, nil }

// cut is the end of the stream, and the server notices.
func (a *agent) cut() {
	session := a.session
	a.lose()
	a.w.do(Closed{SessionID: session})
}

// crash is the end of the process; the server has noticed when it is over.
func (a *agent) crash() {
	a.busy = nil
	a.boots++
	a.cut()
}

// reinstall gives the agent another memory.
func (a *agent) reinstall() {
	a.crash()
	a.spools++
	a.memory, a.known = map[string]*memory{}, nil
}

// read handles the next message from the server.
func (a *agent) read() {
	if len(a.inbox) == 0 {
		return
	}
	e := a.inbox[0]
	a.inbox = a.inbox[1:]
	switch e := e.(type) {
	case Welcome:
		a.welcome(e)
	case Ack:
		if m := a.memory[e.Ref.ActionID]; m != nil && m.done {
			m.acked = true
		}
	case CancelAction:
		a.stop(e)
	case Deliver:
		a.receive(e.Delivery)
	}
}

func (a *agent) welcome(e Welcome) {
	for _, m := range a.memory {
		m.acked = m.acked || m.done // all unacknowledged results were in the hello
	}
	for _, id := range e.Closed {
		a.memory[id].done, a.memory[id].acked = true, true
		a.memory[id].report = a.failure(replay.CodeOutcomeUnknown, replay.CompletionUnknown)
	}
	if a.busy != nil && e.Executing == replay.Stop {
		a.outcome = a.failure(replay.CodeInterrupted, replay.CompletionUnknown)
	}
}

func (a *agent) stop(e CancelAction) {
	if a.busy != nil && a.busy.ReplayID == e.ReplayID && (e.ActionID == "" || e.ActionID == a.busy.ActionID) {
		a.outcome = a.failure(replay.CodeInterrupted, replay.CompletionUnknown)
	}
	if a.held != nil && a.held.ReplayID == e.ReplayID {
		a.held = nil
	}
}

func (a *agent) failure(code string, c replay.Completion) replay.Report {
	return replay.Report{Code: code, Completion: c, SpoolID: a.spool()}
}

// receive is the contract's table of what an agent does with a dispatch.
func (a *agent) receive(d Delivery) {
	m := a.memory[d.ActionID]
	switch {
	case m != nil && m.done:
		a.send(d.ActionID, m.report)
	case a.busy != nil && a.busy.ActionID == d.ActionID:
		a.progress(d.ActionID, pending.Executing)
	case m != nil && !d.Step.Safe:
		a.finish(d.ActionID, a.failure(replay.CodeOutcomeUnknown, replay.CompletionUnknown))
	default:
		a.held = &d
		a.progress(d.ActionID, pending.Received)
	}
}

func (a *agent) progress(id string, p pending.Phase) {
	a.w.do(Progress{SessionID: a.session, ActionID: id, Phase: p})
}

// start starts the action that is held, unless one that it replaces has run.
func (a *agent) start(outcome replay.Report) {
	if a.held == nil || a.busy != nil {
		return
	}
	d := a.held
	a.held = nil
	for _, id := range d.Replaces {
		m := a.memory[id]
		switch {
		case m == nil:
		case m.done && m.report.Completion != replay.CompletionNotStarted:
			a.remember(d.ActionID)
			a.finish(d.ActionID, m.report)
			return
		case !m.done && !d.Step.Safe:
			a.remember(d.ActionID)
			a.finish(d.ActionID, a.failure(replay.CodeOutcomeUnknown, replay.CompletionUnknown))
			return
		}
	}
	if a.locked {
		a.outbox = append(a.outbox, Result{
			Ref: Ref{ActionID: d.ActionID, AttemptID: d.AttemptID}, Report: a.failure(replay.CodeDesktopUnavailable, replay.CompletionNotStarted),
		})
		return
	}
	a.remember(d.ActionID)
	a.busy, a.outcome = d, outcome
	if outcome.Completion != replay.CompletionNotStarted {
		a.effects[d.ActionID]++
	}
}

func (a *agent) remember(id string) {
	if a.memory[id] == nil {
		a.memory[id] = &memory{}
		a.known = append(a.known, id)
	}
}

// end ends the action that is executing.
func (a *agent) end() {
	if a.busy == nil {
		return
	}
	id := a.busy.ActionID
	a.busy = nil
	a.finish(id, a.outcome)
}

func (a *agent) finish(id string, rep replay.Report) {
	rep.SpoolID = a.spool()
	m := a.memory[id]
	m.done, m.report = true, rep
	a.send(id, rep)
}

func (a *agent) send(id string, rep replay.Report) {
	if a.session != "" {
		a.outbox = append(a.outbox, Result{Ref: Ref{ActionID: id}, Report: rep})
	}
}

// hand hands the oldest report to the server, which may get it again later.
func (a *agent) hand(again bool) {
	if len(a.outbox) == 0 {
		return
	}
	res := a.outbox[0]
	if !again {
		a.outbox = slices.Clone(a.outbox[1:])
	}
	a.w.do(Report{SessionID: a.session, Result: res})
}

// check checks what the desktop saw.
func (a *agent) check() {
	a.w.t.Helper()
	for id, n := range a.effects {
		r := a.w.fold(replayOf(id))
		if n > 1 && !r.Steps[r.Find(id).Step].Safe {
			a.w.t.Fatalf("%s touched the desktop %d times", id, n)
		}
	}
}
