package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// The settings that the plans leave at their defaults.
const (
	receiptTimeout = 5 * time.Second
	orphanTimeout  = 30 * time.Second
	offlineGrace   = 90 * time.Second
	deadWindow     = 5 * time.Minute
	deadGiveUps    = 2
	scanInterval   = 10 * time.Second
	openTimeout    = 5 * time.Second
	pingInterval   = 10 * time.Second
	pingTimeout    = 10 * time.Second
)

// server is the server's process and its disk.
type server struct {
	process
	w        *world
	clock    clock
	disk     *journal
	owners   []*owner // by machine
	sessions int      // so far, of all lives
	stopping bool
}

func newServer(w *world) *server {
	s := &server{w: w, disk: newJournal(w), process: process{name: "server"}}
	s.clock = clock{offset: w.between(-time.Hour, time.Hour), drift: 0}
	return s
}

// boot starts the server from its journal.
func (s *server) boot() {
	s.start()
	s.stopping = false
	s.owners = nil
	p := s.w.plan.Policy
	cfg := dispatch.Config{
		Policy: replay.Policy{
			MaxResends: p.MaxResends, MaxRetries: p.MaxRetries, MaxDeliveries: p.MaxDeliveries, SwallowedInput: p.Swallowed,
		},
		Timeouts:     pending.Timeouts{Receipt: receiptTimeout, Orphan: orphanTimeout},
		OfflineGrace: offlineGrace, DeadClientGiveUps: deadGiveUps, DeadClientWindow: deadWindow,
	}
	for i := range s.w.machines {
		live, ended := s.disk.fold(machineName(i))
		o := &owner{s: s, machine: i, sessions: map[string]*session{}}
		o.core = dispatch.NewCore(dispatch.NewMachine(machineName(i), cfg, s.now(), live, ended))
		s.owners = append(s.owners, o)
		o.pump()
	}
	s.w.witness.serverStarted()
	s.w.tell("the server starts")
	s.scan()
}

func (s *server) now() time.Time { return s.clock.at(s.w.now) }

// scan is the sweep, the net below the deadlines.
func (s *server) scan() {
	s.w.in(&s.process, scanInterval, func() {
		for _, o := range s.owners {
			o.post(dispatch.Sweep{Done: func(dispatch.Swept) {}})
		}
		s.scan()
	})
}

// crash is kill -9, and the start after it.
func (s *server) crash(back time.Duration) {
	if !s.alive {
		return
	}
	s.w.tell("the server is killed")
	s.down(back)
	s.w.killed(&s.process)
}

func (s *server) down(back time.Duration) {
	for _, m := range s.w.machines {
		for _, c := range m.wire.live() {
			c.closeByServer("the server died")
		}
	}
	s.disk.crash()
	s.kill()
	s.w.witness.serverDied()
	s.w.after(back, s.boot)
}

// stop ends the server in order: it dispatches nothing more, tells the agents to
// come back later, and goes.
func (s *server) stop(back time.Duration) {
	if !s.alive || s.stopping {
		return
	}
	s.w.tell("the server is stopped in order")
	s.stopping = true
	for _, o := range s.owners {
		o.post(dispatch.Drain{})
	}
	s.w.in(&s.process, s.w.between(0, 3*time.Second), func() {
		for _, o := range s.owners {
			for _, id := range slices.Sorted(maps.Keys(o.sessions)) {
				ses := o.sessions[id]
				ses.put(goAway{after: s.w.between(0, 2*time.Second)})
				ses.end("the server is going away")
			}
		}
		s.w.in(&s.process, 500*time.Millisecond, func() { s.down(back) })
	})
}

// owner is the loop of one machine, as dispatch.Loop is, without its goroutine.
type owner struct {
	s        *server
	machine  int
	core     *dispatch.Core
	seat     registry.Seat
	inbox    []dispatch.Input
	busy     bool // a want is being carried out
	sessions map[string]*session
	claims   []func() // streams that wait for their turn to claim the machine
	timer    int
}

func (o *owner) post(in dispatch.Input) {
	o.inbox = append(o.inbox, in)
	o.pump()
}

// pump takes what is in the inbox. What has come in before a deadline is acted on is
// taken first.
func (o *owner) pump() {
	for !o.busy && len(o.inbox) > 0 && o.s.w.broken == nil {
		next := 0
		for next < len(o.inbox)-1 && actsOnDeadlines(o.inbox[next]) {
			next++
		}
		in := o.inbox[next]
		o.inbox = append(o.inbox[:next:next], o.inbox[next+1:]...)
		o.s.w.witness.taken(o, in)
		o.want(o.core.Take(o.s.now(), in))
	}
	if !o.busy {
		o.arm()
	}
}

func actsOnDeadlines(in dispatch.Input) bool {
	switch in.(type) {
	case dispatch.Tick, dispatch.Sweep:
		return true
	}
	return false
}

// want carries out what the core wants.
func (o *owner) want(want dispatch.Want) {
	w := o.s.w
	o.busy = true
	for _, e := range want.Effects {
		o.perform(e)
	}
	switch {
	case len(want.Append) > 0:
		o.hitDecided(want.Append)
		wr := o.s.disk.begin(want.Append)
		w.in(&o.s.process, o.s.disk.takes(), func() {
			o.want(o.core.Appended(o.s.now(), o.s.disk.end(wr)))
			o.pump()
		})
	case want.Read:
		w.in(&o.s.process, o.s.disk.takes(), func() {
			records, _ := o.s.disk.of(machineName(o.machine), false)
			o.want(o.core.Recalled(o.s.now(), records, o.unreadable()))
			o.pump()
		})
	default:
		o.busy = false
		w.witness.stepped(o)
	}
}

var errUnreadable = errors.New("the disk cannot be read")

// unreadable makes a disk that is full now and then one that cannot be read either.
func (o *owner) unreadable() error {
	if o.s.w.now < o.s.disk.fullUntil && o.s.w.chance(3) {
		return errUnreadable
	}
	return nil
}

func (o *owner) hitDecided(entries []replay.Entry) {
	for _, e := range entries {
		for _, ev := range e.Record.Events {
			switch ev.(type) {
			case replay.Dispatched:
				o.s.w.hitIn(&o.s.process, o.machine, Decided)
			case replay.Reported:
				o.s.w.hitIn(&o.s.process, o.machine, ReportTaken)
			case replay.PausedBy:
				o.s.w.hitIn(&o.s.process, o.machine, Asked)
			}
		}
	}
}

// arm sets the timer to the core's next deadline.
func (o *owner) arm() {
	o.timer++
	at, ok := o.core.Next()
	if !ok {
		return
	}
	mine := o.timer
	o.s.w.in(&o.s.process, o.s.clock.until(o.s.w.now, at), func() {
		if mine == o.timer {
			o.post(dispatch.Tick{})
		}
	})
}

func (o *owner) perform(effect dispatch.Effect) {
	w, p := o.s.w, &o.s.process
	w.witness.leaves(o, effect)
	switch e := effect.(type) {
	case dispatch.Answer:
		e.Reply(e)
	case dispatch.CloseSession:
		if ses := o.sessions[e.SessionID]; ses != nil {
			ses.end(fmt.Sprint(e.Why))
		}
	case dispatch.Welcome:
		if ses := o.sessions[e.SessionID]; ses != nil {
			ses.welcome(e)
		}
	case dispatch.Deliver:
		w.hitIn(p, o.machine, Durable)
		o.send(e.SessionID, e)
		w.hitIn(p, o.machine, Sent)
	case dispatch.Ack:
		w.hitIn(p, o.machine, ReportKept)
		o.send(e.SessionID, e)
		w.hitIn(p, o.machine, AckSent)
	case dispatch.ShowPause:
		o.send(e.SessionID, e)
	case dispatch.EndPause:
		o.send(e.SessionID, e)
	case dispatch.CancelAction:
		o.send(e.SessionID, e)
	case dispatch.Swept:
		e.Done(e)
	case dispatch.Changed, dispatch.Note, dispatch.Fault:
	}
}

func (o *owner) send(sessionID string, msg any) {
	if ses := o.sessions[sessionID]; ses != nil {
		ses.put(msg)
	}
}

// result turns an agent's report into what the server takes of it, as package
// session does by way of the schema.
func result(r work.Report, spoolID string) dispatch.Result {
	rep := replay.Report{
		Success: r.Outcome.Success(), Code: string(r.Outcome.Code), Message: r.Outcome.Message,
		NeedsHuman: r.Outcome.NeedsHuman, SpoolID: spoolID,
	}
	switch r.Outcome.Completion {
	case work.NotStarted:
		rep.Completion = replay.CompletionNotStarted
	case work.Completed:
		rep.Completion = replay.CompletionCompleted
	case work.Unknown:
	}
	for _, warning := range r.Outcome.Warnings {
		rep.NoChange = rep.NoChange || warning == work.NoScreenChange
	}
	return dispatch.Result{Ref: dispatch.Ref{ActionID: r.ActionID, AttemptID: r.AttemptID}, Report: rep}
}
