package agent_test

import (
	"context"
	"fmt"
	"image"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/driver"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// attended is a screen with a person before it.
type attended struct {
	*screen
	acts chan driver.Act

	mu      sync.Mutex
	stopped bool
	shown   []string
}

func newAttended() *attended { return &attended{screen: newScreen(), acts: make(chan driver.Act)} }

func (a *attended) Do(ctx context.Context, in driver.Input) error {
	a.mu.Lock()
	stopped := a.stopped
	a.mu.Unlock()
	if stopped {
		return &driver.InputError{Err: driver.ErrStopped}
	}
	return a.screen.Do(ctx, in)
}

func (a *attended) Attend(ctx context.Context, told func(driver.Act)) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case act := <-a.acts:
			told(act)
		}
	}
}

// stop presses the stop key.
func (a *attended) stop() {
	a.mu.Lock()
	a.stopped = true
	a.mu.Unlock()
	a.acts <- driver.Act{Kind: driver.Stopped, By: "stop key"}
}

func (a *attended) Hold(_ context.Context, stop driver.Act) error {
	a.note("hold: %s", stop.By)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	return nil
}

func (a *attended) GoOn(context.Context) error {
	time.Sleep(time.Second) // nothing is executed before it is over
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = false
	return nil
}

func (a *attended) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown = append(a.shown, fmt.Sprintf(format, args...))
}

// seen is what the person has been shown.
func (a *attended) seen() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.shown)
}

func (a *attended) ShowPause(_ context.Context, n driver.Notice) error {
	a.note("show %s: %s, %s %v", n.PauseID, n.Reason, n.Message, n.Checks)
	return nil
}

func (a *attended) ShowServer(_ context.Context, connected bool) error {
	a.note("server %v", connected)
	return nil
}

func (a *attended) HidePause(_ context.Context, id string) error {
	a.note("hide %s", id)
	return nil
}

func (a *attended) Announce(_ context.Context, around image.Rectangle, d time.Duration) error {
	a.note("outline %v for %v", around, d)
	return nil
}

func newAttendedWorld(t *testing.T, change func(*agent.Config)) (*world, *attended) {
	t.Helper()
	w, desk := newWorld(t), newAttended()
	w.screen = desk.screen
	w.start(func(c *agent.Config) {
		c.Driver = desk
		if change != nil {
			change(c)
		}
	})
	return w, desk
}

// asked is what the person asks for, by what the server hears next.
func asked(t *testing.T, w *world, m *reprisev1.ConnectRequest, err error) string {
	t.Helper()
	w.must(err)
	return m.GetPersonRequest().GetKind().String()
}

func TestTheStopKeyWorksWithoutTheServerWhichLearnsOfItWhenItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, desk := newAttendedWorld(t, nil)
		defer w.close()
		c := w.open()
		w.must(c.Dispatch(click("a", "a1")))
		w.must(c.Ack(w.report(c)))
		synctest.Wait()
		w.server.Cut()
		<-c.Done()
		desk.stop()
		c = w.open()
		m, err := c.Recv(t.Context())
		if got := asked(t, w, m, err); got != "PERSON_REQUEST_KIND_STOP" {
			t.Errorf("the server hears %v first", m)
		}
		w.must(c.Dispatch(click("b", "b1")))
		r := w.report(c)
		if r.GetError().GetCode() != reprisev1.ErrorCode_ERROR_CODE_PERSON || r.GetCompletion() != reprisev1.Completion_COMPLETION_NOT_STARTED {
			t.Errorf("the next action is reported as %v", r)
		}
		w.must(c.Ack(r))
		w.must(c.Dispatch(click("b_resume", "b2")))
		if r := w.report(c); !r.GetSuccess() || w.screen.count() != 2 {
			t.Errorf("the resumed action is reported as %v, %d inputs", r, w.screen.count())
		}
	})
}

