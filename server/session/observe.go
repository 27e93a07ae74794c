package session

import (
	"sync"
	"time"
)

// Observer is told how streams fare. Nothing of it blocks.
type Observer interface {
	// Opened says that a machine's agent has opened a stream.
	Opened(machineID string)
	// Ended says that a stream which was opened is over.
	Ended(machineID string)
	// Received says how long an action took from the server's queue to the first
	// word of the agent about it.
	Received(took time.Duration)
	// Reported says how long an action took from there to its report.
	Reported(took time.Duration)
}

type nobody struct{}

func (nobody) Opened(string)          {}
func (nobody) Ended(string)           {}
func (nobody) Received(time.Duration) {}
func (nobody) Reported(time.Duration) {}

// clocked is the action that a session delivered last. The zero value is ready.
type clocked struct {
	mu       sync.Mutex
	actionID string // empty: none that is still waited for
	at       time.Time
	received bool
}

func (c *clocked) sent(actionID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.actionID, c.at, c.received = actionID, time.Now(), false
}

// heard notes a word of the agent about an action; the first one counts.
func (c *clocked) heard(actionID string, o Observer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if actionID == c.actionID && !c.received {
		c.received = true
		o.Received(time.Since(c.at))
	}
}

// reported notes an action's report; the first one counts.
func (c *clocked) reported(actionID string, o Observer) {
	c.heard(actionID, o)
	c.mu.Lock()
	defer c.mu.Unlock()
	if actionID == c.actionID && actionID != "" {
		c.actionID = ""
		o.Reported(time.Since(c.at))
	}
}
