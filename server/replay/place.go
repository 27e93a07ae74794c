package replay

import (
	"iter"
	"slices"
)

// Place is where a decision stands in the order of the workflow and then of the
// decisions: its step, and its number among the decisions to run that step, from 1.
// Decisions are only ever added, each as the last one of its step, so that a place
// stays true while the replay goes on. The zero value is before all places.
type Place struct{ Step, Decision int }

// After returns the decisions behind a place, in that order.
func (r *Replay) After(p Place) iter.Seq2[Place, *Action] {
	return func(yield func(Place, *Action) bool) {
		for step := p.Step; step < len(r.Steps); step++ {
			for n, i := range r.decisions(step) {
				at := Place{Step: step, Decision: n + 1}
				if step == p.Step && at.Decision <= p.Decision {
					continue
				}
				if !yield(at, &r.Actions[i]) {
					return
				}
			}
		}
	}
}

// decisions are the indices of the decisions to run a step, in their order. The
// current one need not be the newest: a late success takes its place back.
func (r *Replay) decisions(step int) []int {
	all := append(slices.Clone(r.older[step]), r.current[step])
	slices.Sort(all)
	return all
}