func TestB19_AStopWithoutAServerOutlivesTheAgentsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, desk := newAttendedWorld(t, nil)
		defer w.close()
		desk.stop()
		synctest.Wait()
		w.stop()
		desk = newAttended()
		w.screen = desk.screen
		w.start(func(c *agent.Config) { c.Driver = desk })
		c := w.open()
		m, err := c.Recv(t.Context())
		if got := asked(t, w, m, err); got != "PERSON_REQUEST_KIND_STOP" {
			t.Errorf("the server hears %v first", m)
		}
		if diff := cmp.Diff([]string{"hold: stop key", "server false", "server true"}, desk.seen()); diff != "" {
			t.Errorf("the person sees, -want +got:\n%s", diff)
		}
		w.must(c.Dispatch(click("a", "a1")))
		r := w.report(c)
		if r.GetError().GetCode() != reprisev1.ErrorCode_ERROR_CODE_PERSON || w.screen.count() != 0 {
			t.Errorf("the first action is reported as %v after %d inputs", r, w.screen.count())
		}
		w.must(c.Ack(r))
		w.must(c.Dispatch(click("a_resume", "a2")))
		if r := w.report(c); !r.GetSuccess() {
			t.Errorf("the resumed action is reported as %v", r)
		}
	})
}

func TestMouseOrKeyboardUsedDuringAnActionAsksToTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, desk := newAttendedWorld(t, nil)
		defer w.close()
		c := w.open()
		w.screen.onInput = func() { desk.acts <- driver.Act{Kind: driver.Used, By: "mouse"} }
		w.must(c.Dispatch(click("a", "a1")))
		var kinds []string
		for len(kinds) < 2 {
			m, err := c.Recv(t.Context())
			w.must(err)
			switch {
			case m.GetPersonRequest() != nil:
				kinds = append(kinds, m.GetPersonRequest().GetKind().String())
			case m.GetReport() != nil:
				kinds = append(kinds, fmt.Sprint("success ", m.GetReport().GetSuccess()))
			}
		}
		if diff := cmp.Diff([]string{"PERSON_REQUEST_KIND_TAKE_OVER", "success true"}, kinds); diff != "" {
			t.Errorf("the server hears, -want +got:\n%s", diff)
		}
	})
}

func TestPausesAreShownAtTheDesktopAndPlacesOutlined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, desk := newAttendedWorld(t, func(c *agent.Config) { c.Announce = 100 * time.Millisecond })
		defer w.close()
		c := w.open()
		w.must(c.Dispatch(click("a", "a1")))
		w.must(c.Ack(w.report(c)))
		w.must(c.Send(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Pause{Pause: &reprisev1.Pause{
			ReplayId: "r", PauseId: "p", Reason: reprisev1.PauseReason_PAUSE_REASON_WRONG_WINDOW, Message: "look",
			SafetyChecks: []*reprisev1.SafetyCheck{{Label: "saved?"}},
		}}}))
		w.must(c.Send(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Resume{Resume: &reprisev1.Resume{ReplayId: "r", PauseId: "p"}}}))
		synctest.Wait()
		want := []string{"server false", "server true", "outline (8,0)-(57,49) for 100ms", "show p: wrong_window, look [saved?]", "hide p"}
		if diff := cmp.Diff(want, desk.seen()); diff != "" {
			t.Errorf("the person sees, -want +got:\n%s", diff)
		}
	})
}

// nobodys is a desktop that learns that nobody sits at it.
type nobodys struct {
	*attended
	asked atomic.Int32
}

func (n *nobodys) Attend(context.Context, func(driver.Act)) error {
	n.asked.Add(1)
	return driver.ErrUnsupported
}

func TestADesktopAtWhichNobodySitsIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, desk := newWorld(t), &nobodys{attended: newAttended()}
		defer w.close()
		w.start(func(c *agent.Config) { c.Driver = desk })
		w.open()
		pass(time.Minute)
		if n := desk.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}
