package race

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// worker gets its jobs after a while each.
type worker struct {
	jobs    int
	each    time.Duration
	failAt  int // the job whose answer fails; 0: none
	at      int
	aborted atomic.Bool
	stop    chan struct{}
}

var errFails = errors.New("it fails")

func newWorker(jobs int, each time.Duration) *worker {
	return &worker{jobs: jobs, each: each, stop: make(chan struct{})}
}

func (w *worker) Next() error {
	wait := time.NewTimer(w.each)
	defer wait.Stop()
	select {
	case <-w.stop:
		return errors.New("aborted")
	case <-wait.C:
	}
	if w.at == w.jobs {
		return io.EOF
	}
	w.at++
	return nil
}

func (w *worker) Answer() error {
	if w.at == w.failAt {
		return errFails
	}
	return nil
}

func (w *worker) Abort() {
	if !w.aborted.Swap(true) {
		close(w.stop)
	}
}

// The window is the time in which every worker has work: the fast one ends it, and
// what the slow one does later is not in it.
func TestOnlyTheTimeCountsInWhichAllHaveWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, slow := newWorker(10, time.Second), newWorker(10, 3*time.Second)
		began, ended := time.Time{}, time.Time{}
		res, err := Run([]Worker{fast, slow}, 10, Hooks{
			Begin: func() error { began = time.Now(); return nil }, End: func() error { ended = time.Now(); return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		if res.Took != 10*time.Second || res.Actions != 9+3 || ended.Sub(began) != res.Took {
			t.Errorf("%d actions in %v, between hooks that are %v apart", res.Actions, res.Took, ended.Sub(began))
		}
		if len(res.RoundTrips) != 18 {
			t.Errorf("%d round trips", len(res.RoundTrips))
		}
	})
}

func TestAWorkerThatFailsEndsTheRun(t *testing.T) {
	for name, failAt := range map[string]int{"at the first job": 1, "later": 4} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bad, good := newWorker(10, time.Second), newWorker(10, time.Minute)
				bad.failAt = failAt
				if _, err := Run([]Worker{bad, good}, 10, Hooks{}); !errors.Is(err, errFails) {
					t.Errorf("Run = %v", err)
				}
				if !good.aborted.Load() {
					t.Error("the other worker was left alone")
				}
			})
		})
	}
}

func TestJobsTooManyOrTooFewAreAnError(t *testing.T) {
	for name, jobs := range map[string]int{"too many": 11, "too few": 9} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if _, err := Run([]Worker{newWorker(jobs, time.Second)}, 10, Hooks{}); err == nil {
					t.Errorf("%d jobs passed for 10", jobs)
				}
			})
		})
	}
}

func TestAHookThatFailsEndsTheRun(t *testing.T) {
	for name, h := range map[string]Hooks{"begin": {Begin: func() error { return errFails }}, "end": {End: func() error { return errFails }}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if _, err := Run([]Worker{newWorker(3, time.Second), newWorker(3, time.Hour)}, 3, h); !errors.Is(err, errFails) {
					t.Errorf("Run = %v", err)
				}
			})
		})
	}
}

func TestNothingToDoIsAnError(t *testing.T) {
	if _, err := Run(nil, 10, Hooks{}); err == nil || !strings.Contains(err.Error(), "0 workers") {
		t.Errorf("Run = %v", err)
	}
}
