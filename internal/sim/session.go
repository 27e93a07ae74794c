package sim

import (
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
	serversession "github.com/reprise-rpa/reprise/server/session"
)

// What travels beside the effects of the server.
type (
	hello struct {
		open    dispatch.Open
		results []work.Report
	}
	welcome struct {
		dispatch.Welcome
		results []work.Report
	}
	report struct {
		work.Report
		spoolID string
	}
	desktopState struct{ usable bool }
	ping         struct{ number uint64 }
	pong         struct{ number uint64 }
	goAway       struct{ after time.Duration }
)

// session is the server's end of one stream.
type session struct {
	o        *owner
	id       string
	spool    string
	c        *conn
	results  []work.Report // of the hello
	claimed  bool          // its Open was posted
	welcomed bool
	ended    bool
	held     []any // waits for the welcome
	watch    *serversession.Watch
	timer    int
	heard    time.Duration // when the agent said something last
	probes   map[uint64]func()
	probed   uint64
	asked    time.Duration // when it was probed last
}

// accept takes a new stream.
func (s *server) accept(c *conn) {
	s.sessions++
	ses := &session{o: s.owners[c.m.id], id: fmt.Sprintf("s%d", s.sessions), c: c, probes: map[uint64]func(){}}
	ses.watch = serversession.NewWatch(s.now().Add(openTimeout), pingInterval, pingTimeout)
	c.toServer = ses.hear
	ses.attend()
}

// end ends the session, and gives its machine back a little later.
func (s *session) end(why string) {
	if s.ended {
		return
	}
	s.ended = true
	s.o.s.w.witness.sessionEnded(s.id)
	s.o.s.w.tell("session %s of %s ends: %s", s.id, machineName(s.o.machine), why)
	s.c.closeByServer(why)
	s.o.s.w.in(&s.o.s.process, s.o.s.w.between(0, 100*time.Millisecond), func() {
		s.o.seat.Release(s.id)
		if s.claimed {
			s.o.post(dispatch.Closed{SessionID: s.id})
		}
		delete(s.o.sessions, s.id)
	})
}

// put sends, and nothing before the welcome.
func (s *session) put(msg any) {
	switch {
	case s.ended:
	case !s.welcomed:
		s.held = append(s.held, msg)
	default:
		s.c.down(msg)
	}
}

func (s *session) welcome(e dispatch.Welcome) {
	if s.ended {
		return
	}
	s.welcomed, s.heard = true, s.o.s.w.now
	s.o.s.w.tell("%s opens %s: verdicts %v, executing %v, closed %v", machineName(s.o.machine), s.id, e.Verdicts, e.Executing, e.Closed)
	s.c.down(welcome{Welcome: e, results: s.results})
	for _, msg := range s.held {
		s.c.down(msg)
	}
	s.held = nil
	s.watch.Welcomed(s.o.s.now())
	s.attend()
	s.o.s.w.hitIn(&s.o.s.process, s.o.machine, Opens)
}

// attend watches over the session: it must open in time, and its agent answer pings.
func (s *session) attend() {
	w := s.o.s.w
	s.timer++
	mine := s.timer
	w.in(&s.o.s.process, s.o.s.clock.until(w.now, s.watch.Next()), func() {
		if s.ended || s.timer != mine {
			return
		}
		number, err := s.watch.Due(s.o.s.now())
		if err != nil {
			s.end(err.Error())
			return
		}
		if number > 0 {
			s.c.down(ping{number})
		}
		s.attend()
	})
}

// hear takes what the agent says. A report counts from an ended session too; all
// else of one is for the machine to drop.
func (s *session) hear(msg any) {
	s.heard = s.o.s.w.now
	switch m := msg.(type) {
	case gone:
		s.end(m.why)
	case hello:
		if s.spool != "" {
			s.end("a second hello")
			return
		}
		s.claim(m)
	case report:
		s.o.s.w.tell("the server gets the report of %s: %s", m.ActionID, outcomeOf(m.Outcome))
		s.o.s.w.hitIn(&s.o.s.process, s.o.machine, ReportCame)
		s.o.post(dispatch.Report{SessionID: s.id, Result: result(m.Report, m.spoolID)})
	case work.Progress:
		phase := pending.Received
		if m.Executing {
			phase = pending.Executing
		}
		s.o.post(dispatch.Progress{SessionID: s.id, ActionID: m.ActionID, Phase: phase, Doing: m.Doing})
	case desktopState:
		s.o.post(dispatch.Desktop{SessionID: s.id, Usable: m.usable})
	case runner.SendPerson:
		s.o.post(s.o.s.w.person.atMachine(s, m))
	case ping:
		s.put(pong(m))
	case pong:
		s.answered(m.number)
	}
}

func (s *session) answered(number uint64) {
	if answered := s.probes[number]; answered != nil {
		answered()
		return
	}
	s.watch.Pong(s.o.s.now(), number)
	s.attend()
}

// probe asks the agent whether it is there.
func (s *session) probe(done func(answered bool)) {
	s.probed++
	s.asked = s.o.s.w.now
	number := s.probed + 1<<32
	over := false
	finish := func(answered bool) {
		if !over {
			over = true
			delete(s.probes, number)
			done(answered)
		}
	}
	s.probes[number] = func() { finish(true) }
	s.put(ping{number})
	s.o.s.w.in(&s.o.s.process, registry.ProbeTimeout, func() { finish(false) })
}

// claim asks for the machine; one claim at a time.
func (s *session) claim(h hello) {
	s.spool, s.results = h.open.Session.SpoolID, h.results
	h.open.Session.ID = s.id
	o := s.o
	o.claims = append(o.claims, func() {
		if s.ended {
			s.claimedNext()
			return
		}
		s.follow(h, o.seat.Claim(s.id, s.spool))
	})
	if len(o.claims) == 1 {
		o.claims[0]()
	}
}

func (s *session) follow(h hello, c registry.Claimed) {
	o := s.o
	switch {
	case c.Probe != "":
		holder := o.sessions[c.Probe]
		if holder == nil || holder.ended {
			s.follow(h, o.seat.Probed(s.id, s.spool, c.Probe, false))
			return
		}
		holder.probe(func(answered bool) {
			if s.ended { // it has gone meanwhile, and nobody makes way for it
				s.claimedNext()
				return
			}
			s.follow(h, o.seat.Probed(s.id, s.spool, c.Probe, answered))
		})
	case !c.Granted:
		s.end(fmt.Sprint(c.Err))
		s.claimedNext()
	default:
		if old := o.sessions[c.Ends]; old != nil {
			o.s.w.witness.evicts(old, s)
			old.end(fmt.Sprint(c.Why))
		}
		s.claimed = true
		o.sessions[s.id] = s
		o.s.w.witness.granted(s, h.open)
		o.post(h.open)
		s.claimedNext()
	}
}

func (s *session) claimedNext() {
	o := s.o
	o.claims = o.claims[1:]
	if len(o.claims) > 0 {
		o.claims[0]()
	}
}

func outcomeOf(o work.Outcome) string {
	code := string(o.Code)
	if code == "" {
		code = "success"
	}
	return fmt.Sprintf("%s, %s %v", code, o.Completion, o.Warnings)
}

// ack is what a verdict of a result in a hello is to the agent.
func acknowledged(v replay.Verdict) bool { return v != 0 }
