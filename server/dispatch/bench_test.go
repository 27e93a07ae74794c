package dispatch

import (
	"fmt"
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
