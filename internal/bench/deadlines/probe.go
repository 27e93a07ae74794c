package deadlines

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/replay"
)

// sample is one dispatch: a report was due to be posted then, and so long after
// that the next action was handed to the session.
type sample struct {
	at   time.Time
	took time.Duration
}

// watchSweeps reports and dispatches on one more machine, now and again, while
// sweeps run over all of them.
func (w *world) watchSweeps(ctx context.Context, r *Result) error {
	const machine = "desk-watched"
	clicks := int(time.Duration(w.cfg.Sweeps+4)*w.cfg.SweepEvery/w.cfg.Every) + 2
	conn := make(lively, 1)
	if err := begin(ctx, w.fleet, machine, clicks, conn); err != nil {
		return err
	}
	w.forget()
	loop, next := w.fleet.Loop(machine), time.NewTimer(0)
	defer next.Stop()
	action, err := conn.wait(ctx)
	if err != nil {
		return err
	}
	var list []sample
	at := time.Now()
	for seen := 0; seen < w.cfg.Sweeps; {
		if len(list)%clicks == clicks-1 { // sweeps take as long as they take: there is always another click
			if err := submit(ctx, w.fleet, machine, fmt.Sprintf("replay-%s-%d", machine, len(list)), clicks); err != nil {
				return err
			}
		}
		at = at.Add(w.cfg.Every)
		next.Reset(time.Until(at))
		select {
		case <-next.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		report := replay.Report{Success: true, Completion: replay.CompletionCompleted, SpoolID: "spool"}
		in := dispatch.Report{SessionID: "session-" + machine, Result: dispatch.Result{Ref: dispatch.Ref{ActionID: action}, Report: report}}
		if err := loop.Post(ctx, in); err != nil {
			return err
		}
		if action, err = conn.wait(ctx); err != nil {
			return err
		}
		now := time.Now()
		list = append(list, sample{at: at, took: now.Sub(at)})
		at = latest(at, now.Add(-w.cfg.Every)) // what a long wait held up is not made up for
		select {
		case <-w.sweep:
			seen++
		default:
		}
	}
	return w.compare(list, r)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// forget drops the sweeps so far, which nobody watched.
func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sweeps = nil
	for len(w.sweep) > 0 {
		<-w.sweep
	}
}

// compare sums up the dispatches of each sweep, and those of stretches of the same
// length in between.
func (w *world) compare(list []sample, r *Result) error {
	w.mu.Lock()
	sweeps := slices.Clone(w.sweeps)
	w.mu.Unlock()
	var lasted []time.Duration
	var between []stretch
	for _, s := range sweeps {
		lasted = append(lasted, s.to.Sub(s.from))
	}
	for i, s := range sweeps {
		// One that is over soon still has a dispatch begin in it.
		s.to = s.from.Add(max(s.to.Sub(s.from), 2*w.cfg.Every))
		sweeps[i] = s
		between = append(between, stretch{from: s.from.Add(-w.cfg.SweepEvery / 2), to: s.to.Add(-w.cfg.SweepEvery / 2)})
	}
	slices.Sort(lasted)
	r.Sweep = quantile(lasted, 0.5)
	var ok, alsoOK bool
	r.Swept, ok = during(list, sweeps)
	r.Between, alsoOK = during(list, between)
	if !ok || !alsoOK {
		return fmt.Errorf("no dispatch fell into the %d sweeps, or none between them", len(sweeps))
	}
	return nil
}

// during sums up the dispatches that were under way in a stretch; false: none was.
func during(list []sample, stretches []stretch) (Dispatch, bool) {
	var all, worst []time.Duration
	for _, s := range stretches {
		var longest time.Duration
		for _, d := range list {
			if d.at.Before(s.to) && d.at.Add(d.took).After(s.from) {
				all = append(all, d.took)
				longest = max(longest, d.took)
			}
		}
		if longest > 0 {
			worst = append(worst, longest)
		}
	}
	if len(all) == 0 {
		return Dispatch{}, false
	}
	slices.Sort(all)
	slices.Sort(worst)
	return Dispatch{P50: quantile(all, 0.5), Worst: quantile(worst, 0.5)}, true
}

// lively is an agent that reports when it is told to; it gets the ids of actions.
type lively chan string

func (l lively) Send(e dispatch.Effect) {
	if d, ok := e.(dispatch.Deliver); ok {
		l <- d.Delivery.ActionID // there is room: the one before was taken
	}
}

func (lively) Close(error) {}

func (l lively) wait(ctx context.Context) (string, error) {
	select {
	case id := <-l:
		return id, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
