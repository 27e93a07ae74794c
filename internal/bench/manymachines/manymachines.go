// Package manymachines measures what a server gets done when many machines work at
// a time, each on a connection of its own: actions per second and processor time
// per action, against a raw stream with as many connections, in turn with it.
package manymachines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/internal/bench/report"
	"github.com/reprise-rpa/reprise/internal/bench/systems"
)

// Config sets up the measurement. All fields are required, but for Profile.
type Config struct {
	Dir         string // an empty folder on a disk that keeps what is synced
	Machines    int
	Repetitions int
	Actions     int     // of each machine, in each repetition
	LeastRate   float64 // the goal: the share of the raw stream's rate
	Profile     string  // where to leave a profile of the server; empty: none
}

// mostCPU is the goal: processor time per action, in that of the raw stream.
const mostCPU = 1.4

// Measure measures.
func Measure(ctx context.Context, c Config) (_ report.Section, err error) {
	raw, err := systems.StartRaw(ctx, c.Machines)
	if err != nil {
		return report.Section{}, err
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	ours, err := systems.StartReprise(ctx, "", c.Dir, c.Machines)
	if err != nil {
		return report.Section{}, err
	}
	defer func() { err = errors.Join(err, ours.Close()) }()
	limits, actuals, err := inTurn(ctx, raw, ours, c)
	if err != nil {
		return report.Section{}, err
	}
	if c.Profile != "" {
		if err := ours.Profile(ctx, 2*c.Actions, c.Profile); err != nil { // a repetition that does not count
			return report.Section{}, err
		}
	}
	return section(c, limits, actuals), nil
}

// section says what the repetitions gave.
func section(c Config, limits, actuals []systems.Measured) report.Section {
	rate := report.Goal{Name: "N2", What: fmt.Sprintf("%d machines, actions per second / raw", c.Machines), Limit: c.LeastRate, AtLeast: true}
	cpu := report.Goal{Name: "N2", What: fmt.Sprintf("%d machines, server CPU per action / raw", c.Machines), Limit: mostCPU}
	rates := []report.Fact{{What: fmt.Sprintf("%d machines", c.Machines), Unit: "actions/s"}, {What: fmt.Sprintf("raw stream, %d connections", c.Machines), Unit: "actions/s"}}
	var used, usedRaw, trips, tripsRaw []time.Duration
	for i, a := range actuals {
		l := limits[i]
		rate.Ratios = append(rate.Ratios, a.PerSecond()/l.PerSecond())
		cpu.Ratios = append(cpu.Ratios, float64(a.CPUPerAction())/float64(l.CPUPerAction()))
		rates[0].Values, rates[1].Values = append(rates[0].Values, a.PerSecond()), append(rates[1].Values, l.PerSecond())
		used, usedRaw = append(used, a.CPUPerAction()), append(usedRaw, l.CPUPerAction())
		trips, tripsRaw = append(trips, report.Quantile(a.RoundTrips, 0.5)), append(tripsRaw, report.Quantile(l.RoundTrips, 0.5))
	}
	return report.Section{Goals: []report.Goal{rate, cpu}, Facts: append(rates,
		report.Durations(fmt.Sprintf("%d machines: server CPU per action", c.Machines), used),
		report.Durations(fmt.Sprintf("raw stream, %d connections: server CPU per action", c.Machines), usedRaw),
		report.Durations(fmt.Sprintf("%d machines: report to next action, p50", c.Machines), trips),
		report.Durations(fmt.Sprintf("raw stream, %d connections: answer to next job, p50", c.Machines), tripsRaw),
	)}
}
