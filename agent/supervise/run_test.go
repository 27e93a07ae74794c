package supervise

import (
	"bytes"
	"errors"
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

var errUnseen = errors.New("session 3: denied")

// A session that can't be asked is as it was: its helper stays, and goes when it is known
// to have no business there. Others are served as ever, and the log says it once.
func TestB11_ASessionThatCannotBeAskedKeepsItsHelperAndHidesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mute := Session{ID: 3, State: Active, Unseen: errUnseen}
		w := begin(t, logon, mute, remote5).run("")
		w.in(5)
		w.m.set(logon, remote3)
		w.pass(5 * pollEvery)
		w.in(3)
		w.heard()
		w.m.set(logon, mute, remote5)
		w.pass(time.Minute)
		w.in(3)
		if got := w.heard(); len(got) > 0 {
			t.Errorf("while one could not be asked: %q", got)
		}
		w.m.set(logon, mute.as(Disconnected), remote5)
		w.pass(5 * pollEvery)
		w.in(5)
		if n := strings.Count(strings.Join(w.lines(), "\n"), "denied"); n != 2 { // it could be asked in between
			t.Errorf("said %d times:\n%s", n, strings.Join(w.lines(), "\n"))
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
