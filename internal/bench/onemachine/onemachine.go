// Package onemachine measures how soon a machine gets its next action: from its
// report on the wire to the next dispatch in its hands, with one machine and
// nothing else about. What that may take is said in round trips of a raw stream and
// in commits, both of which are measured in turn with it.
package onemachine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/internal/bench/commits"
	"github.com/reprise-rpa/reprise/internal/bench/report"
	"github.com/reprise-rpa/reprise/internal/bench/systems"
)

// Config sets up the measurement. All fields are required, but for Profile.
type Config struct {
	Dir         string // an empty folder on a disk that keeps what is synced
	MemoryDir   string // a folder in memory, where to sync costs nothing
	Repetitions int
	Actions     int    // of the server and of the raw stream, in each repetition
	Profile     string // where to leave a profile of the server; empty: none
}

// The goal: what a round trip may take, in those of the raw stream and in commits.
const (
	rawShare    = 1.25
	commitShare = 1.5
)

// once is the p50 of one repetition.
type once struct{ raw, ours, inMemory, commit, sync time.Duration }

// Measure measures.
func Measure(ctx context.Context, c Config) (_ report.Section, err error) {
	b, err := open(ctx, c)
	if err != nil {
		return report.Section{}, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if _, err := b.repeat(ctx, c.Actions/4); err != nil { // warms all of them up
		return report.Section{}, err
	}
	var all []once
	for range c.Repetitions {
		o, err := b.repeat(ctx, c.Actions)
		if err != nil {
			return report.Section{}, err
		}
		all = append(all, o)
	}
	if c.Profile != "" {
		if err := b.ours.Profile(ctx, 4*c.Actions, c.Profile); err != nil { // a repetition that does not count
			return report.Section{}, err
		}
	}
	return b.section(all), nil
}

// bench is all that is measured in turn.
type bench struct {
	raw      systems.System
	ours     *systems.Reprise
	inMemory *systems.Reprise // nil: there is no folder in memory
	missing  string           // why
	commits  *commits.Bench
	temp     string // what is to be removed
}

func open(ctx context.Context, c Config) (_ *bench, err error) {
	b := &bench{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.raw, err = systems.StartRaw(ctx, 1); err != nil {
		return nil, err
	}
	if b.ours, err = systems.StartReprise(ctx, "", filepath.Join(c.Dir, "server"), 1); err != nil {
		return nil, err
	}
	if b.commits, err = commits.Open(ctx, filepath.Join(c.Dir, "commits")); err != nil {
		return nil, err
	}
	if b.missing = notInMemory(c.MemoryDir); b.missing != "" {
		return b, nil
	}
	if b.temp, err = os.MkdirTemp(c.MemoryDir, "reprise-bench-*"); err != nil {
		return nil, err
	}
	b.inMemory, err = systems.StartReprise(ctx, "", b.temp, 1)
	return b, err
}

func (b *bench) close() error {
	var errs []error
	if b.raw != nil {
		errs = append(errs, b.raw.Close())
	}
	for _, s := range []*systems.Reprise{b.ours, b.inMemory} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if b.commits != nil {
		errs = append(errs, b.commits.Close())
	}
	if b.temp != "" {
		errs = append(errs, os.RemoveAll(b.temp))
	}
	return errors.Join(errs...)
}

// notInMemory says why a folder is not in memory; empty: it is.
func notInMemory(dir string) string {
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return "this system does not say what lies in memory"
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 2 && f[1] == dir && f[2] == "tmpfs" {
			return ""
		}
	}
	return dir + " is not in memory"
}

// repeat measures everything once, one after the other.
func (b *bench) repeat(ctx context.Context, actions int) (o once, err error) {
	if o.raw, err = p50(ctx, b.raw, actions); err != nil {
		return o, err
	}
	if o.ours, err = p50(ctx, b.ours, actions); err != nil {
		return o, err
	}
	syncs, err := b.commits.Syncs(actions)
	if err != nil {
		return o, err
	}
	appends, err := b.commits.Appends(ctx, actions)
	if err != nil {
		return o, err
	}
	o.sync, o.commit = report.Quantile(syncs, 0.5), report.Quantile(appends, 0.5)
	if b.inMemory != nil {
		o.inMemory, err = p50(ctx, b.inMemory, actions)
	}
	return o, err
}

func p50(ctx context.Context, s systems.System, actions int) (time.Duration, error) {
	m, err := s.Run(ctx, actions)
	return report.Quantile(m.RoundTrips, 0.5), err
}

// section says what the repetitions gave.
func (b *bench) section(all []once) report.Section {
	withAppend := report.Goal{Name: "N1", What: "one machine, p50 of report to next action / (1.25 raw + 1.5 journal appends)", Limit: 1}
	withSync := report.Goal{Name: "N1", What: "the same / (1.25 raw + 1.5 writes and syncs of a plain file)", Limit: 1}
	inMemory := report.Goal{Name: "N1", What: "the same, commits switched off / 1.25 raw", Limit: 1, Missing: b.missing}
	var raw, ours, memory, appends, syncs []time.Duration
	for _, o := range all {
		withAppend.Ratios = append(withAppend.Ratios, ratio(o.ours, o.raw, o.commit))
		withSync.Ratios = append(withSync.Ratios, ratio(o.ours, o.raw, o.sync))
		raw, ours, appends, syncs = append(raw, o.raw), append(ours, o.ours), append(appends, o.commit), append(syncs, o.sync)
		if b.inMemory != nil {
			inMemory.Ratios = append(inMemory.Ratios, ratio(o.inMemory, o.raw, 0))
			memory = append(memory, o.inMemory)
		}
	}
	sizes := b.ours.Sizes()
	facts := []report.Fact{
		report.Durations("one machine: report to next action, p50", ours),
		report.Durations("raw stream: answer to next job, p50", raw),
		report.Durations("append to the journal, alone, p50", appends),
		report.Durations("write and sync of a plain file, p50", syncs),
		{What: fmt.Sprintf("messages: report %d, dispatch %d and acknowledgement", sizes.Report, sizes.Dispatch), Unit: "bytes", Values: []float64{float64(sizes.Ack)}},
	}
	if b.inMemory != nil {
		facts = append(facts, report.Durations("one machine with commits switched off, p50", memory))
	}
	return report.Section{Goals: []report.Goal{withAppend, withSync, inMemory}, Facts: facts}
}

// ratio is a round trip in units of what it may take.
func ratio(trip, raw, commit time.Duration) float64 {
	return float64(trip) / (rawShare*float64(raw) + commitShare*float64(commit))
}
