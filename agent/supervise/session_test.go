package supervise

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/desktop"
)

func TestB11_TheSessionIsChosenByStateAndUser(t *testing.T) {
	console := Session{ID: 1, User: "carol", Domain: "DESK-7", State: Active, Console: true}
	locked := remote3
	locked.Locked = true
	for _, c := range []struct {
		name string
		user string
		now  uint32
		list []Session
		want uint32 // 0: none
	}{
		{"nobody", "", 0, []Session{services, logon}, 0},
		{"the services' session never", "", 0, []Session{services}, 0},
		{"a remote one beside an empty console", "", 0, []Session{services, logon, remote3}, 3},
		{"active before connected", "", 0, []Session{remote3.as(Connected), remote5}, 5},
		{"connected before disconnected", "", 0, []Session{remote3.as(Disconnected), remote5.as(Connected)}, 5},
		{"disconnected before none", "", 0, []Session{remote3.as(Disconnected)}, 3},
		{"it stays while that is as good", "", 5, []Session{console, remote3, remote5}, 5},
		{"it leaves for a better one", "", 5, []Session{remote3, remote5.as(Disconnected)}, 3},
		{"it stays in a locked one", "", 3, []Session{locked, remote5}, 3},
		{"an unlocked one first", "", 0, []Session{locked, remote5}, 5},
		{"the console first", "", 0, []Session{remote3, {ID: 4, User: "d", State: Active, Console: true}}, 4},
		{"the lowest number at last", "", 0, []Session{remote5, remote3}, 3},
		{"the user's, though another's is better", "alice", 0, []Session{console, remote3.as(Disconnected)}, 3},
		{"the user's, in any case", `corp\ALICE`, 0, []Session{remote3}, 3},
		{"not another domain's", `OTHER\alice`, 0, []Session{remote3}, 0},
		{"an account of this machine", `.\carol`, 0, []Session{remote3, console}, 1},
		{"one that listens or ends never", "", 0, []Session{remote3.as(6), remote5.as(8)}, 0},
	} {
		who, err := parseAccount(c.user, "desk-7.corp.example")
		if err != nil {
			t.Fatal(err)
		}
		got, found := choose(c.list, who, c.now)
		if got.ID != c.want || found != (c.want != 0) {
			t.Errorf("%s: got session %d (%v), want %d", c.name, got.ID, found, c.want)
		}
	}
}

// Whatever the sessions are: never the services', always a user's and the right one's,
// none better is passed over, and who is there already stays.
func TestB11_NoListOfSessionsMisleadsTheChoice(t *testing.T) {
	session := rapid.Custom(func(t *rapid.T) Session {
		return Session{
			ID: rapid.Uint32Range(0, 6).Draw(t, "id"), User: rapid.SampledFrom([]string{"", "alice", "bob"}).Draw(t, "user"),
			State:  ConnectState(rapid.Uint32Range(0, 9).Draw(t, "state")),
			Locked: rapid.Bool().Draw(t, "locked"), Console: rapid.Bool().Draw(t, "console"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(session, 0, 6, func(s Session) uint32 { return s.ID }).Draw(t, "list")
		who := account{user: rapid.SampledFrom([]string{"", "alice"}).Draw(t, "who")}
		now := rapid.Uint32Range(0, 6).Draw(t, "now")
		got, found := choose(list, who, now)
		if found && (got.ID == 0 || got.User == "" || !who.is(got)) {
			t.Fatalf("chose %+v", got)
		}
		for _, s := range list {
			if who.is(s) && s.rank() > got.rank() {
				t.Fatalf("chose %+v, passed over %+v", got, s)
			}
		}
		if again, _ := choose(list, who, got.ID); found && again.ID != got.ID {
			t.Fatalf("went from %d to %d while nothing changed", got.ID, again.ID)
		}
	})
}

func TestAUserIsWrittenInOneOfThreeForms(t *testing.T) {
	for _, bad := range []string{"alice@corp.example", `\alice`, `CORP\`, `A\B\c`} {
		if got, err := parseAccount(bad, "desk-7"); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
	if got, err := parseAccount(`.\carol`, "a-very-long-name-of-a-machine.example"); err != nil || got.domain != "a-very-long-nam" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := parseAccount(`.\carol`, ""); err == nil {
		t.Error("a machine without a name has accounts of its own")
	}
}

func TestB01_WhatIsSaidWithoutAHelperIsTheFarthestCause(t *testing.T) {
	locked := remote3
	locked.Locked = true
	both := locked.as(Disconnected)
	for _, c := range []struct {
		name    string
		list    []Session
		who     account
		kind    desktop.Kind
		details []string
	}{
		{"nobody", []Session{logon}, account{}, desktop.NoUser, []string{"nobody is logged on"}},
		{"nobody among those that can be asked", []Session{logon, {ID: 4, State: Active, Unseen: errUnseen}}, account{}, desktop.NoUser, []string{"nobody is logged on", "denied"}},
		{"not the user", []Session{remote5}, account{user: "alice"}, desktop.NoUser, []string{"alice is not logged on"}},
		{"disconnected", []Session{remote3.as(Disconnected)}, account{}, desktop.Disconnected, []string{"no screen", `session 3 (remote) of CORP\alice`, "being started"}},
		{"disconnected and locked", []Session{both}, account{}, desktop.Disconnected, []string{"no screen"}},
		{"locked", []Session{locked}, account{}, desktop.Locked, []string{"unlock it", "being started"}},
		{"active", []Session{remote3}, account{}, desktop.AgentImpaired, []string{"the helper is being started"}},
	} {
		core := core{who: c.who}
		core.saw(c.list, nil)
		o := core.decide(at(0))
		if o.tell == nil || o.tell.Kind != c.kind {
			t.Errorf("%s: told %+v", c.name, o.tell)
			continue
		}
		for _, d := range c.details {
			if !strings.Contains(o.tell.Detail, d) {
				t.Errorf("%s: %q does not say %q", c.name, o.tell.Detail, d)
			}
		}
	}
}
