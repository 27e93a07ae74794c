package sim

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Thousands of plans are played by the sim command; these few belong to every run of
// the tests.
func TestNoPlanBreaksARule(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		if res := Run(Draw(seed), false); res.Broken != nil {
			t.Fatalf("seed %d: %v", seed, res.Broken)
		}
	}
}

func TestASeedTellsTheSameStoryEachTime(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		first, again := Run(Draw(seed), true), Run(Draw(seed), true)
		if diff := cmp.Diff(first.Story, again.Story); diff != "" {
			t.Fatalf("seed %d:\n%s", seed, diff)
		}
		if len(first.Story) < 10 {
			t.Errorf("seed %d tells %d lines", seed, len(first.Story))
		}
		if silent := Run(Draw(seed), false); silent.Actions != first.Actions || silent.Inputs != first.Inputs {
			t.Errorf("seed %d goes another way when its story is told", seed)
		}
	}
}

// Faults that are drawn must come to pass often enough to mean something.
func TestEveryKindOfFaultComesToPass(t *testing.T) {
	seen := map[What]int{}
	for seed := uint64(1); seed <= 200; seed++ {
		for what, n := range Run(Draw(seed), false).Faults {
			seen[what] += n
		}
	}
	for _, what := range slices.Concat(ofWorld, ofExecution) {
		if seen[what] == 0 {
			t.Errorf("in 200 plans there was no %q", what)
		}
	}
}

func TestAPlanThatBreaksARuleIsMadeSmaller(t *testing.T) {
	rule := func(p Plan) string {
		if slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.What == KillServer }) {
			return "I9"
		}
		return ""
	}
	var p Plan
	for seed := uint64(1); rule(p) == "" || len(p.Faults) < 4; seed++ {
		p = Draw(seed)
	}
	small := shrink(p, func(q Plan) bool { return rule(q) == "I9" })
	steps := 0
	for _, r := range small.Replays {
		steps += len(r.Steps)
	}
	if len(small.Faults) != 1 || len(small.Replays) != 1 || steps != 1 {
		t.Errorf("what is left:\n%v", small)
	}
}
