package runner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

var errGone = errors.New("the stream is gone")

// silent is a server that does not answer until it does, or the stream ends.
type silent struct {
	asked  chan struct{}
	answer chan error
}

func newSilent() silent { return silent{make(chan struct{}, 9), make(chan error)} }

func (s silent) vouch(ctx context.Context) error {
	s.asked <- struct{}{}
	select {
	case err := <-s.answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// clicks counts the inputs.
func clicks(n *int) executor {
	return func(ctx context.Context, job work.Job) work.Outcome {
		if err := job.Begin(); err != nil {
			code := work.DesktopUnavailable
			if ctx.Err() != nil {
				code = work.Interrupted
			}
			return work.Failure(code, work.NotStarted, err.Error())
		}
		*n++
		return work.Outcome{Completion: work.Completed}
	}
}

func (r *rig) notKnown(actionID string) {
	r.t.Helper()
	if e, known := r.spool.Memory().Get(actionID); known {
		r.t.Errorf("the spool says %q of %s", e.State, actionID)
	}
}

func TestAnActionBeginsOnceTheServerVouchesForItAndIsNotWrittenBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inputs, server := 0, newSilent()
		r := newRig(t, dir(t), clicks(&inputs))
		r.open(server.vouch)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false")
		<-server.asked
		synctest.Wait()
		r.notKnown("a")
		server.answer <- nil
		<-server.asked // once more, behind the write
		if inputs != 0 {
			t.Error("input left before the server vouched")
		}
		server.answer <- nil
		r.expect("report a1 success completed")
		r.end()
		if inputs != 1 {
			t.Errorf("%d inputs", inputs)
		}
	})
}

func TestAnActionThatNobodyVouchesForLeavesNoTraceAndIsDoneWhenItIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inputs, server := 0, newSilent()
		r := newRig(t, dir(t), clicks(&inputs))
		r.open(server.vouch)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false")
		<-server.asked
		r.handle(runner.Lost{})
		server.answer <- errGone
		synctest.Wait()
		r.notKnown("a")
		o, err := r.runner.Opening(t.Context())
		if err != nil || o.Executing != nil || len(o.Unfinished)+len(o.Results) != 0 {
			t.Errorf("the hello says %+v, %v", o, err)
		}
		r.open(nil)
		r.handle(ask("a", "a2"))
		r.expect("progress a2 false", "report a2 success completed")
		r.end()
		if inputs != 1 {
			t.Errorf("%d inputs", inputs)
		}
	})
}

func TestWithoutAStreamNothingBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inputs, found := 0, make(chan struct{})
		click := clicks(&inputs)
		r := newRig(t, dir(t), func(ctx context.Context, job work.Job) work.Outcome {
			<-found
			return click(ctx, job)
		})
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false")
		r.handle(runner.Lost{})
		close(found)
		synctest.Wait()
		r.notKnown("a")
		r.end()
		if inputs != 0 {
			t.Errorf("%d inputs", inputs)
		}
	})
}

// The target was looked for on one stream and is found on the next.
func TestAnActionBeginsOnTheStreamThatIsOpenThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inputs, found := 0, make(chan struct{})
		click := clicks(&inputs)
		r := newRig(t, dir(t), func(ctx context.Context, job work.Job) work.Outcome {
			<-found
			return click(ctx, job)
		})
		r.open(func(context.Context) error { return errGone })
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false")
		r.handle(runner.Lost{})
		r.open(nil)
		r.expect("progress a1 true")
		close(found)
		r.expect("report a1 success completed")
		r.end()
		if inputs != 1 {
			t.Errorf("%d inputs", inputs)
		}
	})
}

// The process may stand still while it writes, too.
func TestAnActionThatIsNoLongerVouchedForOnceStartedIsWrittenIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inputs, server := 0, newSilent()
		r := newRig(t, dir(t), clicks(&inputs))
		r.open(server.vouch)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false")
		<-server.asked
		server.answer <- nil
		<-server.asked
		if e, _ := r.spool.Memory().Get("a"); e.State != spool.Started {
			t.Errorf("the spool says %q", e.State)
		}
		r.handle(runner.Lost{})
		server.answer <- errGone
		synctest.Wait()
		r.notKnown("a")
		r.end()
		if inputs != 0 {
			t.Errorf("%d inputs", inputs)
		}
	})
}

// The cancel was said before the answer, and the loop is told of both in that order.
func TestACancelThatComesBeforeTheAnswerWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		inputs, asked := 0, 0
		vouch := func(ctx context.Context) error {
			if asked++; asked == 2 {
				r.handle(runner.Cancelled{ReplayID: "r"})
			}
			return nil
		}
		r = newRig(t, dir(t), clicks(&inputs))
		r.open(vouch)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false", "report a1 interrupted not_started")
		r.end()
		if inputs != 0 {
			t.Errorf("%d inputs", inputs)
		}
	})
}

func TestACancelEndsTheWaitForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inputs, server := 0, newSilent()
		r := newRig(t, dir(t), clicks(&inputs))
		r.open(server.vouch)
		r.handle(ask("a", "a1"))
		r.expect("progress a1 false")
		<-server.asked
		r.handle(runner.Cancelled{ReplayID: "r"})
		r.expect("report a1 interrupted not_started")
		r.end()
		if inputs != 0 {
			t.Errorf("%d inputs", inputs)
		}
	})
}

// A popup is closed, and while the target is looked for the stream ends: what was vouched
// for before is not vouched for any more.
func TestInputAfterAPopupNeedsTheServersWordAnew(t *testing.T) {
	for name, c := range map[string]struct {
		then   func(r *rig)
		inputs int
		last   string
	}{
		"the stream has ended":    {func(r *rig) { r.handle(runner.Lost{}) }, 1, ""},
		"it is another one":       {func(r *rig) { r.handle(runner.Lost{}); r.open(nil); r.expect("progress a1 true") }, 2, "report a1 success completed"},
		"the server still is":     {func(*rig) {}, 2, "report a1 success completed"},
		"the action is cancelled": {func(r *rig) { r.handle(runner.Cancelled{ReplayID: "r"}) }, 1, "report a1 interrupted not_started"},
	} {
		synctest.Test(t, func(t *testing.T) {
			inputs, asked, found := 0, 0, make(chan struct{})
			click := clicks(&inputs)
			r := newRig(t, dir(t), func(ctx context.Context, job work.Job) work.Outcome {
				if o := click(ctx, job); !o.Success() { // the popup
					return o
				}
				<-found
				return click(ctx, job)
			})
			r.open(func(context.Context) error { asked++; return nil })
			r.handle(ask("a", "a1"))
			r.expect("progress a1 false")
			synctest.Wait()
			if e, _ := r.spool.Memory().Get("a"); e.State != spool.Started || asked != 2 {
				t.Errorf("%s: the spool says %q after %d questions", name, e.State, asked)
			}
			c.then(r)
			close(found)
			synctest.Wait()
			if c.last != "" {
				r.expect(c.last)
			} else {
				r.notKnown("a")
			}
			r.end()
			if inputs != c.inputs {
				t.Errorf("%s: %d inputs, want %d", name, inputs, c.inputs)
			}
		})
	}
}
