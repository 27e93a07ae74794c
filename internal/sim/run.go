package sim

import (
	"strings"
)

// Result is what came of a plan.
type Result struct {
	Broken  *Broken // nil: no rule was broken
	Actions int     // steps that were settled
	Inputs  int     // executions whose input began
	Faults  map[What]int
	Story   []string // with Tell alone
}

// Run plays a plan. tell makes it write down the story.
func Run(p Plan, tell bool) Result {
	w := newWorld(p, tell)
	w.run()
	res := Result{Broken: w.broken, Faults: w.faults, Inputs: w.witness.executed, Story: w.story}
	for _, r := range w.server.disk.folded {
		res.Actions += r.Settled
	}
	return res
}

// Tell is the plan and the story, to be read.
func (r Result) Tell(p Plan) string {
	return p.String() + "\n" + strings.Join(r.Story, "\n") + "\n"
}
