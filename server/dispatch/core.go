package dispatch

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// retryAfter is the pause after a failed write before the machine tries again.
const retryAfter = time.Second

// Core is a Machine and what its owner knows of the journal. It decides that what
// a step led to leaves only when its entries are durable, and what becomes of a
// step that could not be written. It performs nothing and waits for nothing: Take,
// and then Appended or Recalled, say what is wanted next, until a Want asks for
// neither. It is not safe for concurrent use.
type Core struct {
	machine *Machine
	waiting Input     // for the machine to be read
	step    Outcome   // for its entries to be durable
	broken  bool      // the state must be read again before anything is decided
	failing bool      // the last write failed
	retryAt time.Time // when to try again; zero: no write has failed
}

// Want is what a core wants done: first the effects, in their order, then at most
// one of Append and Read.
type Want struct {
	Effects []Effect
	Append  []replay.Entry // make all durable, or none, then call Appended
	Read    bool           // read the records of the live replays, then call Recalled
	Refused error          // the input was not taken, and why
}

// NewCore returns a core for a machine.
func NewCore(m *Machine) *Core { return &Core{machine: m} }

// Machine returns the machine, to be looked at.
func (c *Core) Machine() *Machine { return c.machine }

// Failing says whether the last write failed.
func (c *Core) Failing() bool { return c.failing }

// Next is when the core wants a Tick; false: never. A deadline that cannot be acted
// on, since the journal takes no write, must not spin.
func (c *Core) Next() (time.Time, bool) {
	if !c.retryAt.IsZero() {
		return c.retryAt, true
	}
	return c.machine.Next()
}

// Take takes in an input; nil only wants the machine to be as the journal has it.
func (c *Core) Take(now time.Time, in Input) Want {
	if !c.retryAt.IsZero() && !now.Before(c.retryAt) {
		c.retryAt = time.Time{}
	}
	if c.broken {
		c.waiting = in
		return Want{Read: true}
	}
	return c.decide(now, in)
}

func (c *Core) decide(now time.Time, in Input) Want {
	if in == nil {
		return Want{}
	}
	c.step = c.machine.Step(now, in)
	if len(c.step.Entries) > 0 {
		return Want{Append: c.step.Entries}
	}
	return Want{Effects: c.release()}
}

// release lets go of what the step led to.
func (c *Core) release() []Effect {
	effects := c.step.Effects
	c.step = Outcome{}
	c.machine.keep()
	for _, e := range effects {
		if _, fault := e.(Fault); fault {
			c.broken = true
		}
	}
	return effects
}

// Appended goes on once the entries are durable, or not: then whoever waits for
// the step is told, nothing else of it leaves, and the machine is read again.
func (c *Core) Appended(now time.Time, err error) Want {
	c.failing = err != nil
	if err == nil {
		return Want{Effects: c.release()}
	}
	failed := c.step.Effects
	c.step = Outcome{}
	c.broken, c.retryAt, c.waiting = true, now.Add(retryAfter), nil
	c.machine.undo()
	return Want{Effects: refuseAll(failed, unwritable(err)), Read: true}
}

// Recalled goes on with the records of the machine's live replays, in the order of
// their creation and then of their positions, or with the error of reading them:
// then of the input that waits only what needs no writing is kept.
func (c *Core) Recalled(now time.Time, records []replay.Record, err error) Want {
	var live []*replay.Replay
	if err == nil {
		live, err = foldAll(records)
	}
	in := c.waiting
	c.waiting = nil
	if err != nil {
		c.retryAt = now.Add(retryAfter)
		if in != nil {
			c.machine.Hear(now, in)
		}
		return Want{Effects: Refuse(in, ErrUnavailable), Refused: fmt.Errorf("%w: %w", ErrUnavailable, err)}
	}
	c.machine.now = now
	c.machine.Reset(live)
	c.broken = false
	return c.decide(now, in)
}

// Refuse returns what tells whoever waits for an input that it was not taken.
func Refuse(in Input, err error) []Effect {
	switch in := in.(type) {
	case Submit:
		return []Effect{Answer{Reply: in.Reply, Replay: in.ReplayID, Err: err}}
	case Command:
		return []Effect{Answer{Reply: in.Reply, Replay: in.ReplayID, Err: err}}
	case Open:
		return []Effect{CloseSession{SessionID: in.Session.ID, Why: err}}
	case Sweep:
		return []Effect{Swept{Done: in.Done}}
	}
	return nil
}

// refuseAll turns the effects of a step that was not written into what those who
// wait for it are told. An agent sends an unanswered report again.
func refuseAll(effects []Effect, err error) []Effect {
	var out []Effect
	for _, effect := range effects {
		switch effect := effect.(type) {
		case Answer:
			out = append(out, Answer{Reply: effect.Reply, Replay: effect.Replay, Err: err})
		case Welcome:
			out = append(out, CloseSession{SessionID: effect.SessionID, Why: err})
		case Swept:
			out = append(out, Swept{Done: effect.Done})
		}
	}
	return out
}

// unwritable marks what the journal's own trouble is, apart from what it refuses
// for a reason of ours.
func unwritable(err error) error {
	for _, known := range []error{replay.ErrNoSpace, replay.ErrStale, replay.ErrRequestIDTaken} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrUnwritable, err)
}

// foldAll folds the records of several replays, each one's in a row.
func foldAll(records []replay.Record) ([]*replay.Replay, error) {
	var live []*replay.Replay
	for _, rec := range records {
		if n := len(live); n == 0 || live[n-1].ID != rec.ReplayID {
			live = append(live, &replay.Replay{})
		}
		if err := live[len(live)-1].Apply(rec); err != nil {
			return nil, fmt.Errorf("fold the journal: %w", err)
		}
	}
	return live, nil
}
