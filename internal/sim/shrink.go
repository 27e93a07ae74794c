package sim

import "slices"

// Shrink makes a plan smaller as long as it still breaks the same rule, so that what
// is left reads as a story. It plays at most tries plans.
func Shrink(p Plan, rule string, tries int) Plan {
	return shrink(p, func(q Plan) bool {
		if tries <= 0 {
			return false
		}
		tries--
		b := Run(q, false).Broken
		return b != nil && b.Rule == rule
	})
}

// shrink takes away what can be taken away while breaks holds.
func shrink(p Plan, breaks func(Plan) bool) Plan {
	for again := true; again; {
		again = false
		for _, smaller := range []func(Plan, int) (Plan, bool){withoutFault, withoutReplay, withoutStep, shorterFault} {
			for i := 0; ; {
				q, ok := smaller(p, i)
				if !ok {
					break
				}
				if breaks(q) {
					p, again = q, true
				} else {
					i++
				}
			}
		}
	}
	return p
}

func withoutFault(p Plan, i int) (Plan, bool) {
	if i >= len(p.Faults) {
		return p, false
	}
	p.Faults = slices.Delete(slices.Clone(p.Faults), i, i+1)
	return p, true
}

// withoutReplay drops a replay; the names of those after it move up.
func withoutReplay(p Plan, i int) (Plan, bool) {
	if len(p.Replays) < 2 || i >= len(p.Replays) {
		return p, false
	}
	p.Replays = slices.Delete(slices.Clone(p.Replays), i, i+1)
	return p, true
}

func withoutStep(p Plan, i int) (Plan, bool) {
	p.Replays = slices.Clone(p.Replays)
	for r := range p.Replays {
		steps := p.Replays[r].Steps
		if len(steps) == 1 {
			continue
		}
		if i < len(steps) {
			p.Replays[r].Steps = slices.Delete(slices.Clone(steps), i, i+1)
			return p, true
		}
		i -= len(steps)
	}
	return p, false
}

// shorterFault halves how long a fault lasts, down to a second.
func shorterFault(p Plan, i int) (Plan, bool) {
	p.Faults = slices.Clone(p.Faults)
	for f := range p.Faults {
		if p.Faults[f].For < 2e9 {
			continue
		}
		if i == 0 {
			p.Faults[f].For /= 2
			return p, true
		}
		i--
	}
	return p, false
}
