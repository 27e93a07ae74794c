package servertest

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// alone is an agent whose stream ends in the test. It runs in a bubble.
func alone(t *testing.T) (*Agent, *stream) {
	t.Helper()
	a := newAgent("desk-1", nil, nil, slog.New(slog.DiscardHandler))
	a.life, a.stop = context.WithCancel(t.Context())
	st := &stream{cancel: func() {}, out: make(chan *reprisev1.ConnectRequest, queueLength), greeted: true}
	a.stream = st
	t.Cleanup(func() {
		a.stop()
		a.Die()
		a.work.Wait()
	})
	return a, st
}

// deliver hands dispatches to the agent, one after the other.
func (a *Agent) deliver(all ...*reprisev1.Dispatch) {
	for _, d := range all {
		a.change(func() { a.dispatched(d) })
	}
}

// reported returns the reports that the agent has sent so far.
func (s *stream) reported() []*reprisev1.Report {
	var all []*reprisev1.Report
	for len(s.out) > 0 {
		if r := (<-s.out).GetReport(); r != nil {
			all = append(all, r)
		}
	}
	return all
}

func TestRepeatedDispatchTouchesTheDesktopOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, st := alone(t)
		a.On("a", Succeed().After(10*time.Second))
		again := dispatch("a")
		again.AttemptId = "a.2"
		a.deliver(dispatch("a"), again) // the second while it executes
		time.Sleep(time.Minute)
		a.deliver(dispatch("a")) // and one when it is done
		synctest.Wait()
		if diff := cmp.Diff([]string{"a"}, a.Executed()); diff != "" {
			t.Errorf("executed (-want +got):\n%s", diff)
		}
		reports := st.reported()
		if len(reports) != 2 || reports[0].GetAttemptId() != "a.2" ||
			!slices.Contains(reports[1].GetWarnings(), reprisev1.Warning_WARNING_ALREADY_EXECUTED) {
			t.Errorf("reported: %v", reports)
		}
	})
}

// At most one action is received and not begun, and it goes with the stream.
func TestANewerDispatchReplacesTheOneThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := alone(t)
		a.On("a", Succeed().After(10*time.Second))
		a.On("c", Succeed().After(10*time.Second))
		a.deliver(dispatch("a"), dispatch("b"), dispatch("c"))
		time.Sleep(15 * time.Second)
		a.deliver(dispatch("d"))
		a.Disconnect()
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"a", "c"}, a.Executed()); diff != "" {
			t.Errorf("executed (-want +got):\n%s", diff)
		}
	})
}

// A process that has died says nothing more, and what it was doing is unfinished.
func TestADeadProcessReportsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, st := alone(t)
		a.On("a", Succeed().After(10*time.Second))
		a.deliver(dispatch("a"))
		time.Sleep(time.Second)
		a.Die()
		time.Sleep(time.Minute)
		if reports := st.reported(); len(reports) != 0 {
			t.Errorf("reported: %v", reports)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		h := a.hello()
		if len(h.GetUnfinished()) != 1 || h.GetExecuting() != nil || len(h.GetResults()) != 0 || h.GetLastExit() == "" {
			t.Errorf("the next process says %v", h)
		}
	})
}
