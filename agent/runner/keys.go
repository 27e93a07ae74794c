package runner

import (
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
)

// keys is what is known of keys and buttons that may be down and should not be.
type keys struct {
	pressed   bool // input may have left, of this process or of one before
	releasing bool // they are being let go of
	held      bool // the last attempt at that failed
	ended     bool // they are let go of because the process ends
}

// release lets go of every key, unless that is under way.
func (c *Core) release(why string) []Effect {
	if c.keys.releasing {
		return nil
	}
	c.keys.releasing = true
	return []Effect{Release{Why: why, Pressed: c.keys.pressed}}
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
// again before the next action; what the desktop takes then is the executor's to find
// out.
func (c *Core) released(now time.Time, e Released) []Effect {
	if !c.keys.releasing {
		return nil
	}
	c.keys.releasing, c.keys.held = false, e.Err != nil
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

// ending lets go of every key once, when the process is asked to end and nothing is
// in flight any more.
func (c *Core) ending() []Effect {
	if !c.stopping || !c.Idle() || c.keys.releasing || c.keys.ended {
		return nil
	}
	c.keys.ended = true
	return c.release("the agent ends")
}

// Ended says whether the process may end: it was asked to, nothing is in flight, and
// every key was let go of as far as that is possible.
func (c *Core) Ended() bool { return c.keys.ended && !c.keys.releasing && c.Idle() }
