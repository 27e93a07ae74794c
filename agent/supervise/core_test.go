package supervise

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/desktop"
)

// at is a moment, in seconds after the beginning.
func at(s int) time.Time { return time.Unix(1_800_000_000+int64(s), 0) }

// Whatever happens in whatever order: never two helpers, none where nobody wants one,
// the desk is told of no absence while a helper serves and of one whenever none does,
// and what was ordered is not ordered again.
func TestB11_NoOrderOfEventsMakesTwoHelpers(t *testing.T) {
	lists := [][]Session{{}, {logon}, {remote3}, {remote3, remote5}, {remote3.as(Disconnected), remote5}, {{ID: 3, User: "bob", State: Active}}, {{ID: 3, State: Active, Unseen: errUnseen}, remote5}}
	rapid.Check(t, func(t *rapid.T) {
		c := core{}
		alive, told, served := false, false, false
		now := 0
		decide := func() {
			o := c.decide(at(now))
			if o.leave && !alive {
				t.Fatal("nobody is told to leave")
			}
			if o.start != nil {
				if alive || o.start.ID == 0 || o.start.User == "" {
					t.Fatalf("started %+v, alive %v", *o.start, alive)
				}
				alive, served = true, false
			}
			if o.tell != nil {
				if o.tell.Usable() || o.tell.Kind == 0 || c.taking || c.phase == serving {
					t.Fatalf("told %v in phase %d", *o.tell, c.phase)
				}
				told = true
			}
			if !told && !served && !c.taking {
				t.Fatalf("no helper serves in phase %d, and the desk was not told", c.phase)
			}
			if again := c.decide(at(now)); again.start != nil || again.leave || again.tell != nil {
				t.Fatalf("ordered again: %+v", again)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"sessions": func(t *rapid.T) { c.saw(rapid.SampledFrom(lists).Draw(t, "list"), nil); decide() },
			"blind":    func(*rapid.T) { c.saw(nil, errors.New("blind")); decide() },
			"called":   func(*rapid.T) { c.called(); decide() },
			"up": func(*rapid.T) {
				if c.up(at(now)) {
					told, served = false, true
				}
				decide()
			},
			"broke": func(*rapid.T) {
				c.broke("x")
				served = served && c.phase == serving
				decide()
			},
			"ended": func(*rapid.T) {
				c.ended(at(now), "x", 1)
				alive, served = false, false
				decide()
			},
			"time": func(t *rapid.T) { now += rapid.IntRange(0, 20).Draw(t, "s"); decide() },
		})
	})
}

func TestOneThatWasToldToLeaveHasNotFailed(t *testing.T) {
	c := core{}
	c.saw([]Session{remote3}, nil)
	c.decide(at(0))
	c.called()
	c.up(at(1))
	c.saw([]Session{remote5}, nil)
	if o := c.decide(at(2)); !o.leave {
		t.Fatalf("ordered %+v", o)
	}
	if n, wait := c.ended(at(3), "told to", 1); n != 0 || wait != 0 {
		t.Errorf("counted as failure %d, waits %v", n, wait)
	}
	if o := c.decide(at(3)); o.start == nil || o.start.ID != 5 || o.tell == nil || o.tell.Kind != desktop.AgentImpaired {
		t.Errorf("ordered %+v", o)
	}
}

// A desk that has taken the helper just before it was to leave knows of no absence.
func TestB11_TheDeskIsToldAnewAfterAHelperThatItMayHaveTaken(t *testing.T) {
	c := core{}
	c.saw([]Session{remote3}, nil)
	before := c.decide(at(0)).tell
	c.called()
	c.saw([]Session{remote5}, nil)
	if o := c.decide(at(1)); !o.leave || o.tell != nil {
		t.Fatalf("ordered %+v", o)
	}
	c.saw([]Session{remote3}, nil)
	c.decide(at(2))
	c.ended(at(3), "told to", 1)
	if o := c.decide(at(3)); o.tell == nil || before == nil || *o.tell != *before {
		t.Errorf("told %v, and before %v", o.tell, before)
	}
}

func TestB11_AnotherUserInASessionOfTheSameNumberGetsAnotherHelper(t *testing.T) {
	c := core{}
	c.saw([]Session{remote3}, nil)
	c.decide(at(0))
	c.called()
	c.up(at(0))
	other := remote3
	other.User = "bob"
	c.saw([]Session{other}, nil)
	if o := c.decide(at(1)); !o.leave {
		t.Errorf("ordered %+v", o)
	}
}

func TestAHelperThatServedLongIsReplacedSoon(t *testing.T) {
	c := core{}
	c.saw([]Session{remote3}, nil)
	for i := range 10 {
		c.decide(at(i * 100))
		c.ended(at(i*100), "at once", 1)
	}
	c.decide(at(2000))
	c.called()
	c.up(at(2000))
	if n, wait := c.ended(at(3000), "later", 1); n != 1 || wait > time.Second {
		t.Errorf("failure %d, waits %v", n, wait)
	}
}
