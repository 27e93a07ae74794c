package runner

import (
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
)

const (
	// firstAgain is how long to wait before letting go is tried again; each further time
	// is twice as long, until mostAgain.
	firstAgain = time.Second
	mostAgain  = time.Minute
	// releaseTime is how long letting go may take, and how long the end of the process
	// waits for it.
	releaseTime = 5 * time.Second
)

// keys is what is known of keys and buttons that may be down and should not be.
type keys struct {
	pressed   bool          // input may have left, of this process or of one before
	releasing bool          // they are being let go of
	held      bool          // the last attempt at that failed
	wait      time.Duration // before the next attempt
	again     time.Time     // when that is; zero: there is none
	ended     bool          // they are let go of because the process ends
	late      time.Time     // when the process ends all the same; zero: it does not end
	given     bool          // it does
}

// release lets go of every key, unless that is under way.
func (c *Core) release(why string) []Effect {
	if c.keys.releasing {
		return nil
	}
	c.keys.releasing, c.keys.again = true, time.Time{}
	return []Effect{Release{Why: why, Pressed: c.keys.pressed, Again: c.keys.held}}
}

// starting lets go of what an earlier process may have left down: it died while an
// action ran, or after it had given one up that hung, or its memory is lost.
func (c *Core) starting(now time.Time, e Starting) []Effect {
	if e.Broken != nil {
		c.fail(now, e.Broken)
	}
	c.keys.pressed = len(c.memory.In(spool.Started)) > 0 || (e.Crashed && len(c.memory.Begun()) > 0)
	switch {
	case c.keys.pressed:
		return c.release("an earlier process ended while it may have sent input")
	case e.Fresh:
		return c.release("what an earlier process has done is not known")
	}
	return nil
}

// released goes on with what waited for it. Keys that were not let go of are tried
// again before the next action, and while there is none: a person may work at the
// machine, with a button down. What the desktop takes is the executor's to find out.
func (c *Core) released(now time.Time, e Released) []Effect {
	if !c.keys.releasing {
		return nil
	}
	c.keys.releasing, c.keys.held = false, e.Err != nil
	if c.keys.held {
		c.keys.wait = min(max(2*c.keys.wait, firstAgain), mostAgain)
		c.keys.again = now.Add(c.keys.wait)
	} else {
		c.keys.wait = 0
		c.keys.pressed = c.running != nil && c.running.busy && c.running.began
	}
	switch r := c.running; {
	case r == nil:
	case r.panicked:
		r.panicked = false
		return c.returned(now, r.outcome)
	case r.phase == clearing:
		return c.execute()
	}
	return nil
}

// nextRelease is when something is due about keys; zero: nothing is.
func (c *Core) nextRelease() time.Time {
	switch {
	case c.stopping && !c.Ended():
		return c.keys.late
	case c.stopping || c.running != nil:
		return time.Time{}
	}
	return c.keys.again
}

// dueRelease lets go again, or gives up a desktop that keeps the process from its end.
func (c *Core) dueRelease(now time.Time) []Effect {
	at := c.nextRelease()
	switch {
	case at.IsZero() || at.After(now):
		return nil
	case c.stopping:
		c.keys.given = true
		return []Effect{GiveUp{}}
	}
	return c.release("it failed before")
}

// ending lets go of every key once, when the process is asked to end and nothing is
// in flight any more.
func (c *Core) ending(now time.Time) []Effect {
	if !c.stopping || !c.Idle() {
		return nil
	}
	if c.keys.late.IsZero() {
		c.keys.late = now.Add(releaseTime)
	}
	if c.keys.releasing || c.keys.ended {
		return nil
	}
	c.keys.ended = true
	return c.release("the agent ends")
}

// Ended says whether the process may end: it was asked to, nothing is in flight, and
// every key was let go of as far as that is possible, and in time.
func (c *Core) Ended() bool {
	return c.Idle() && (c.keys.given || c.keys.ended && !c.keys.releasing)
}
