package agent_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// hide makes an action that is dispatched now look for its target until it is found.
func (w *world) hide() (looking <-chan struct{}, find func()) {
	pass(desktopTick / 2) // in between two looks of the agent's own
	begun, found := make(chan struct{}), make(chan struct{})
	var looks atomic.Int32
	w.screen.hookState(func() {
		if looks.Add(1) == 1 {
			close(begun)
			<-found
		}
	})
	return begun, func() { close(found) }
}

// desktopTick is how often the agent looks at the desktop by itself.
const desktopTick = time.Second

// Looking for the target takes longer than the server's last answer vouches for, and
// nobody answers any more when it is found.
func TestWhatTheServerNoLongerVouchesForIsNotBegunAndIsDoneWhenItIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		looking, find := w.hide()
		w.must(c.Dispatch(click("a", "a1")))
		<-looking
		c.Deaf()
		pass(5 * time.Second)
		find()
		pass(5 * time.Second)
		if n := w.screen.count(); n != 0 {
			t.Fatalf("%d inputs, and nobody vouched for them", n)
		}
		c.End(status.Error(codes.Unavailable, "the agent does not answer pings"))
		c = w.open()
		if h := c.Hello; h.GetExecuting() != nil || len(h.GetUnfinished())+len(h.GetResults()) != 0 {
			t.Errorf("the hello tells of an action that did not begin: %v", h)
		}
		w.must(c.Dispatch(click("a", "a2")))
		// Its report is the first: none takes the machine for unusable.
		if r := w.report(c); !r.GetSuccess() || r.GetAttemptId() != "a2" || w.screen.count() != 1 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
	})
}

// The stream is cut and back before the target is found: nothing is looked for twice.
func TestACutWhileTheTargetIsLookedForCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		looking, find := w.hide()
		w.must(c.Dispatch(click("a", "a1")))
		<-looking
		w.server.Cut()
		c = w.open()
		if e := c.Hello.GetExecuting(); e.GetActionId() != "a" {
			t.Errorf("the hello says that it executes %v", e)
		}
		pass(10 * time.Second)
		find()
		if r := w.report(c); !r.GetSuccess() || r.GetAttemptId() != "a1" || w.screen.count() != 1 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
	})
}

// The hello says that it executes the action, and it does not begin: the server must not
// wait for it, and learns that the desktop is fine.
func TestAnActionThatAHelloNamedAndThatDoesNotBeginIsAnsweredAndTheDesktopIsToldAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		w.start(nil)
		c := w.open()
		looking, find := w.hide()
		w.must(c.Dispatch(click("a", "a1")))
		<-looking
		w.server.Cut()
		c = w.accept()
		find()
		synctest.Wait() // it is welcomed when the action has ended
		w.must(c.Welcome(&reprisev1.Welcome{SessionId: "s2"}))
		if r := w.report(c); code(r) != "ERROR_CODE_DESKTOP_UNAVAILABLE" || r.GetAttemptId() != "a1" || w.screen.count() != 0 {
			t.Errorf("report %v, %d inputs", r, w.screen.count())
		}
		for {
			m, err := c.Recv(t.Context())
			w.must(err)
			if s := m.GetDesktopState(); s != nil {
				if s.GetKind() != reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE {
					t.Errorf("after the report it is told %v", s)
				}
				return
			}
		}
	})
}
