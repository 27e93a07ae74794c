package winapi

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestB11_ASessionThatCannotBeAskedHidesNoOther(t *testing.T) {
	denied := errors.New("denied")
	var asked []uint32
	list := logonSessions([]LogonSession{
		{ID: 0}, {ID: 1, State: 1, Console: true}, {ID: 2}, {ID: 3, State: 2}, {ID: 4, State: 3}, {ID: 5, State: 4}, {ID: 6},
		{ID: 65536, State: 6}, {ID: 70, State: 5}, {ID: 71, State: 7}, {ID: 72, State: 8}, {ID: 73, State: 9},
	}, func(s *LogonSession) error {
		asked = append(asked, s.ID)
		s.User = "alice"
		return map[uint32]error{2: denied, 6: fmt.Errorf("gone: %w", errEnded)}[s.ID]
	})
	if fmt.Sprint(asked) != "[1 2 3 4 5 6]" {
		t.Errorf("asked about %v: nobody can be in the others", asked)
	}
	var got []string
	for _, s := range list {
		got = append(got, fmt.Sprintf("%d %s %v", s.ID, s.User, s.Unseen))
	}
	if text := strings.Join(got, "; "); text != "1 alice <nil>; 2  session 2: denied; 3 alice <nil>; 4 alice <nil>; 5 alice <nil>" {
		t.Errorf("listed %s", text)
	}
	if !list[0].Console || !errors.Is(list[1].Unseen, denied) {
		t.Errorf("listed %+v", list)
	}
}

func TestB11_WhatWindowsDoesNotHaveHidesNoFault(t *testing.T) {
	fault := errors.New("fault")
	missing := fmt.Errorf("session information 25: %w", ErrNotHere)
	if err := lacking(nil, missing, nil); err != nil {
		t.Errorf("a missing call is %v", err)
	}
	if err := lacking(missing, fault, nil); !errors.Is(err, fault) || errors.Is(err, ErrNotHere) {
		t.Errorf("a fault beside a missing call is %v", err)
	}
}

func TestB11_APipeIsForTheServiceAndOneUserAlone(t *testing.T) {
	for _, c := range []struct{ name, server, client, want string }{
		{
			"a service and its user", "S-1-5-18", "S-1-5-21-1-2-3-1001",
			"O:S-1-5-18D:P(D;;FA;;;NU)(A;;FA;;;SY)(A;;FA;;;S-1-5-18)(A;;0x12019b;;;S-1-5-21-1-2-3-1001)",
		},
		{
			"one user with itself", "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1001",
			"O:S-1-5-21-1-2-3-1001D:P(D;;FA;;;NU)(A;;FA;;;SY)(A;;FA;;;S-1-5-21-1-2-3-1001)",
		},
	} {
		got := pipeSecurity(c.server, c.client)
		if got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
		// Everyone, authenticated, interactive and built-in users, or guests.
		if regexp.MustCompile(`\(A;[^)]*;(WD|AU|IU|BU|BG|AN)\)`).MatchString(got) {
			t.Errorf("%s: others may open it: %s", c.name, got)
		}
	}
}

func TestB11_AClientOfAPipeMayNotAnswerInTheServicesPlace(t *testing.T) {
	const genericWriteWithout = fileGenericWrite &^ fileCreateInstance
	if pipeClientRights&fileCreateInstance != 0 || pipeClientRights&genericWriteWithout != genericWriteWithout || pipeClientRights&fileGenericRead != fileGenericRead {
		t.Errorf("rights %#x", pipeClientRights)
	}
}
