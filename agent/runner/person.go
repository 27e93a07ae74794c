package runner

import (
	"fmt"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

// hold keeps actions from being executed because of the person at the machine, from
// what the person did until the server holds the replay: it has taken a report with
// work.Person, or shows a pause by an operator after it was asked. A stop is in the
// spool too, and outlives the process.
type hold struct {
	why work.PersonWish
	by  string // with what, for people
}

func (h *hold) message() string {
	if h.why == work.PersonTakesOver {
		return fmt.Sprintf("the person at the machine took over: %s", h.by)
	}
	return fmt.Sprintf("the person at the machine stopped the agent: %s", h.by)
}

// personActs takes in what the person at the machine did.
func (c *Core) personActs(now time.Time, e PersonActs) []Effect {
	switch e.Wish {
	case work.PersonStops:
		c.hold = &hold{why: e.Wish, by: e.By}
		effects := c.tellHold()
		if c.running != nil {
			effects = append(effects, c.interrupt(now, work.ErrPerson)...)
		}
		return append(effects, c.keepHold(now, e.By)...)
	case work.PersonTakesOver:
		if c.hold != nil || c.running == nil || c.running.phase != executing || !c.running.began {
			return nil // nobody is in the way of an action that sends no input
		}
		c.hold = &hold{why: e.Wish, by: e.By}
		return c.tellHold()
	case work.PersonGoesOn:
		effects := c.lift()
		if len(c.pauses) > 0 && c.open {
			effects = append(effects, SendPerson{Wish: e.Wish, ReplayID: c.pauses[len(c.pauses)-1].ReplayID, By: e.By})
		}
		return effects
	}
	return nil
}

// tellHold asks the server to hold the replay, on each stream before anything of it is
// heard.
func (c *Core) tellHold() []Effect {
	if c.hold == nil || !c.open {
		return nil
	}
	return []Effect{SendPerson{Wish: c.hold.why, By: c.hold.by}}
}

// keepHold writes down that the person has stopped the agent, once. Nothing waits for it: a
// stop counts at once, also where the spool can't be written.
func (c *Core) keepHold(now time.Time, by string) []Effect {
	if c.memory.Held() != nil {
		return nil
	}
	return []Effect{c.write(spool.Record{Type: spool.TypeHeld, Hold: &spool.Hold{By: by, At: now}})}
}

// holdOf is the hold that a spool's memory has of a stop; nil: there is none.
func holdOf(memory *spool.Memory) *hold {
	kept := memory.Held()
	if kept == nil {
		return nil
	}
	return &hold{why: work.PersonStops, by: kept.By}
}

// lift lets actions be executed again.
func (c *Core) lift() []Effect {
	if c.hold == nil {
		return nil
	}
	c.hold = nil
	effects := []Effect{GoOn{}}
	if c.memory.Held() != nil {
		effects = append(effects, c.write(spool.Record{Type: spool.TypeLifted}))
	}
	return effects
}

func (c *Core) paused(p work.Pause) []Effect {
	var effects []Effect
	if !slices.ContainsFunc(c.pauses, func(o work.Pause) bool { return o.PauseID == p.PauseID }) {
		c.pauses = append(c.pauses, p)
	}
	if p.Reason == work.PauseByOperator {
		effects = c.lift()
	}
	if slices.Contains(c.shown, p.PauseID) {
		return effects
	}
	c.shown = append(c.shown, p.PauseID)
	if len(c.shown) > shownPauses {
		c.shown = slices.Delete(c.shown, 0, 1)
	}
	return append(effects, Show{p})
}

func (c *Core) resumed(e Resumed) []Effect {
	c.pauses = slices.DeleteFunc(c.pauses, func(p work.Pause) bool { return p.PauseID == e.PauseID })
	return []Effect{Hide(e)}
}
