// Package mutants holds deliberate mistakes in the core, and hunts them: each is
// put into the code by itself, and the simulator must find a schedule in which it
// breaks a promise. A mistake that no schedule shows means that the simulator is
// blind to it. It decides what is changed and what counts as caught; what a
// schedule is and which promises are checked is the simulator's.
package mutants

import (
	"bytes"
	"fmt"
	"slices"
)

// Mutant is one mistake: in File, New stands in the place of Old.
type Mutant struct {
	Name    string // what goes wrong, in a few words joined by hyphens
	Promise string // of the contract, by its number or section, that it breaks
	File    string // from the module's root, with slashes
	Old     string // is there exactly once
	New     string
}

// All returns all mutants, those of the server first.
func All() []Mutant {
	return slices.Concat(decisions, deliveries, machine, agent, streams)
}

// Apply returns the source with the mistake in it. It fails when the place of the
// mistake is not there exactly once: the code has moved on, and the mutant must
// follow.
func (m Mutant) Apply(source []byte) ([]byte, error) {
	if n := bytes.Count(source, []byte(m.Old)); n != 1 {
		return nil, fmt.Errorf("mutant %s: what it changes in %s is there %d times, not once", m.Name, m.File, n)
	}
	return bytes.Replace(source, []byte(m.Old), []byte(m.New), 1), nil
}
