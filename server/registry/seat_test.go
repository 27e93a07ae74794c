package registry

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// seated returns a seat that is held; an empty session: by nobody.
func seated(session, spool string) *Seat { return &Seat{session: session, spool: spool} }

func TestClaimsOfASeat(t *testing.T) {
	claim := func(s *Seat) Claimed { return s.Claim("new", "mine") }
	probed := func(holder string, answered bool) func(*Seat) Claimed {
		return func(s *Seat) Claimed { return s.Probed("new", "mine", holder, answered) }
	}
	tests := []struct {
		name  string
		seat  *Seat
		event func(*Seat) Claimed
		want  Claimed
	}{
		{"a machine that nobody holds is given at once", seated("", ""), claim, Claimed{Granted: true}},
		{"the same agent takes over at once", seated("old", "mine"), claim, Claimed{Granted: true, Ends: "old", Why: ErrTakenOver}},
		{"a session that claims again ends nothing", seated("new", "mine"), claim, Claimed{Granted: true}},
		{"another agent's holder is asked first", seated("old", "theirs"), claim, Claimed{Probe: "old"}},
		{"a holder that answers keeps the machine", seated("old", "theirs"), probed("old", true), Claimed{Err: ErrConflict}},
		{"a holder that is silent loses it", seated("old", "theirs"), probed("old", false), Claimed{Granted: true, Ends: "old", Why: ErrFenced}},
		{"a holder that answers and goes refuses nobody", seated("", ""), probed("old", true), Claimed{Granted: true}},
		{"one that has come since is asked as well", seated("newer", "theirs"), probed("old", false), Claimed{Probe: "newer"}},
		{"one of the same agent that has come since is taken over", seated("newer", "mine"), probed("old", true), Claimed{Granted: true, Ends: "newer", Why: ErrTakenOver}},
	}
	for _, tt := range tests {
		session, spool := tt.seat.Holder()
		if got := tt.event(tt.seat); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		if tt.want.Granted {
			session, spool = "new", "mine"
		}
		if s, p := tt.seat.Holder(); s != session || p != spool {
			t.Errorf("%s: held by %q of %q afterwards, want %q of %q", tt.name, s, p, session, spool)
		}
	}
}

func TestOnlyTheHolderReleasesASeat(t *testing.T) {
	s := seated("one", "mine")
	if s.Release("two") || s.Release("") {
		t.Error("somebody else released it")
	}
	if !s.Release("one") || s.Release("one") {
		t.Error("the holder could not release it, or could twice")
	}
	if session, spool := s.Holder(); session != "" || spool != "" {
		t.Errorf("held by %q of %q", session, spool)
	}
}

// Whatever the order of claims, answers and releases: one session at a time has the
// machine, it ends or releases before another has it, and an agent that answers
// loses it to nobody else.
func TestNoWalkGivesAMachineToTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Seat
		live := map[string]string{}    // sessions that were granted and have not ended, with their spools
		probing := map[string]string{} // sessions whose claim waits for a holder -> that holder
		spools := map[string]string{}
		take := func(session string, c Claimed, answered bool) {
			delete(probing, session)
			if c.Probe != "" {
				probing[session] = c.Probe
			}
			if c.Ends != "" {
				if other := live[c.Ends] != spools[session]; other && (answered || !errors.Is(c.Why, ErrFenced)) {
					t.Fatalf("%s lost the machine to another agent: %v, answered %v", c.Ends, c.Why, answered)
				}
				delete(live, c.Ends)
			}
			if c.Granted {
				live[session] = spools[session]
			}
			if c.Granted == (c.Probe != "" || c.Err != nil) {
				t.Fatalf("%+v says several things, or none", c)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"claim": func(t *rapid.T) {
				session := fmt.Sprintf("s%d", len(spools))
				spools[session] = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "spool")
				take(session, s.Claim(session, spools[session]), false)
			},
			"probed": func(t *rapid.T) {
				session, answered := one(t, probing), rapid.Bool().Draw(t, "answered")
				take(session, s.Probed(session, spools[session], probing[session], answered), answered)
			},
			"release": func(t *rapid.T) {
				session := one(t, spools)
				_, held := live[session]
				if s.Release(session) != held {
					t.Fatalf("release of %s, which held the machine: %v", session, held)
				}
				delete(live, session)
			},
			"": func(t *rapid.T) {
				holder, spool := s.Holder()
				if got, ok := live[holder]; len(live) > 1 || (len(live) == 1) != ok || got != spool {
					t.Fatalf("%q of %q holds the machine, and %v live", holder, spool, live)
				}
			},
		})
	})
}

// one draws a session; where there is none, the step of the walk is left out.
func one(t *rapid.T, from map[string]string) string {
	keys := slices.Sorted(maps.Keys(from))
	if len(keys) == 0 {
		t.Skip("a draw without a session to take; another one follows")
	}
	return rapid.SampledFrom(keys).Draw(t, "session")
}
