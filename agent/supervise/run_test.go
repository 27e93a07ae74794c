package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/desktop"
)

var (
	services = Session{ID: 0, User: "SYSTEM", State: Active}
	logon    = Session{ID: 1, State: Active, Console: true} // the console, nobody logged on
	remote3  = Session{ID: 3, User: "alice", Domain: "CORP", State: Active, Remote: true}
	remote5  = Session{ID: 5, User: "bob", Domain: "CORP", State: Active, Remote: true}
)

func (s Session) as(state ConnectState) Session {
	s.State = state
	return s
}

func TestB11_AnEmptyConsoleAndARemoteSessionGiveAHelperInTheRemoteOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, services, logon, remote3).run("")
		w.in(3)
		if got := w.d.now(); got != (desktop.State{}) {
			t.Errorf("a helper serves, and the desk was told %v", got)
		}
		if !bytes.Equal(w.d.secret, w.m.last().secret) || len(w.d.secret) != SecretSize {
			t.Error("desk and helper do not share a secret")
		}
	})
}

func TestB11_TheHelperFollowsASwitchOfUsersInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, services, logon, remote3).run("")
		w.in(3)
		first := w.m.last().secret
		w.heard()
		w.m.set(services, logon, remote3.as(Disconnected), remote5)
		w.changed <- struct{}{}
		synctest.Wait()
		w.in(5)
		want := []string{"absent: agent impaired", "end 3: exit code 0", "absent: agent impaired", "start 5", "connect"}
		got := w.heard()
		over := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "connection over") })
		if over < 1 { // when exactly the desk hears of it is open
			t.Fatalf("the connection was not closed after the desk was told: %q", got)
		}
		if diff := cmp.Diff(want, slices.Delete(got, over, over+1)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if bytes.Equal(first, w.m.last().secret) {
			t.Error("two helpers have one secret")
		}
	})
}

func TestB11_WithoutAUserForTenMinutesTheAgentIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, services, logon).run("")
		w.pass(10 * time.Minute)
		if n := len(w.lines()); n > 20 || !strings.Contains(w.lines()[0], "no user") {
			t.Errorf("%d lines: %.300q", n, w.lines())
		}
		if got := w.d.now(); got.Kind != desktop.NoUser || got.Detail == "" {
			t.Errorf("the desk was told %+v", got)
		}
		if n := len(w.d.all); n != 1 {
			t.Errorf("the desk was told %d times", n)
		}
		if w.m.count() != 0 {
			t.Error("a helper was started for nobody")
		}
		w.m.set(services, logon, remote3)
		w.pass(time.Second)
		w.in(3)
	})
}

func TestB11_AHelperThatDiesAtOnceIsStartedMoreSeldomAndToldOfLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3)
		w.m.prepare = func(p *fakeProcess) { p.die(Exit{Code: 0xc0000005}) }
		w.run("")
		w.pass(10 * time.Minute)
		// 1, 2, 5, 10 s, and then one in 15.
		if n := w.m.count(); n < 40 || n > 45 {
			t.Errorf("%d helpers in 10 minutes", n)
		}
		if lines := w.lines(); len(lines) > 20 || len(lines) < 4 || !strings.Contains(strings.Join(lines, "\n"), "0xC0000005") {
			t.Errorf("%d lines: %.300q", len(lines), lines)
		}
		if got := w.d.now(); got.Kind != desktop.AgentImpaired || !strings.Contains(got.Detail, "the helper ended:") || !strings.Contains(got.Detail, "0xC0000005") {
			t.Errorf("the desk was told %+v", got)
		}
		// Another user's session has not failed yet.
		before := w.m.count()
		w.change(func() { w.m.prepare = nil })
		w.m.set(remote3.as(Disconnected), remote5)
		w.changed <- struct{}{}
		synctest.Wait()
		w.in(5)
		if n := w.m.count(); n != before+1 {
			t.Errorf("%d helpers were started at once", n-before)
		}
	})
}

func TestB11_AHelperThatDiesIsReplacedInItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, remote3, remote5).run("")
		w.in(3)
		for i := range 5 {
			w.m.last().die(Exit{Code: 2, Said: "panic: out of luck"})
			synctest.Wait()
			if got := w.d.now(); got.Kind != desktop.AgentImpaired || !strings.Contains(got.Detail, "exit code 2") {
				t.Fatalf("%d: the desk was told %+v", i, got)
			}
			w.pass(15 * time.Second)
			w.in(3)
		}
		if n := w.m.count(); n != 6 {
			t.Errorf("%d helpers for 5 deaths", n)
		}
		if !strings.Contains(strings.Join(w.lines(), "\n"), "out of luck") {
			t.Error("what the helper said at its end is lost")
		}
	})
}

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
	for _, slow := range []time.Duration{0, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t, remote3)
			w.d.slow = slow
			w.run("")
			w.pass(2 * time.Second)
			w.m.set(logon)
			w.pass(5 * time.Second)
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
				if got := w.heard(); got[0] != "absent: agent impaired" {
					t.Errorf("the desk was told late: %q", got)
				}
			})
		})
	}
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
