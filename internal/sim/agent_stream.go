package sim

import (
	"time"

	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/liveness"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// dial opens a stream.
func (a *agent) dial() {
	if a.conn != nil || a.stopping > 0 {
		return
	}
	c := a.w.connect(a.m, &a.process)
	if c == nil {
		a.w.in(&a.process, a.w.latency(), func() { a.again(0) })
		return
	}
	a.conn = c
	c.toAgent = func(msg any) { a.hear(c, msg) }
	c.toServer = func(any) {}
	h := a.hello()
	a.w.witness.hails(a, h.results)
	a.hailed = a.now()
	c.carryUp(dialled{c})
	c.toServer = func(msg any) {
		if d, ok := msg.(dialled); ok {
			a.w.server.accept(d.c)
		}
	}
	c.up(h)
	a.w.hitIn(&a.process, a.m.id, HelloSent)
	a.w.in(&a.process, agentOpenTimeout, func() {
		if a.conn == c && !a.open {
			a.lost("it did not open in time")
		}
	})
}

// dialled is a connection that has come to the server.
type dialled struct{ c *conn }

func (a *agent) hello() hello {
	o := a.core.Hail()
	usable := !a.m.desktop.locked
	a.told = &usable
	h := hello{results: o.Results, open: dispatch.Open{Session: dispatch.Session{
		Session: replay.Session{SpoolID: a.disk.id, BootID: a.bootID, Clean: a.clean}, Usable: usable,
	}}}
	if o.Executing != nil {
		h.open.Executing = &dispatch.Ref{ActionID: o.Executing.ActionID, AttemptID: o.Executing.AttemptID}
	}
	for _, u := range o.Unfinished {
		h.open.Unfinished = append(h.open.Unfinished, dispatch.Ref{ActionID: u.ActionID, AttemptID: u.AttemptID})
	}
	for _, r := range o.Results {
		h.open.Results = append(h.open.Results, result(r, a.disk.id))
	}
	return h
}

// again dials once more, after a wait that grows.
func (a *agent) again(lived time.Duration) {
	wait := a.retry.Wait(link.Ending{Lived: lived, After: a.after}, a.w.rng.Float64())
	a.after = 0
	a.w.in(&a.process, wait, a.dial)
}

// lost is the end of the stream as the agent sees it.
func (a *agent) lost(why string) {
	if a.conn == nil {
		return
	}
	a.w.tell("the %s has no stream any more: %s", a.name, why)
	a.conn.closeByAgent()
	wasOpen, lived := a.open, a.w.now-a.opened
	a.conn, a.open, a.told = nil, false, nil
	a.w.witness.streamLost(a)
	if !wasOpen {
		lived = 0
	}
	a.unvouched()
	a.again(lived)
	if wasOpen {
		a.step(runner.Lost{})
	}
}

// hear takes what the server says.
func (a *agent) hear(c *conn, msg any) {
	if a.conn != c {
		return // of a stream that it has left
	}
	a.heard = a.w.now
	switch m := msg.(type) {
	case gone:
		a.lost(m.why)
	case welcome:
		a.welcome(m)
	case dispatch.Deliver:
		a.w.tell("the %s receives %s", a.name, m.Delivery.AttemptID)
		a.w.hitIn(&a.process, a.m.id, Received)
		counts, ask := a.lease.Dispatched(a.now(), dispatched(m))
		if ask != 0 {
			a.send(ping{ask})
		}
		if !counts {
			a.send(work.Progress{Ref: work.Ref{ReplayID: m.Delivery.ReplayID, ActionID: m.Delivery.ActionID, AttemptID: m.Delivery.AttemptID}})
			return
		}
		a.step(runner.Dispatched{Dispatch: dispatched(m)})
	case dispatch.Ack:
		if m.Ref.ActionID == a.said {
			a.lease.Answered(a.saidAt)
		}
		a.w.hitIn(&a.process, a.m.id, AckCame)
		a.step(runner.Acked{Ack: runner.Ack{ActionID: m.Ref.ActionID, AttemptID: m.Ref.AttemptID}})
	case dispatch.ShowPause:
		a.step(runner.Paused{Pause: work.Pause{ReplayID: m.ReplayID, PauseID: m.Pause.ID, Reason: m.Pause.Reason}})
	case dispatch.EndPause:
		a.step(runner.Resumed{ReplayID: m.ReplayID, PauseID: m.PauseID})
	case dispatch.CancelAction:
		a.lease.Cancelled(m.ReplayID, m.ActionID)
		a.step(runner.Cancelled{ReplayID: m.ReplayID, ActionID: m.ActionID})
		a.w.witness.cancelled(a, m)
	case goAway:
		a.after = max(m.after, time.Millisecond)
		a.step(runner.GoingAway{})
	case ping:
		a.send(pong(m))
	case pong:
		a.answered(m.number)
	}
}

func (a *agent) answered(number uint64) {
	a.pings.Pong(a.now(), number)
	v := a.lease.Pong(a.now(), number)
	if v.Ping != 0 {
		a.send(ping{v.Ping})
	}
	if v.Begins && a.begins != nil {
		do := a.begins
		a.begins = nil
		do()
	}
	if v.Dispatch != nil {
		a.step(runner.Dispatched{Dispatch: *v.Dispatch})
	}
}

func (a *agent) welcome(m welcome) {
	e := runner.Opened{Stop: m.Executing == replay.Stop, Closed: m.Closed}
	for i, v := range m.Verdicts {
		if acknowledged(v) {
			e.Acks = append(e.Acks, runner.Ack{ActionID: m.results[i].ActionID, AttemptID: m.results[i].AttemptID})
		}
	}
	a.open, a.opened, a.session = true, a.w.now, m.SessionID
	a.w.witness.streamOpened(a)
	a.pings = liveness.New(a.now(), pingInterval, pingTimeout)
	a.lease, a.said = link.NewLease(a.hailed, pingTimeout), ""
	a.attend(a.conn)
	a.step(e)
}

// attend pings.
func (a *agent) attend(c *conn) {
	a.w.in(&a.process, a.clock.until(a.w.now, a.pings.Next()), func() {
		if a.conn != c {
			return
		}
		number, dead := a.pings.Due(a.now())
		if dead {
			a.lost("the server does not answer pings")
			return
		}
		if number > 0 {
			c.up(ping{number})
		}
		a.attend(c)
	})
}

// poll tells the server of the desktop what it does not know yet.
func (a *agent) poll() {
	a.w.in(&a.process, time.Second, func() {
		if usable := !a.m.desktop.locked; a.open && (a.told == nil || *a.told != usable) {
			a.told = &usable
			a.send(desktopState{usable})
		}
		a.poll()
	})
}

func dispatched(m dispatch.Deliver) work.Dispatch {
	d := m.Delivery
	return work.Dispatch{
		Ref:       work.Ref{ReplayID: d.ReplayID, ActionID: d.ActionID, AttemptID: d.AttemptID},
		SessionID: m.SessionID, Replaces: d.Replaces, Safe: d.Step.Safe,
		Action: work.Action{Kind: d.Step.Kind},
	}
}
