package supervise

import (
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/internal/backoff"
)

// phase is how far the helper is.
type phase int

const (
	none       phase = iota // there is none
	starting                // it has been started and has not called yet
	connecting              // it has called and is being given to the desk
	serving                 // it serves the desktop
	breaking                // its connection is over, its process may still be there
	leaving                 // it has been told to end
)

// core decides. It holds no clock, lock, goroutine or process: its caller says what
// happened and when, and carries out the orders that come back.
type core struct {
	who     account
	backoff backoff.Policy

	sessions []Session // as they were last seen
	blind    error     // why they could not be seen; nil: they were

	phase    phase
	home     Session   // where the helper is, unless there is none
	began    time.Time // when it began to serve; zero: it never did
	failures int       // helpers in a row that ended by themselves
	failed   uint32    // the session in which they did
	due      time.Time // before this none is started
	last     string    // how the last one ended, for people; empty: there was none, or in order
	taking   bool      // the desk is taking it, and can be told of nothing meanwhile
	told     desktop.State
}

// orders are what is to be done, in this order.
type orders struct {
	tell  *desktop.State // say that no helper serves the desktop
	leave bool           // end the helper that runs
	start *Session       // start a helper there
	wake  time.Time      // ask again then; zero: nothing is waited for
}

// saw takes the sessions of the machine as they are, or why they can't be seen.
func (c *core) saw(sessions []Session, err error) {
	c.blind = err
	if err == nil {
		c.sessions = withKnown(sessions, c.sessions)
	}
}

// called says that the helper has called and the desk is about to take it. Until it has,
// or the helper has ended, the desk is told of no absence: it would wait with that, or
// lose a helper that it has just taken.
func (c *core) called() {
	if c.phase == starting {
		c.phase, c.taking = connecting, true
	}
}

// up says that the helper serves the desktop now. false: it has been told to end since.
func (c *core) up(now time.Time) bool {
	c.taking = false
	if c.phase != connecting {
		return false
	}
	c.phase, c.began, c.last, c.told = serving, now, "", desktop.State{}
	return true
}

// broke says that the helper's connection is over, though nobody told it to end.
func (c *core) broke(how string) {
	if c.phase == serving {
		c.phase, c.last = breaking, how
	}
}

// leave says that the helper is told to end.
func (c *core) leave() { c.phase = leaving }

// ended says that the helper has ended, and how. It returns how many in a row have done
// so by themselves, and how long the next one waits: 0 and 0 for one that was told to.
func (c *core) ended(now time.Time, how string, random float64) (failures int, wait time.Duration) {
	if c.phase == none {
		return 0, 0
	}
	ordered, lived := c.phase == leaving, time.Duration(0)
	if !c.began.IsZero() {
		lived = now.Sub(c.began)
	}
	c.phase, c.began, c.taking = none, time.Time{}, false
	c.told = desktop.State{} // the desk may have taken it after it was told
	if ordered {
		return 0, 0
	}
	if c.failed != c.home.ID {
		c.failed, c.failures = c.home.ID, 0
	}
	c.failures = c.backoff.Failures(c.failures, lived)
	wait = c.backoff.Wait(c.failures, random)
	c.due, c.last = now.Add(wait), how
	return c.failures, wait
}

// decide returns what is to be done now. Asked again at once it orders nothing more.
func (c *core) decide(now time.Time) orders {
	var o orders
	at, found := choose(c.sessions, c.who, c.home.ID) // where it was it returns first
	switch c.phase {
	case starting, connecting, serving:
		// Who can't see the sessions has no reason to leave one: they are as they were.
		if !found || at.ID != c.home.ID || at.Account() != c.home.Account() {
			o.leave = true
			c.leave()
		} else {
			c.home = at
		}
	case none:
		if found && at.ID != c.failed {
			c.due, c.last = time.Time{}, "" // what failed elsewhere says nothing of this one
		}
		switch {
		case !found || c.blind != nil:
		case now.Before(c.due):
			o.wake = c.due
		default:
			o.start, c.phase, c.home = &at, starting, at
		}
	case breaking, leaving: // until it has ended
	}
	if c.phase != serving && !c.taking {
		if state := c.absent(at, found); state != c.told {
			c.told, o.tell = state, &state
		}
	}
	return o
}

// absent is how the desktop stands while no helper serves it. What keeps input away is
// named by its farthest cause.
func (c *core) absent(at Session, found bool) desktop.State {
	switch {
	case c.blind != nil:
		return desktop.State{Kind: desktop.AgentImpaired, Detail: fmt.Sprintf("the machine's sessions cannot be listed: %v", c.blind)}
	case !found:
		return desktop.State{Kind: desktop.NoUser, Detail: c.nobody()}
	case at.State == Disconnected:
		return desktop.State{Kind: desktop.Disconnected, Detail: fmt.Sprintf(
			"no screen shows %s; connect to it again, or bring it to the machine's own screen (tscon); %s", at, c.progress(at))}
	case at.Locked:
		return desktop.State{Kind: desktop.Locked, Detail: fmt.Sprintf("%s is locked; unlock it; %s", at, c.progress(at))}
	}
	return desktop.State{Kind: desktop.AgentImpaired, Detail: fmt.Sprintf("%s: %s", at, c.progress(at))}
}

// nobody says for people that the user is not there, as far as is known.
func (c *core) nobody() string {
	text := "nobody is logged on; log the user on whose desktop is driven"
	if c.who.user != "" {
		text = fmt.Sprintf("the user %s is not logged on; log that user on", c.who)
	}
	if why := unseen(c.sessions); why != "" {
		text += "; not all sessions can be asked: " + why
	}
	return text
}

// progress says for people how far the helper is.
func (c *core) progress(at Session) string {
	switch {
	case c.phase == leaving && c.home.ID != at.ID:
		return fmt.Sprintf("the helper is being moved here from session %d", c.home.ID)
	case c.last != "":
		return "the helper ended: " + c.last + "; another one is started"
	}
	return "the helper is being started"
}
