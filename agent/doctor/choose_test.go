package doctor

import (
	"strings"
	"testing"
	"time"

	"testing/synctest"

	"github.com/reprise-rpa/reprise/agent/supervise"
)

// The rule is supervise's; here is shown that it is that one which is asked.
func TestB11_WhereTheHelperWouldLiveIsSaidByWhoDecidesIt(t *testing.T) {
	gone := supervise.Session{ID: 2, User: "bob", State: supervise.Disconnected}
	remote := supervise.Session{ID: 3, User: "eve", Remote: true}
	for _, c := range []struct {
		name     string
		sessions []supervise.Session
		user     string
		want     uint32
		why      string
	}{
		{"nobody", nil, "", 0, "nobody is logged on"},
		{"the console is empty and a remote session active", []supervise.Session{{ID: 1, Console: true, State: supervise.Connected}, remote}, "", 3, ""},
		{"the one that a screen shows", []supervise.Session{gone, remote}, "", 3, ""},
		{"the one of the user", []supervise.Session{gone, remote}, "bob", 2, ""},
		{"the user is not there", []supervise.Session{remote}, "bob", 0, "bob is not logged on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				got, why, err := choose(t.Context(), c.sessions, c.user)
				if err != nil {
					t.Fatal(err)
				}
				if (got == nil) != (c.want == 0) || got != nil && got.ID != c.want || !strings.Contains(why, c.why) {
					t.Errorf("%v, %q", got, why)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
	if _, _, err := choose(t.Context(), nil, `DESK\`); err == nil {
		t.Error("a name that is none was taken")
	}
}
