package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// Plan is what happens in a world: what is submitted and what goes wrong. The rest
// follows from it and from the seed.
type Plan struct {
	Seed     uint64
	Machines int
	Replays  []Submission
	Faults   []Fault
	Policy   Policy
	Careless bool // the person repeats steps without looking at the screen
}

// Policy is what differs from the default settings.
type Policy struct {
	MaxResends, MaxRetries, MaxDeliveries, Swallowed int
	Remember                                         int // actions that an agent remembers
}

// Submission is one replay.
type Submission struct {
	Machine    int
	At         time.Duration
	Unattended bool
	Steps      []string // kinds
}

// kinds are the steps that replays are made of.
var kinds = map[string]replay.Step{
	"click":    {Kind: "click", Critical: true, ChangesScreen: true, Visual: true, MaxRetries: -1},
	"type":     {Kind: "type", Critical: true, ChangesScreen: true, MaxRetries: -1},
	"scroll":   {Kind: "scroll", ChangesScreen: true, MaxRetries: -1},
	"wait":     {Kind: "wait", Safe: true, MaxRetries: -1},
	"focus":    {Kind: "focus_window", Safe: true, Critical: true, MaxRetries: -1},
	"again":    {Kind: "click", Critical: true, ChangesScreen: true, RetryExecuted: true, MaxRetries: -1},
	"ask":      {Kind: "pause_for_human", ServerSide: true, Safe: true, MaxRetries: -1},
	"check":    {Kind: "click", Critical: true, ChangesScreen: true, MaxRetries: -1, Checks: []replay.Check{{ID: "sure", Required: true}}},
	"optional": {Kind: "click", Critical: true, ChangesScreen: true, MaxRetries: -1, OnGiveUp: replay.GiveUpContinue},
}

// drawn are the kinds in the proportion in which they are drawn.
var drawn = []string{
	"click", "click", "click", "click", "type", "type", "scroll", "scroll", "wait", "focus", "again", "ask", "check", "optional",
}

// horizon is how long things go wrong.
const horizon = 4 * time.Minute

// Draw makes the plan of a seed.
func Draw(seed uint64) Plan {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	p := Plan{Seed: seed, Machines: 1 + rng.IntN(2), Careless: rng.IntN(4) == 0}
	p.Policy = Policy{MaxResends: 2, MaxRetries: 3, MaxDeliveries: 20, Swallowed: 3, Remember: []int{1, 8}[rng.IntN(2)]}
	t := drawTheme(rng)
	if t.tight || rng.IntN(3) == 0 {
		p.Policy.MaxResends, p.Policy.MaxRetries = rng.IntN(2), rng.IntN(2)
		p.Policy.MaxDeliveries, p.Policy.Swallowed = 2+rng.IntN(4), 2
	}
	for m := range p.Machines {
		for range 1 + rng.IntN(3) {
			p.Replays = append(p.Replays, Submission{
				Machine: m, At: time.Duration(rng.Int64N(int64(20 * time.Second))), Unattended: rng.IntN(4) == 0, Steps: t.steps(rng),
			})
		}
	}
	for range 1 + rng.IntN(12) {
		p.Faults = append(p.Faults, t.fault(rng, p.Machines))
	}
	return p
}

// String tells the plan.
func (p Plan) String() string {
	out := fmt.Sprintf("seed %d: %d machines", p.Seed, p.Machines)
	if p.Careless {
		out += ", a person who does not look"
	}
	out += fmt.Sprintf("; resends %d, retries %d, deliveries %d\n", p.Policy.MaxResends, p.Policy.MaxRetries, p.Policy.MaxDeliveries)
	for i, r := range p.Replays {
		out += fmt.Sprintf("  r%d on M%d at %s: %v\n", i+1, r.Machine+1, stamp(r.At), r.Steps)
	}
	for _, f := range p.Faults {
		out += "  " + f.String() + "\n"
	}
	return out
}
