package sim

import (
	"time"

	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/server/dispatch"
)

// wire is the way between a machine and the server.
type wire struct {
	conns              []*conn
	downUntil, upUntil time.Duration // until then nothing arrives there
	lossyUntil         time.Duration // until then messages get lost
	slowUntil          time.Duration // until then everything takes long
	twiceDown, twiceUp int           // so many messages arrive twice
}

// conn is one connection with one stream on it. Each way keeps its order; what is
// sent before an end closes arrives before the other hears of it.
type conn struct {
	w            *world
	m            *machine
	agent        *process
	agentGen     int
	server       *process
	serverGen    int
	toAgent      func(any)
	toServer     func(any)
	freeDown     time.Duration // when the last message arrives
	freeUp       time.Duration
	cut          bool
	agentClosed  bool
	serverClosed bool
}

// gone is what an end hears when the other one has closed, or the connection broke.
type gone struct{ why string }

func (w *world) latency() time.Duration {
	if w.chance(20) {
		return w.between(time.Millisecond, 300*time.Millisecond)
	}
	return w.between(50*time.Microsecond, 2*time.Millisecond)
}

func (c *conn) latency() time.Duration {
	if c.w.now < c.m.wire.slowUntil {
		return c.w.between(500*time.Millisecond, 2*time.Second)
	}
	return c.w.latency()
}

// connect makes a connection from an agent to the server; nil: nobody listens.
func (w *world) connect(m *machine, a *process) *conn {
	if !w.server.alive || w.server.stopping {
		return nil
	}
	c := &conn{w: w, m: m, agent: a, agentGen: a.gen, server: &w.server.process, serverGen: w.server.gen}
	m.wire.conns = append(m.wire.conns, c)
	return c
}

// down sends to the agent.
func (c *conn) down(msg any) {
	if c.serverClosed || c.loses(msg) {
		return
	}
	times := 1
	if c.m.wire.twiceDown > 0 {
		c.m.wire.twiceDown--
		times = 2
	}
	for range times {
		c.carryDown(msg)
	}
}

// loses says whether a message vanishes, as it does in an agent or a proxy with a
// fault of its own.
func (c *conn) loses(msg any) bool {
	if c.w.now >= c.m.wire.lossyUntil {
		return false
	}
	switch msg := msg.(type) {
	case dispatch.CancelAction:
		lost := !c.w.chance(3)
		if lost {
			c.w.witness.unheard[msg.ReplayID+" "+msg.ActionID] = true
		}
		return lost
	case dispatch.Deliver, dispatch.Ack, report, work.Progress:
		return !c.w.chance(3)
	}
	return false
}

func (c *conn) carryDown(msg any) {
	c.freeDown = max(c.freeDown, c.w.now+c.latency(), c.m.wire.downUntil)
	e := event{at: c.freeDown, of: c.agent, gen: c.agentGen, do: func() {
		if !c.cut && !c.agentClosed {
			c.toAgent(msg)
		}
	}}
	c.w.add(e)
}

// up sends to the server.
func (c *conn) up(msg any) {
	if c.agentClosed || c.loses(msg) {
		return
	}
	times := 1
	if _, opens := msg.(hello); !opens && c.m.wire.twiceUp > 0 {
		c.m.wire.twiceUp--
		times = 2
	}
	for range times {
		c.carryUp(msg)
	}
}

func (c *conn) carryUp(msg any) {
	c.freeUp = max(c.freeUp, c.w.now+c.latency(), c.m.wire.upUntil)
	c.w.add(event{at: c.freeUp, of: c.server, gen: c.serverGen, do: func() {
		if !c.cut {
			c.toServer(msg)
		}
	}})
}

// closeByAgent closes the agent's end.
func (c *conn) closeByAgent() {
	if !c.agentClosed {
		c.carryUp(gone{"the agent closed it"})
		c.agentClosed = true
	}
}

// closeByServer closes the server's end.
func (c *conn) closeByServer(why string) {
	if !c.serverClosed {
		c.carryDown(gone{why})
		c.serverClosed = true
	}
}

// breakUp breaks the connection; both ends notice by themselves, soon.
func (c *conn) breakUp() {
	if c.cut {
		return
	}
	c.cut = true
	c.w.add(event{at: c.w.now + c.w.between(0, 100*time.Millisecond), of: c.agent, gen: c.agentGen, do: func() {
		if !c.agentClosed {
			c.toAgent(gone{"the connection broke"})
		}
	}})
	c.breakForServer(c.w.between(0, 100*time.Millisecond))
}

func (c *conn) breakForServer(d time.Duration) {
	c.w.add(event{at: c.w.now + d, of: c.server, gen: c.serverGen, do: func() { c.toServer(gone{"the connection broke"}) }})
}

// live are the connections that are neither broken nor closed.
func (l *wire) live() []*conn {
	var live []*conn
	for _, c := range l.conns {
		if !c.cut && !c.agentClosed && !c.serverClosed {
			live = append(live, c)
		}
	}
	l.conns = live
	return live
}

// of are the live connections of one agent's process.
func (l *wire) of(p *process) []*conn {
	var own []*conn
	for _, c := range l.live() {
		if c.agent == p && c.agentGen == p.gen {
			own = append(own, c)
		}
	}
	return own
}
