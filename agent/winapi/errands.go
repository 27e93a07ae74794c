package winapi

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// loopPatience is how long a thread with a message loop has for what is asked of it.
const loopPatience = 2 * time.Second

// errLoopEnded says that such a thread is gone.
var errLoopEnded = errors.New("it has ended")

// errands is what a thread with a message loop is asked to do.
type errands struct {
	thread string        // which one it is, for people
	wake   func()        // posts it the message upon which it calls work
	ended  chan struct{} // closed when it has ended

	mu    sync.Mutex
	queue []func()
	over  bool
}

func newErrands(thread string) *errands {
	return &errands{thread: thread, ended: make(chan struct{})}
}

// begin starts the thread, which is to say on made, once, that it may be asked, or why
// not. It is never unlocked, so that the thread of the system, and what Windows keeps for
// it, end with it.
func (e *errands) begin(serve func(made chan<- error)) error {
	made := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(e.ended)
		serve(made)
	}()
	bound := time.NewTimer(10 * time.Second)
	defer bound.Stop()
	select {
	case err := <-made:
		return err
	case <-bound.C:
		return ErrHung
	}
}

// run has the thread do something and waits until it is done.
func (e *errands) run(f func()) error {
	done := make(chan struct{})
	e.mu.Lock()
	if e.over {
		e.mu.Unlock()
		return fmt.Errorf("%s: %w", e.thread, errLoopEnded)
	}
	e.queue = append(e.queue, func() { defer close(done); f() })
	e.mu.Unlock()
	e.wake()
	return e.await(done)
}

func (e *errands) await(done <-chan struct{}) error {
	bound := time.NewTimer(loopPatience)
	defer bound.Stop()
	select {
	case <-done:
		return nil
	case <-e.ended:
		return fmt.Errorf("%s: %w", e.thread, errLoopEnded)
	case <-bound.C:
		return fmt.Errorf("%s: %w", e.thread, ErrHung)
	}
}

// work does what is in the queue. It is called by the thread, also from within a menu
// that is open.
func (e *errands) work() {
	for {
		e.mu.Lock()
		if len(e.queue) == 0 {
			e.mu.Unlock()
			return
		}
		next := e.queue[0]
		e.queue = e.queue[1:]
		e.mu.Unlock()
		next()
	}
}

// end has the thread do what is last, by which it quits, and waits until it has ended.
func (e *errands) end(last func()) error {
	err := e.run(last)
	e.mu.Lock()
	e.over = true
	e.mu.Unlock()
	if err == nil {
		err = e.await(nil)
	}
	if errors.Is(err, errLoopEnded) {
		return nil
	}
	return err
}
