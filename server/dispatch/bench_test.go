package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

// BenchmarkStep is the report of one action and the dispatch of the next. Its
// cost must not depend on how many actions the replay has.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("actions=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var r *runner
			for b.Loop() {
				if r == nil || r.next == n {
					b.StopTimer()
					r = newRunner(n)
					b.StartTimer()
				}
				r.step()
			}
		})
	}
}

// runner reports one action after the other.
type runner struct {
	m    *Machine
	ids  []string
	next int
}

func newRunner(n int) *runner {
	r := &runner{m: NewMachine("m", config(), began, nil, nil)}
	list := make([]replay.Step, n)
	for i := range list {
		list[i] = click
		r.ids = append(r.ids, fmt.Sprintf("r-%d", i+1))
	}
	r.m.Step(began, Submit{ReplayID: "r", Created: replay.Created{MachineID: "m", Steps: list}, Reply: func(Answer) {}})
	r.m.Step(began, Open{Session: Session{Session: replay.Session{ID: "s", SpoolID: "spool"}, Usable: true}})
	return r
}

func (r *runner) step() Outcome {
	out := r.m.Step(began, Report{SessionID: "s", Result: Result{Ref: Ref{ActionID: r.ids[r.next]}, Report: success}})
	r.next++
	return out
}

// What one action costs is bounded by the action: nothing in a step, but for the
// last one, is as long as the replay.
func TestAStepOfALongReplayAllocatesNoMoreThanOneOfAShortReplay(t *testing.T) {
	cost := func(n int) float64 {
		r := newRunner(n)
		return testing.AllocsPerRun(50, func() {
			for _, e := range r.step().Effects {
				if c, ok := e.(Changed); ok && len(c.View.Actions) > 4 {
					t.Fatalf("a step shows %d actions to the watchers", len(c.View.Actions))
				}
			}
		})
	}
	if short, long := cost(100), cost(10_000); long > short+1 {
		t.Errorf("%v allocations in a replay of 100 actions, %v in one of 10,000", short, long)
	}
}

// appender appends one action after the other to an open replay of n.
func appender(n int) func() Outcome {
	m := NewMachine("m", config(), began, nil, nil)
	list := slices.Repeat([]replay.Step{click}, n)
	m.Step(began, Submit{ReplayID: "r", Created: replay.Created{MachineID: "m", Open: true, Steps: list}, Reply: func(Answer) {}})
	next := 0
	return func() Outcome {
		next++
		id := fmt.Sprintf("request %d", next)
		decide := func(r *replay.Replay) ([]replay.Event, error) {
			return r.DecideAppend(replay.AppendCommand{RequestID: id, RequestHash: "h", Steps: []replay.Step{click}})
		}
		return m.Step(began, Command{ReplayID: "r", AppendID: id, Decide: decide, Reply: func(Answer) {}})
	}
}

// BenchmarkAppend is one action more. But for slices that grow, its cost must not
// depend on how many actions the replay has.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("actions=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			more := appender(n)
			for i := 0; b.Loop(); i++ {
				if i%10_000 == 9999 {
					b.StopTimer()
					more = appender(n)
					b.StartTimer()
				}
				more()
			}
		})
	}
}

func TestAnAppendToALongReplayAllocatesNoMoreThanOneToAShortReplay(t *testing.T) {
	cost := func(n int) float64 {
		more := appender(n)
		return testing.AllocsPerRun(200, func() {
			for _, e := range more().Effects {
				if c, ok := e.(Changed); ok && len(c.View.Actions) != 1 {
					t.Fatalf("an append of one shows %d actions to the watchers", len(c.View.Actions))
				}
			}
		})
	}
	if short, long := cost(10), cost(10_000); long > short+3 {
		t.Errorf("%v allocations for an append to 10 actions, %v to 10,000", short, long)
	}
}
