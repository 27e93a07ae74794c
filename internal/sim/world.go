package sim

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// world is everything that a plan plays in.
type world struct {
	scheduler
	plan     Plan
	server   *server
	machines []*machine
	witness  *witness
	person   *person
	running  *process // whose event is being run
	pending  []Fault  // faults of points that have not come to pass
	counts   map[hit]int
	broken   *Broken
	telling  bool
	story    []string
	faults   map[What]int
	twins    int
	done     time.Duration // when the last replay had ended, and nothing went wrong any more
}

// hit is a machine's coming to a point.
type hit struct {
	machine int
	point   Point
}

// machine is one desktop, the way to it and its agent.
type machine struct {
	id          int
	desktop     *desktop
	wire        *wire
	agent       *agent
	twin        *agent        // another agent that claims it; nil: none
	deadlyUntil time.Duration // until then whatever the agent executes kills it
}

func (m *machine) name() string { return machineName(m.id) }

func machineName(i int) string { return fmt.Sprintf("M%d", i+1) }

// Broken says which rule was broken, and how.
type Broken struct {
	Rule string // of the contract, such as I8
	What string
}

func (b *Broken) Error() string { return fmt.Sprintf("broken: %s %s", b.Rule, b.What) }

func newWorld(p Plan, telling bool) *world {
	w := &world{plan: p, telling: telling, counts: map[hit]int{}, faults: map[What]int{}}
	w.rng = rand.New(rand.NewPCG(p.Seed, 0xd1ce))
	w.witness = newWitness(w)
	for i := range p.Machines {
		m := &machine{id: i, desktop: &desktop{}, wire: &wire{}}
		m.agent = newAgent(w, m, fmt.Sprintf("spool%d", i+1), "agent of "+m.name())
		w.machines = append(w.machines, m)
	}
	w.server = newServer(w)
	w.person = &person{w: w}
	w.server.boot()
	for _, m := range w.machines {
		w.after(w.between(0, time.Second), m.agent.boot)
	}
	w.person.begin()
	for _, f := range p.Faults {
		if f.Point != "" {
			w.pending = append(w.pending, f)
			continue
		}
		w.after(f.At, func() { w.happen(f) })
	}
	return w
}

// tell adds a line to the story.
func (w *world) tell(format string, args ...any) {
	if w.telling {
		w.story = append(w.story, stamp(w.now)+"  "+fmt.Sprintf(format, args...))
	}
}

// fail notes the first rule that is broken; the world ends there.
func (w *world) fail(rule, format string, args ...any) {
	if w.broken == nil {
		w.broken = &Broken{Rule: rule, What: fmt.Sprintf(format, args...)}
		w.tell("BROKEN %s: %s", rule, w.broken.What)
	}
}

// hit says that a machine's action comes to a point, where something may happen.
func (w *world) hit(machine int, p Point) {
	if m := w.machines[machine]; p == Executes && w.now < m.deadlyUntil && w.running == &m.agent.process {
		m.agent.crash(w.between(100*time.Millisecond, 3*time.Second), false)
	}
	key := hit{machine, p}
	w.counts[key]++
	for i, f := range w.pending {
		if f.Machine == machine && f.Point == p && f.Count == w.counts[key] {
			w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
			w.happen(f)
			return
		}
	}
}

// hitIn is hit by what a process does: a fault may kill it there.
func (w *world) hitIn(p *process, machine int, at Point) {
	w.running = p
	w.hit(machine, at)
	w.running = nil
}

// kill kills a process; one that is running right now unwinds.
func (w *world) killed(p *process) {
	if w.running == p {
		w.running = nil
		panic(killed{})
	}
}

// calm is when nothing goes wrong any more, patience how long after that every replay
// must have come to its end, and rest how long everybody then has to tidy up.
const (
	calm     = horizon + 2*time.Minute
	patience = 2 * time.Hour
	rest     = 3 * time.Minute
	tooMany  = 300_000 // steps: something spins
)

// reconnect makes every agent say once more what it knows.
func (w *world) reconnect() {
	for _, m := range w.machines {
		for _, c := range m.wire.live() {
			c.breakUp()
		}
	}
}

// run lets the world go on until all is done, or a rule is broken.
func (w *world) run() {
	for steps := 0; w.broken == nil; steps++ {
		if steps > tooMany {
			w.fail("lost", "%d steps, and no end", steps)
			break
		}
		if w.now > calm && w.pending != nil {
			w.pending = nil // what never came to its point does not happen
		}
		if w.now > calm && w.witness.allEnded() {
			if w.done == 0 {
				w.done = w.now
				w.reconnect()
			}
			if w.now > w.done+rest {
				break
			}
		}
		if w.now > calm+patience {
			w.fail("lost", "%s stands still", w.witness.standing())
			break
		}
		if !w.step() {
			w.fail("lost", "nothing more happens, and %s stands still", w.witness.standing())
			break
		}
		w.witness.afterStep()
	}
	if w.broken == nil {
		w.witness.atEnd()
	}
}
