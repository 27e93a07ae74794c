package runner

import (
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

// Hail is Opening for a stream that is being opened. An answer that found no stream need
// not be said then: what the hello does not name as executing, the server asks for again.
func (c *Core) Hail() work.Opening {
	c.unsaid = nil
	return c.Opening()
}

// Opening returns what the agent says when it opens a stream; its ids are the
// caller's to fill in.
func (c *Core) Opening() work.Opening {
	var o work.Opening
	for _, e := range c.memory.In(spool.Finished) {
		o.Results = append(o.Results, report(e))
	}
	current := ""
	if c.running != nil && c.running.phase != hanging {
		ref := c.running.Ref
		current, o.Executing = ref.ActionID, &ref
	}
	for _, e := range c.memory.In(spool.Started) {
		if e.ActionID != current {
			o.Unfinished = append(o.Unfinished, e.Ref)
		}
	}
	return o
}
