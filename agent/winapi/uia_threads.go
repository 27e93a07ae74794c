package winapi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

const (
	// treeBound is how long a window's program has to say what it is made of.
	treeBound = 5 * time.Second
	// mostLost is how many threads may be waiting for programs that do not answer.
	mostLost = 4
)

// tree is UI Automation as one thread has it.
type tree interface {
	find(w HWND, q ElementQuery) ([]Element, error)
	// close gives back what it holds.
	close()
}

// automation asks UI Automation, one question at a time, on a thread of its own: the
// program of a window answers, and may never do so. Such a thread is left behind, and
// ends when its call comes back; meanwhile its window is not asked again.
type automation struct {
	open  func() (tree, error) // called on the thread that uses it
	bound time.Duration
	most  int
	turn  chan struct{} // held during a question

	// Guarded by turn.
	thread  chan question // to the thread that serves; nil: there is none
	missing error         // this Windows has no UI Automation, as it said

	mu   sync.Mutex
	lost map[chan question]HWND // the threads left behind, and what they wait for
}

type question struct {
	window HWND
	query  ElementQuery
	answer chan<- answer // takes one without a reader
}

type answer struct {
	found []Element
	err   error
	dead  bool // the thread has no UI Automation
}

func newAutomation(open func() (tree, error), bound time.Duration, most int) *automation {
	return &automation{open: open, bound: bound, most: most, turn: make(chan struct{}, 1), lost: map[chan question]HWND{}}
}

// find returns the elements below a window. Its caller may leave at any time; the
// question then ends by itself, within its bound.
func (a *automation) find(ctx context.Context, w HWND, q ElementQuery) ([]Element, error) {
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	done := make(chan answer, 1)
	go func() {
		defer func() { <-a.turn }()
		done <- a.ask(w, q)
	}()
	select {
	case got := <-done:
		return got.found, got.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ask has the thread ask, and leaves it behind when it does not come back.
func (a *automation) ask(w HWND, q ElementQuery) answer {
	if err := a.hopeless(w); err != nil {
		return answer{err: err}
	}
	if a.thread == nil {
		a.thread = make(chan question, 1)
		go a.serve(a.thread)
	}
	heard := make(chan answer, 1)
	a.thread <- question{w, q, heard}
	bound := time.NewTimer(a.bound)
	defer bound.Stop()
	select {
	case got := <-heard:
		if got.dead {
			a.retire()
			if errors.Is(got.err, ErrNotHere) {
				a.missing = got.err
			}
		}
		return got
	case <-bound.C:
		a.mu.Lock()
		a.lost[a.thread] = w
		a.mu.Unlock()
		a.retire()
		return answer{err: fmt.Errorf("after %v: %w", a.bound, ErrHung)}
	}
}

// hopeless says why a window need not be asked; nil: it may be.
func (a *automation) hopeless(w HWND) error {
	if a.missing != nil {
		return a.missing
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, waitsFor := range a.lost {
		if waitsFor == w {
			return fmt.Errorf("since it was asked before: %w", ErrHung)
		}
	}
	if len(a.lost) >= a.most {
		return fmt.Errorf("as %d others do not: %w", len(a.lost), ErrHung)
	}
	return nil
}

// retire lets the thread end as soon as it can. The next question gets a new one.
func (a *automation) retire() {
	if a.thread != nil {
		close(a.thread)
		a.thread = nil
	}
}

// serve is the thread. It is never unlocked, so that the thread of the system ends with
// it, and all that COM keeps for that thread.
func (a *automation) serve(questions chan question) {
	runtime.LockOSThread()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.lost, questions)
	}()
	t, err := a.open()
	if err == nil {
		defer t.close()
	}
	for q := range questions {
		if err != nil {
			q.answer <- answer{err: err, dead: true}
			continue
		}
		found, failed := t.find(q.window, q.query)
		q.answer <- answer{found: found, err: failed}
	}
}
