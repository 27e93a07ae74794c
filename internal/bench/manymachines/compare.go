package manymachines

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/reprise-rpa/reprise/internal/bench/report"
	"github.com/reprise-rpa/reprise/internal/bench/systems"
)

// Compare measures this build's server in turn with that of another one, to see
// what a change has brought: program is the benchmark of the other build. It leaves
// out LeastRate and Profile.
func Compare(ctx context.Context, c Config, program string) (_ report.Section, err error) {
	before, err := systems.StartReprise(ctx, program, filepath.Join(c.Dir, "before"), c.Machines)
	if err != nil {
		return report.Section{}, err
	}
	defer func() { err = errors.Join(err, before.Close()) }()
	after, err := systems.StartReprise(ctx, "", filepath.Join(c.Dir, "after"), c.Machines)
	if err != nil {
		return report.Section{}, err
	}
	defer func() { err = errors.Join(err, after.Close()) }()
	befores, afters, err := inTurn(ctx, before, after, c)
	if err != nil {
		return report.Section{}, err
	}
	rate := report.Fact{What: fmt.Sprintf("%d machines, actions per second / the other build's", c.Machines)}
	cpu := report.Fact{What: fmt.Sprintf("%d machines, server CPU per action / the other build's", c.Machines)}
	for i, a := range afters {
		rate.Values = append(rate.Values, a.PerSecond()/befores[i].PerSecond())
		cpu.Values = append(cpu.Values, float64(a.CPUPerAction())/float64(befores[i].CPUPerAction()))
	}
	return report.Section{Facts: []report.Fact{rate, cpu}}, nil
}

// inTurn runs two systems in turn; the first time connects and warms both up, and
// does not count.
func inTurn(ctx context.Context, a, b systems.System, c Config) (as, bs []systems.Measured, err error) {
	for i := range c.Repetitions + 1 {
		ofA, err := a.Run(ctx, c.Actions)
		if err != nil {
			return nil, nil, err
		}
		ofB, err := b.Run(ctx, c.Actions)
		if err != nil {
			return nil, nil, err
		}
		if i > 0 {
			as, bs = append(as, ofA), append(bs, ofB)
		}
	}
	return as, bs, nil
}
