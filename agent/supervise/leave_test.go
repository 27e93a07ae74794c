package supervise

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/desktop"
)

func TestB11_AHelperThatDoesNotLeaveIsKilledBeforeTheNextOneIsStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3)
		w.m.prepare = func(p *fakeProcess) { p.obeys = false }
		w.run("")
		w.m.set(remote3.as(Disconnected), remote5)
		w.changed <- struct{}{}
		w.pass(3*time.Second - 1)
		w.in(3)
		w.heard()
		w.pass(1)
		w.in(5)
		want := []string{"kill 3", "end 3: exit code 1", "absent: agent impaired", "start 5", "connect"}
		if diff := cmp.Diff(want, w.heard()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestB11_AHelperWhoseConnectionBreaksIsReplacedThoughItsProcessLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3)
		w.m.prepare = func(p *fakeProcess) { p.obeys = false }
		w.run("")
		_ = w.m.last().theirs.Close()
		synctest.Wait()
		if got := w.d.now(); !strings.Contains(got.Detail, "connection broke") {
			t.Errorf("the desk was told %+v", got)
		}
		w.pass(5 * time.Second)
		w.in(3)
		if n := w.m.count(); n != 2 {
			t.Errorf("%d helpers", n)
		}
	})
}

func TestB11_AHelperThatNeverCallsIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3)
		w.m.prepare = func(p *fakeProcess) { p.calls, p.obeys = make(chan struct{}), false }
		w.run("")
		w.pass(20*time.Second - 1)
		w.in(3)
		if got := w.d.now(); !strings.Contains(got.Detail, "being started") {
			t.Errorf("the desk was told %+v", got)
		}
		w.pass(1)
		w.in()
		if got := w.d.now(); !strings.Contains(got.Detail, errLate.Error()) {
			t.Errorf("the desk was told %+v", got)
		}
	})
}

func TestB11_AHelperThatTheDeskRefusesIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3)
		w.d.refuse = errors.New("wrong secret")
		w.run("")
		w.in()
		if got := w.d.now(); !strings.Contains(got.Detail, "wrong secret") {
			t.Errorf("the desk was told %+v", got)
		}
		w.change(func() { w.d.refuse = nil })
		w.pass(2 * time.Second)
		w.in(3)
	})
}

func TestB11_AHelperThatCannotBeStartedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3)
		w.m.refuse = errors.New("only a service reaches session 3")
		w.run("")
		w.pass(10 * time.Minute)
		if got := w.d.now(); !strings.Contains(got.Detail, "only a service") {
			t.Errorf("the desk was told %+v", got)
		}
		if n := len(w.lines()); n > 20 {
			t.Errorf("%d lines", n)
		}
	})
}

// A desk that is told of an absence after it has taken a helper would have none.
func TestB11_TheDeskIsNotToldOfAnAbsenceWhileItTakesAHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3)
		w.d.slow = 5 * time.Second
		w.run("")
		locked := remote3
		locked.Locked = true
		w.m.set(locked)
		w.pass(10 * time.Second)
		w.in(3)
		if got := w.d.now(); got != (desktop.State{}) {
			t.Errorf("a helper serves, and the desk was told %v", got)
		}
	})
}

func TestB11_ASessionThatGoesWhileItsHelperIsConnectedLeavesNobody(t *testing.T) {
	for _, slow := range []time.Duration{0, 15 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t, remote3)
			w.d.slow = slow
			w.run("")
			w.pass(2 * time.Second)
			w.m.set(logon)
			w.pass(time.Second)
			w.in()
			if got := w.d.now(); got.Kind != desktop.NoUser {
				t.Errorf("slow %v: the desk was told %v", slow, got)
			}
		})
	}
}

func TestB11_WhoCannotSeeTheSessionsLeavesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3).run("")
		w.change(func() { w.m.sessions, w.m.err = nil, errors.New("the service of sessions does not answer") })
		w.pass(time.Minute)
		w.in(3)
		w.m.last().die(Exit{Code: 1})
		w.pass(10 * time.Minute)
		w.in()
		if got := w.d.now(); got.Kind != desktop.AgentImpaired || !strings.Contains(got.Detail, "does not answer") {
			t.Errorf("the desk was told %+v", got)
		}
		if n := len(w.lines()); n > 20 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestB11_TheEndOfTheServiceEndsTheHelperInOrder(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		t.Run(fmt.Sprintf("obeys=%v", obeys), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begin(t, remote3)
				w.m.prepare = func(p *fakeProcess) { p.obeys = obeys }
				w.run("")
				w.heard()
				began := time.Now()
				if err := w.stop(); !errors.Is(err, errStopped) {
					t.Errorf("Run = %v", err)
				}
				w.in()
				if got, want := time.Since(began), 3*time.Second; !obeys && got != want || obeys && got != 0 {
					t.Errorf("it took %v", got)
				}
				if log := strings.Join(w.lines(), "\n"); !strings.Contains(log, "the helper has left") || strings.Contains(log, "WARN") {
					t.Errorf("logged %q", log)
				}
				if got := w.heard(); got[0] != "absent: agent impaired" {
					t.Errorf("the desk was told late: %q", got)
				}
			})
		})
	}
}

func TestB11_TheEndOfTheServiceDoesNotWaitForADeskThatTakesAHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3)
		w.d.slow = 15 * time.Second
		w.run("")
		w.pass(time.Second)
		began := time.Now()
		_ = w.stop()
		w.in()
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		if got := w.d.now(); got.Kind != desktop.AgentImpaired || got.Detail != "the agent is ending" {
			t.Errorf("the desk was told %+v", got)
		}
	})
}

func TestASessionIsLookedAtEachSecondAndAtOnceWhenItChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t).run("")
		w.m.set(remote3)
		w.pass(time.Second - 1)
		w.in()
		w.pass(1)
		w.in(3)
		w.m.set(remote5)
		w.changed <- struct{}{}
		synctest.Wait()
		w.in(5)
		close(w.changed) // whoever told of changes has ended
		synctest.Wait()
		before := w.m.looks()
		w.pass(10 * time.Second)
		if got := w.m.looks() - before; got < 9 || got > 11 {
			t.Errorf("%d looks in 10 s", got)
		}
	})
}
