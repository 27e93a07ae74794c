package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/reprise-rpa/reprise/internal/bench/manymachines"
	"github.com/reprise-rpa/reprise/internal/bench/onemachine"
	"github.com/reprise-rpa/reprise/internal/bench/profile"
	"github.com/reprise-rpa/reprise/internal/bench/report"
)

// sizes are the numbers of machines that are measured, with the actions of each
// machine in a repetition and the share of the raw stream's rate that is the goal.
// A thousand machines do what matters in fewer repetitions.
var sizes = []struct {
	machines, actions int
	rate              float64
	fewer             int
}{
	{machines: 100, actions: 150, rate: 0.7},
	{machines: 1000, actions: 20, rate: 0.8, fewer: 2},
}

// One machine alone does so many actions in a repetition. The disk is the noisiest
// part of it, so its repetitions are short and there are more of them.
const (
	actionsOfOne = 300
	moreOfOne    = 3
)

// run measures what the options ask for and writes the profiles and the table.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	data, err := os.MkdirTemp(o.dir, "data-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	r := runner{options: o, data: data}
	if o.goal != "n2" && o.against == "" {
		if err := r.one(ctx); err != nil {
			return err
		}
	}
	if o.goal != "n1" || o.against != "" {
		if err := r.many(ctx); err != nil {
			return err
		}
	}
	for _, path := range r.profiles {
		if _, err := fmt.Fprintf(out, "profile of the server, %s\n", filepath.Base(path)); err != nil {
			return err
		}
		if err := profile.Print(ctx, out, path, o.profileLines); err != nil {
			return err
		}
	}
	return report.Write(out, r.sections...)
}

// runner is a run and what it has given so far.
type runner struct {
	options
	data     string // an empty folder
	sections []report.Section
	profiles []string
}

// one measures one machine.
func (r *runner) one(ctx context.Context) error {
	say("one machine")
	s, err := onemachine.Measure(ctx, onemachine.Config{
		Dir: filepath.Join(r.data, "one"), MemoryDir: r.memory, Repetitions: moreOfOne * r.repetitions, Actions: actionsOfOne,
		Profile: r.profile("n1"),
	})
	r.sections = append(r.sections, s)
	return err
}

// many measures many machines, against the raw stream or against another build.
func (r *runner) many(ctx context.Context) error {
	for _, size := range sizes {
		if r.machines != 0 && r.machines != size.machines {
			continue
		}
		say("%d machines", size.machines)
		c := manymachines.Config{
			Dir: filepath.Join(r.data, fmt.Sprint(size.machines)), Machines: size.machines, Repetitions: max(3, r.repetitions-size.fewer),
			Actions: size.actions, LeastRate: size.rate,
		}
		var s report.Section
		var err error
		if r.against != "" {
			s, err = manymachines.Compare(ctx, c, r.against)
		} else {
			c.Profile = r.profile(fmt.Sprintf("n2-%d", size.machines))
			s, err = manymachines.Measure(ctx, c)
		}
		if err != nil {
			return err
		}
		r.sections = append(r.sections, s)
	}
	return nil
}

// profile returns where a profile is to be left; empty: none is wanted.
func (r *runner) profile(name string) string {
	if r.profileLines == 0 {
		return ""
	}
	r.profiles = append(r.profiles, filepath.Join(r.dir, name+".pprof"))
	return r.profiles[len(r.profiles)-1]
}

// say tells the person who waits what is being measured.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }
