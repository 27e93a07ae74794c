package winapi

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// woods are the trees that threads opened.
type woods struct {
	mu             sync.Mutex
	opened, closed int
	openErr        error
	hangs          map[HWND]chan struct{} // finding in the window waits for it
}

type fakeTree struct{ *woods }

func (w *woods) open() (tree, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened++
	return fakeTree{w}, w.openErr
}

func (t fakeTree) find(w HWND, q ElementQuery) ([]Element, error) {
	if until, ok := t.hangs[w]; ok {
		<-until
	}
	if q.Name == "" {
		return nil, errors.New("no name")
	}
	return []Element{{Name: q.Name, ID: idOf([]int32{int32(w)})}}, nil
}

func (t fakeTree) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed++
}

// counts are how many trees were opened and closed.
func (w *woods) counts() [2]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return [2]int{w.opened, w.closed}
}

// inBubble runs a test with threads that must all have ended with it.
func inBubble(t *testing.T, run func(t *testing.T, a *automation, w *woods)) {
	synctest.Test(t, func(t *testing.T) {
		w := &woods{hangs: map[HWND]chan struct{}{}}
		a := newAutomation(w.open, treeBound, mostLost)
		run(t, a, w)
		a.turn <- struct{}{}
		a.retire()
		synctest.Wait()
		if n := w.counts(); w.openErr == nil && n[0] != n[1] {
			t.Errorf("%d opened, %d closed", n[0], n[1])
		}
	})
}

func hung(t *testing.T, a *automation, w HWND, after time.Duration) {
	t.Helper()
	began := time.Now()
	if found, err := a.find(t.Context(), w, ElementQuery{Name: "OK"}); !errors.Is(err, ErrHung) || found != nil {
		t.Errorf("window %d: %v, %v", w, found, err)
	}
	if took := time.Since(began); took != after {
		t.Errorf("window %d: answered after %v, want %v", w, took, after)
	}
}

func finds(t *testing.T, a *automation, w HWND) {
	t.Helper()
	found, err := a.find(t.Context(), w, ElementQuery{Name: "OK"})
	if diff := cmp.Diff([]Element{{Name: "OK", ID: idOf([]int32{int32(w)})}}, found); diff != "" || err != nil {
		t.Errorf("window %d: %v (-want +got):\n%s", w, err, diff)
	}
}

func TestOneThreadAnswersAllQuestions(t *testing.T) {
	inBubble(t, func(t *testing.T, a *automation, w *woods) {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() { finds(t, a, HWND(i)) })
		}
		all.Wait()
		if _, err := a.find(t.Context(), 1, ElementQuery{}); err == nil || err.Error() != "no name" {
			t.Errorf("a question that fails: %v", err)
		}
		if n := w.counts(); n != [2]int{1, 0} {
			t.Errorf("%d opened, %d closed", n[0], n[1])
		}
	})
}

func TestB13_AProgramThatNeverAnswersHoldsNobodyUp(t *testing.T) {
	inBubble(t, func(t *testing.T, a *automation, w *woods) {
		answers := make(chan struct{})
		w.hangs[1] = answers
		hung(t, a, 1, treeBound)
		hung(t, a, 1, 0) // its thread still waits: it is not asked again
		finds(t, a, 2)
		close(answers)
		synctest.Wait()
		finds(t, a, 1)
		if n := w.counts(); n != [2]int{2, 1} {
			t.Errorf("%d opened, %d closed", n[0], n[1])
		}
	})
}

func TestB29_OnlyAFewThreadsAreLeftBehind(t *testing.T) {
	inBubble(t, func(t *testing.T, a *automation, w *woods) {
		answers := make(chan struct{})
		for i := range HWND(mostLost) {
			w.hangs[i] = answers
		}
		for i := range HWND(mostLost) {
			hung(t, a, i, treeBound)
		}
		hung(t, a, 99, 0)
		if n := w.counts(); n != [2]int{mostLost, 0} {
			t.Errorf("%d opened, %d closed", n[0], n[1])
		}
		close(answers)
		synctest.Wait()
		finds(t, a, 99)
	})
}

func TestWhoeverAskedMayLeaveAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, a *automation, w *woods) {
		answers := make(chan struct{})
		w.hangs[1] = answers
		why := errors.New("cancelled")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(why) })
		began := time.Now()
		if _, err := a.find(ctx, 1, ElementQuery{Name: "OK"}); !errors.Is(err, why) || time.Since(began) != time.Second {
			t.Errorf("during the question: %v after %v", err, time.Since(began))
		}
		if _, err := a.find(ctx, 2, ElementQuery{Name: "OK"}); !errors.Is(err, why) {
			t.Errorf("while another is asked: %v", err)
		}
		finds(t, a, 2) // when the first has been given up
		if took := time.Since(began); took != treeBound {
			t.Errorf("the next question waited until %v", took)
		}
		close(answers)
	})
}

func TestAWindowsWithoutUIAutomationIsAskedOnce(t *testing.T) {
	for _, c := range []struct {
		err    error
		opened int
	}{{hresult(-2147221164).failed("CoCreateInstance"), 1}, {errors.New("out of memory"), 3}} {
		inBubble(t, func(t *testing.T, a *automation, w *woods) {
			w.openErr = c.err
			for range 3 {
				if _, err := a.find(t.Context(), 1, ElementQuery{Name: "OK"}); !errors.Is(err, c.err) {
					t.Errorf("%v, want %v", err, c.err)
				}
			}
			if n := w.counts(); n[0] != c.opened {
				t.Errorf("%v: opened %d times, want %d", c.err, n[0], c.opened)
			}
		})
	}
}
