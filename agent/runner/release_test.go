package runner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

func TestAPanicInTheExecutorIsAReportAndLetsGoOfTheKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dir(t), func(_ context.Context, job work.Job) work.Outcome {
			if err := job.Begin(); err != nil {
				t.Error(err)
			}
			panic("no such desktop")
		})
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "report a1 internal unknown")
		if r.released.Load() != 1 {
			t.Errorf("released %d times", r.released.Load())
		}
		r.end()
	})
}

func TestAPanicBesideTheExecutorEndsNoProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		r := newRig(t, dir(t), func(ctx context.Context, job work.Job) work.Outcome {
			if calls++; calls == 1 {
				panic("no such desktop")
			}
			return click(ctx, job)
		})
		r.panics.Store(1) // letting go
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "report a1 internal not_started")
		synctest.Wait()
		r.handle(runner.PersonActs{Wish: work.PersonStops, By: "stop key"})
		r.expect("ask to stop")
		r.panics.Store(1) // going on
		r.handle(runner.PersonActs{Wish: work.PersonGoesOn})
		r.handle(ask("b", "b1"))
		r.expect("progress b1 false", "report b1 success completed")
		r.end()
	})
}

func TestKeysThatCouldNotBeLetGoOfAreLetGoOfBeforeTheNextAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		r := newRig(t, dir(t), func(ctx context.Context, job work.Job) work.Outcome {
			if calls++; calls == 1 {
				panic("no such desktop")
			}
			return click(ctx, job)
		})
		r.stuck.Store(1)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "report a1 internal not_started")
		r.handle(ask("b", "b1"))
		r.expect("progress b1 false", "report b1 success completed")
		r.handle(ask("c", "c1"))
		r.expect("progress c1 false", "report c1 success completed")
		if r.released.Load() != 2 {
			t.Errorf("released %d times, want the panic's and one more", r.released.Load())
		}
		r.end()
	})
}

// A desktop that takes long to let go of keys holds up the next action, and neither
// the stream nor what is known without it.
func TestWhatAProcessLeftUnfinishedReleasesTheKeysBeforeTheNextAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := dir(t)
		s, err := spool.Open(spool.Config{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Append(spool.Record{Type: spool.TypeStarted, Ref: work.Ref{ActionID: "a", AttemptID: "a1"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		slow := make(chan struct{})
		var r *rig
		r = newRigAt(t, fs, func(ctx context.Context, job work.Job) work.Outcome {
			if job.ActionID != "b" || r.released.Load() != 1 {
				t.Errorf("%s is executed after %d releases", job.ActionID, r.released.Load())
			}
			return click(ctx, job)
		}, slow)
		r.handle(ask("a", "a2"))
		r.expect("progress a2 false", "report a2 outcome_unknown unknown")
		r.handle(ask("b", "b1"))
		r.expect("progress b1 false", "progress b1 true", "progress b1 true")
		close(slow)
		r.expect("report b1 success completed")
		r.end()
	})
}

func TestB19_KeysThatCouldNotBeLetGoOfAreLetGoOfWithoutAnAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dir(t), func(context.Context, work.Job) work.Outcome { panic("no such desktop") })
		r.stuck.Store(3)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "report a1 internal not_started")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := r.released.Load(); n != 4 {
			t.Errorf("tried %d times, want three failures and a success", n)
		}
		r.end()
	})
}

// A desktop that never answers keeps no process from its end.
func TestTheProcessEndsAlthoughAReleaseHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		defer close(never)
		r := newRigAt(t, dir(t), click, never)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "report a1 success completed")
		began := time.Now()
		r.stop(errTestOver)
		if err := <-r.ended; !errors.Is(err, errTestOver) || time.Since(began) != 5*time.Second {
			t.Errorf("Run = %v after %v", err, time.Since(began))
		}
		if err := r.spool.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A desktop that keeps to its context is asked no longer than that, and the action that
// waits finds out what it takes.
func TestAReleaseThatHangsHoldsUpNoActionForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dir(t), func(ctx context.Context, job work.Job) work.Outcome {
			if job.ActionID == "a" {
				panic("no such desktop")
			}
			return click(ctx, job)
		})
		r.hangs.Store(1)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "progress a1 true", "report a1 internal not_started")
		r.handle(ask("b", "b1"))
		r.expect("progress b1 false", "report b1 success completed")
		r.end()
	})
}
