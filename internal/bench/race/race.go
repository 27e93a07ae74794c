// Package race drives many streams at a time and counts what they get done while
// every one of them has work. It knows nothing of what a job is, so that two
// systems are measured by the same hands; what a ratio of them means is decided
// elsewhere.
package race

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Worker is one end of a stream that is handed jobs, one at a time. It is used by
// one goroutine, but for Abort.
type Worker interface {
	// Next waits for the next job. After the last one has been answered it returns
	// io.EOF, once the other end has said that all of them count.
	Next() error
	// Answer answers the job that Next has returned.
	Answer() error
	// Abort makes Next and Answer fail.
	Abort()
}

// Hooks are called from one goroutine. Either may be nil.
type Hooks struct {
	Begin func() error // every worker has its first job, and none has answered
	End   func() error // the first worker is done, the others still work
}

// Result is what was done between Begin and End, and how long it took.
type Result struct {
	Actions    int // jobs answered whose next one has come
	Took       time.Duration
	RoundTrips []time.Duration // each from an answer to the next job, of the whole run; in no order
}

// PerSecond is the rate of all workers together.
func (r Result) PerSecond() float64 { return float64(r.Actions) / r.Took.Seconds() }

// Run lets each worker do its jobs, which must be the given number, and returns
// when all are done. The first failure aborts all of them.
func Run(workers []Worker, jobs int, h Hooks) (Result, error) {
	if len(workers) == 0 || jobs < 2 {
		return Result{}, fmt.Errorf("race: %d workers with %d jobs each are none", len(workers), jobs)
	}
	c := newCourse(len(workers), jobs)
	var wait sync.WaitGroup
	for i, w := range workers {
		wait.Go(func() {
			if err := c.drive(i, w); err != nil {
				c.fail(fmt.Errorf("race: worker %d, after %d jobs: %w", i, c.done[i].Load(), err))
				for _, other := range workers {
					other.Abort()
				}
			}
		})
	}
	res, err := c.judge(h)
	if err != nil {
		for _, w := range workers {
			w.Abort()
		}
	}
	wait.Wait()
	err = errors.Join(c.cause, err)
	for _, trips := range c.trips {
		res.RoundTrips = append(res.RoundTrips, trips...)
	}
	return res, err
}

// course is what the workers and the judge share.
type course struct {
	jobs    int
	done    []atomic.Int64
	trips   [][]time.Duration // each worker's own until it has ended
	ready   sync.WaitGroup
	start   chan struct{}
	first   sync.Once
	arrived chan struct{} // closed by the first worker that is done
	over    sync.Once
	cause   error // the first worker's that failed: the others fail because of it
	failed  chan struct{}
}

// fail ends the course; nil: a hook has failed.
func (c *course) fail(cause error) {
	c.over.Do(func() {
		c.cause = cause
		close(c.failed)
	})
}

func newCourse(workers, jobs int) *course {
	c := &course{
		jobs: jobs, done: make([]atomic.Int64, workers), trips: make([][]time.Duration, workers),
		start: make(chan struct{}), arrived: make(chan struct{}), failed: make(chan struct{}),
	}
	for i := range c.trips {
		c.trips[i] = make([]time.Duration, 0, jobs)
	}
	c.ready.Add(workers)
	return c
}

// drive does one worker's jobs.
func (c *course) drive(i int, w Worker) error {
	err := w.Next()
	c.ready.Done()
	if err != nil {
		return err
	}
	select {
	case <-c.start:
	case <-c.failed:
		return errors.New("another worker failed")
	}
	for n := 1; ; n++ {
		at := time.Now()
		if err := w.Answer(); err != nil {
			return err
		}
		err := w.Next()
		if n == c.jobs {
			c.first.Do(func() { close(c.arrived) })
			if err == nil {
				return fmt.Errorf("a job more than %d came", c.jobs)
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
		}
		if err != nil {
			return err
		}
		c.trips[i] = append(c.trips[i], time.Since(at))
		c.done[i].Add(1)
	}
}

// judge measures from the moment when all have a job to the one when the first is
// done.
func (c *course) judge(h Hooks) (Result, error) {
	c.ready.Wait()
	if h.Begin != nil {
		if err := h.Begin(); err != nil {
			c.fail(nil)
			return Result{}, err
		}
	}
	began := time.Now()
	close(c.start)
	select {
	case <-c.arrived:
	case <-c.failed:
		return Result{}, nil // the worker says why
	}
	var err error
	if h.End != nil {
		err = h.End()
	}
	res := Result{Took: time.Since(began)}
	for i := range c.done {
		res.Actions += int(c.done[i].Load())
	}
	return res, err
}
