package sim

import "time"

// desktop is what an agent's input goes to. It counts.
type desktop struct {
	locked bool
	fate   What // of the execution that begins
	ledger []effect
}

// effect is what one execution of an action did to the desktop.
type effect struct {
	replayID, actionID string
	step               int
	at                 time.Duration
	seq                int // of the machine's executions
	whole              bool
	seen               bool // it changed what it should
}
