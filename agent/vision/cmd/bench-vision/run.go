package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/reprise-rpa/reprise/agent/vision"
	"github.com/reprise-rpa/reprise/agent/vision/screens"
	"github.com/reprise-rpa/reprise/internal/bench/report"
)

// limit is the goal: no slower than matchTemplate.
const limit = 1

var (
	screenSize = image.Pt(2560, 1600)
	anchorSize = image.Pt(64, 64)
)

// measured is one search.
type measured struct {
	cpu, wall time.Duration
	score     float64     // of the best place
	at        image.Point // where it is
}

// task is a scene to search, again and again.
type task struct {
	name string
	screens.Scene
}

func tasks() []task {
	var out []task
	for _, k := range screens.Kinds() {
		out = append(out,
			task{k.Name + ", found", k.Found(screenSize, anchorSize, 1)},
			task{k.Name + ", missing", k.Missing(screenSize, anchorSize, 1)})
	}
	return out
}

func run(ctx context.Context, o options, folder string, w io.Writer) (err error) {
	theirs, err := startOpenCV(ctx, o.python, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, theirs.stop()) }()
	_, _ = fmt.Fprintf(w, "an anchor of %v in %v, least score %v, %d repetitions each, %d processors\n",
		anchorSize, screenSize, o.minScore, o.repetitions, runtime.NumCPU())
	all := tasks()
	var results []result
	for _, t := range all {
		r, err := measure(ctx, t, theirs, o)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		results = append(results, r)
	}
	if err := write(w, theirs.version, results); err != nil {
		return err
	}
	if o.profile != "" {
		return profile(o, all)
	}
	return nil
}

// result is what was measured of one task, once per repetition.
type result struct {
	name         string
	ratios       []float64 // of processor time on one thread
	walls        []float64 // of wall time on one thread
	cores        []float64 // of our wall time on all processors to theirs on one
	ours, theirs []float64 // milliseconds of processor time
	fault        string    // what the two do not agree on
}

// measure lets both search in turn. The first round warms up and does not count.
func measure(ctx context.Context, t task, theirs *opencv, o options) (result, error) {
	r := result{name: t.name}
	if err := theirs.load(t.Screen, t.Anchor); err != nil {
		return r, err
	}
	for i := range o.repetitions + 1 {
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		their, err := theirs.run()
		if err != nil {
			return r, err
		}
		one, err := find(t, o.minScore, 1)
		if err != nil {
			return r, err
		}
		all, err := find(t, o.minScore, runtime.NumCPU())
		if err != nil {
			return r, err
		}
		if r.fault = differ(t, one, their, o.minScore); r.fault != "" {
			return r, nil
		}
		if i == 0 {
			continue
		}
		r.ratios = append(r.ratios, float64(one.cpu)/float64(their.cpu))
		r.walls = append(r.walls, float64(one.wall)/float64(their.wall))
		r.cores = append(r.cores, float64(all.wall)/float64(their.wall))
		r.ours = append(r.ours, one.cpu.Seconds()*1e3)
		r.theirs = append(r.theirs, their.cpu.Seconds()*1e3)
	}
	return r, nil
}

// find searches on so many threads, from the colours of the screen on.
func find(t task, minScore float64, threads int) (measured, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	runtime.GC()
	before, err := cpuTime()
	if err != nil {
		return measured{}, err
	}
	begin := time.Now()
	m, err := vision.Find(t.Screen, t.Anchor, vision.Options{MinScore: minScore})
	wall := time.Since(begin)
	var several *vision.AmbiguousError
	switch {
	case errors.As(err, &several):
		m = several.First
	case err != nil && !errors.Is(err, vision.ErrNotFound):
		return measured{}, err
	}
	after, err := cpuTime()
	return measured{cpu: after - before, wall: wall, score: m.Score, at: m.Bounds.Min}, err
}

// differ says what two searches do not agree on, or one of them and the scene.
func differ(t task, ours, theirs measured, minScore float64) string {
	found := theirs.score >= minScore
	switch {
	case found == t.At.Empty():
		return fmt.Sprintf("OpenCV: score %.3f at %v, which is not what the scene says", theirs.score, theirs.at)
	case found != (ours.score > 0):
		return fmt.Sprintf("OpenCV: score %.3f at %v; ours: %.3f", theirs.score, theirs.at, ours.score)
	case found && (ours.at != theirs.at || ours.at != t.At.Min):
		return fmt.Sprintf("OpenCV at %v, ours at %v, the anchor at %v", theirs.at, ours.at, t.At.Min)
	}
	return ""
}

// goal is what N8 says of one task.
func (r result) goal() report.Goal {
	g := report.Goal{Name: "N8", What: r.name, Ratios: r.ratios, Limit: limit}
	if r.fault != "" {
		g.Ratios, g.Missing = nil, r.fault
	}
	return g
}

func write(w io.Writer, version string, results []result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, values ...any) { _, _ = fmt.Fprintf(t, format+"\n", values...) } // Flush says what went wrong
	line("GOAL\tSCREEN, ANCHOR\tRATIO\tSPREAD\tLIMIT\t\tPLACE\tWALL\tALL PROCESSORS\tOURS, ms\tOPENCV %s, ms", version)
	met := 0
	for _, r := range results {
		g := r.goal()
		if r.fault != "" {
			line("%s\t%s\t-\t-\t≤ %.2f\tnot met\tNOT THE SAME: %s", g.Name, g.What, g.Limit, r.fault)
			continue
		}
		verdict := "not met"
		if g.Met() {
			verdict = "met"
			met++
		}
		least, most := slices.Min(r.ratios), slices.Max(r.ratios)
		line("%s\t%s\t%.2f\t%.2f to %.2f\t≤ %.2f\t%s\tsame\t%.2f\t%.2f\t%.0f\t%.0f", g.Name, g.What, report.Median(r.ratios), least, most,
			g.Limit, verdict, report.Median(r.walls), report.Median(r.cores), report.Median(r.ours), report.Median(r.theirs))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nN8 is met on %d of %d\n", met, len(results))
	return err
}

// profile searches each scene once more, on one thread, and writes down where
// the processor's time goes.
func profile(o options, all []task) (err error) {
	f, err := os.Create(o.profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for _, t := range all {
		if _, err := find(t, o.minScore, 1); err != nil {
			return err
		}
	}
	return nil
}
