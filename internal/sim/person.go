package sim

import (
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// person submits replays, watches the screens and decides when a replay waits.
type person struct {
	w     *world
	asked map[string]time.Duration // pauses that were decided on, and when
}

func (p *person) begin() {
	p.asked = map[string]time.Duration{}
	for i, sub := range p.w.plan.Replays {
		p.w.after(sub.At, func() { p.submit(fmt.Sprintf("r%d", i+1), sub) })
	}
	p.watch()
}

// submit submits until the replay is in the journal: the request has an id, so that
// it is taken once.
func (p *person) submit(id string, sub Submission) {
	if p.w.server.disk.folded[id] != nil {
		return
	}
	again := func() { p.w.after(p.w.between(time.Second, 5*time.Second), func() { p.submit(id, sub) }) }
	if !p.w.server.alive || p.w.server.stopping {
		again()
		return
	}
	created := replay.Created{MachineID: machineName(sub.Machine), Workflow: "w", RequestID: "request-" + id, Unattended: sub.Unattended}
	for _, k := range sub.Steps {
		created.Steps = append(created.Steps, kinds[k])
	}
	p.w.tell("%s is submitted: %v", id, sub.Steps)
	answered := p.ask(fmt.Sprintf("submit %s", id), again)
	p.w.server.owners[sub.Machine].post(dispatch.Submit{ReplayID: id, Created: created, Reply: func(a dispatch.Answer) {
		answered(a)
		if a.Err != nil {
			again()
		}
	}})
}

// ask is a question that must be answered while the server lives. lost is what
// follows when the server dies before.
func (p *person) ask(what string, lost func()) func(dispatch.Answer) {
	gen, done := p.w.server.gen, false
	p.w.after(answerLimit, func() {
		switch {
		case done:
		case p.w.server.gen == gen && p.w.server.alive && p.w.now > p.w.server.disk.slowUntil+answerLimit:
			p.w.fail("I12", "%s got no answer within %v", what, answerLimit)
		default:
			lost()
		}
	})
	return func(a dispatch.Answer) {
		if done {
			p.w.fail("I3", "%s was answered twice", what)
		}
		done = true
		p.w.witness.answered(what, a)
	}
}

// answerLimit is how long the server may take to answer, slow disks aside.
const answerLimit = 30 * time.Second

// watch looks at every machine now and then.
func (p *person) watch() {
	p.w.after(p.w.between(time.Second, 3*time.Second), func() {
		for _, m := range p.w.machines {
			p.decide(m)
		}
		p.watch()
	})
}

// current is the replay that holds a machine, as the journal has it.
func (p *person) current(m *machine) *replay.Replay {
	for _, id := range p.w.server.disk.order {
		if r := p.w.server.disk.folded[id]; r.MachineID == m.name() && !r.State.Ended() {
			return r
		}
	}
	return nil
}

// decide decides on a pause, after a while.
func (p *person) decide(m *machine) {
	r := p.current(m)
	if r == nil || r.State != replay.Paused || r.InFlight >= 0 {
		return
	}
	if at, ok := p.asked[r.Pause.ID]; ok && p.w.now < at+40*time.Second {
		return
	}
	p.asked[r.Pause.ID] = p.w.now
	pauseID := r.Pause.ID
	p.w.after(p.w.between(0, 30*time.Second), func() {
		now := p.current(m)
		if now != nil && now.Pause != nil && now.Pause.ID == pauseID && now.InFlight < 0 {
			p.resume(m, now, p.choose(m, now))
		}
	})
}

// choose looks at the screen: what had its effect is skipped, what had not is done
// again.
func (p *person) choose(m *machine, r *replay.Replay) replay.ResumeCommand {
	c := replay.ResumeCommand{By: "alice"}
	for _, check := range r.Pause.Checks {
		c.Acked = append(c.Acked, check.ID)
	}
	if r.Pause.Decide == "" || p.w.plan.Careless {
		return c
	}
	step := r.Find(r.Pause.Decide).Step
	for _, e := range m.desktop.ledger {
		if e.replayID == r.ID && e.step == step && e.seen {
			c.Skip = true
		}
	}
	return c
}

func (p *person) resume(m *machine, r *replay.Replay, c replay.ResumeCommand) {
	what := "go on"
	switch {
	case c.Skip:
		what = "skip"
	case c.From != "":
		what = "go on from " + c.From
	}
	p.command(m, r.ID, what, func(r *replay.Replay) ([]replay.Event, error) { return r.DecideResume(c) })
}

// command says something to a replay. What is refused, or lost, is not said again.
func (p *person) command(m *machine, id, what string, decide func(*replay.Replay) ([]replay.Event, error)) {
	if !p.w.server.alive {
		return
	}
	p.w.tell("the person says to %s: %s", id, what)
	answered := p.ask(what+" "+id, func() {})
	p.w.server.owners[m.id].post(dispatch.Command{ReplayID: id, Decide: decide, Reply: answered})
}

// say is what a fault lets a person say unasked.
func (p *person) say(m *machine, what What) {
	r := p.current(m)
	if r == nil {
		return
	}
	switch what {
	case Pause:
		p.command(m, r.ID, "pause", func(r *replay.Replay) ([]replay.Event, error) { return r.DecidePause("bob", "") })
	case Cancel:
		p.command(m, r.ID, "cancel", func(r *replay.Replay) ([]replay.Event, error) { return r.DecideCancel("bob", "") })
	case ResumeTwice:
		p.resume(m, r, replay.ResumeCommand{By: "bob", Acked: required(r)})
		p.resume(m, r, replay.ResumeCommand{By: "carol", Acked: required(r)})
	case Skip:
		p.resume(m, r, replay.ResumeCommand{By: "bob", Acked: required(r), Skip: true})
	case ResumeFrom:
		step := p.w.rng.IntN(len(r.Steps))
		p.resume(m, r, replay.ResumeCommand{By: "bob", Acked: required(r), From: r.Current(step).ID})
	default:
		p.resume(m, r, replay.ResumeCommand{By: "bob", Acked: required(r)})
	}
}

func required(r *replay.Replay) []string {
	var ids []string
	if r.Pause != nil {
		for _, c := range r.Pause.Checks {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

var wishes = map[What]work.PersonWish{StopKey: work.PersonStops, OwnInput: work.PersonTakesOver, WantsOn: work.PersonGoesOn}

// personActs lets the person at the machine do something.
func (a *agent) personActs(what What) {
	if what == StopKey {
		a.w.witness.stops(a)
	}
	a.step(runner.PersonActs{Wish: wishes[what], By: "mouse"})
}

// atMachine is what the server makes of a wish of the person at a machine.
func (p *person) atMachine(s *session, e runner.SendPerson) dispatch.Command {
	by := "person at " + machineName(s.o.machine)
	decide := func(r *replay.Replay) ([]replay.Event, error) { return r.DecidePause(by, "") }
	if e.Wish == work.PersonGoesOn {
		decide = func(r *replay.Replay) ([]replay.Event, error) { return r.DecideResume(replay.ResumeCommand{By: by}) }
	}
	return dispatch.Command{ReplayID: e.ReplayID, SessionID: s.id, Decide: decide, Reply: func(a dispatch.Answer) {
		if a.Err == nil {
			p.w.tell("the server does what the person at %s asks", machineName(s.o.machine))
		}
	}}
}
