package dispatch

import (
	"fmt"

	"github.com/reprise-rpa/reprise/server/replay"
)

// Live returns the replays that have not ended, in the order of their creation.
// They are the machine's: whoever asks may look at them until the next step.
func (m *Machine) Live() []*replay.Replay { return m.live }

// Check says whether the parts of the machine agree with each other, for tests and
// the simulation: what is in flight is pending, once, and in no queue; only the
// replay that holds the machine has anything in flight; nothing that has ended is
// held.
func (m *Machine) Check() error {
	inFlight := 0
	for i, r := range m.live {
		if r.State.Ended() {
			return fmt.Errorf("%s has ended and is still held", r.ID)
		}
		if r.InFlight < 0 {
			continue
		}
		inFlight++
		a := &r.Actions[r.InFlight]
		if i > 0 {
			return fmt.Errorf("%s does not hold the machine and has %s in flight", r.ID, a.ID)
		}
		if _, ok := m.pending.Get(a.ID); !ok {
			return fmt.Errorf("%s is in flight and not pending", a.ID)
		}
		if step, ok := r.Next(); ok && r.Current(step) == a {
			return fmt.Errorf("%s is pending and in the queue", a.ID)
		}
	}
	if inFlight != m.pending.Len() || inFlight > 1 {
		return fmt.Errorf("%d in flight, %d pending", inFlight, m.pending.Len())
	}
	return nil
}
