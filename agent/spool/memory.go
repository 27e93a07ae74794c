package spool

import (
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/work"
)

// State is what is known of an action.
type State string

// The states.
const (
	Started      State = "started"      // it started and has no result
	Finished     State = "finished"     // it has a result that the server has not acknowledged
	Acknowledged State = "acknowledged" // the server has the result
	Closed       State = "closed"       // it started, and the server will not ask for it again
)

// Entry is one action that is remembered.
type Entry struct {
	work.Ref
	SessionID string
	Safe      bool
	State     State
	Outcome   work.Outcome // zero without a result
	Masks     []work.Mask  // what no picture of it shows
}

// begun says whether input of the action may have left.
func (e Entry) begun() bool {
	return e.State == Started || e.State == Closed || e.Outcome.Completion != work.NotStarted
}

// Hold is a stop of the person at the machine.
type Hold struct {
	By string    `json:"by,omitempty"` // with what, for people
	At time.Time `json:"at"`
}

// Memory is what the agent knows of the actions it has seen, by action id, and of a
// stop that stands. It is a fold of records.
type Memory struct {
	entries map[string]Entry
	order   []string // by when they were first seen
	hold    *Hold
}

// NewMemory returns an empty memory.
func NewMemory() *Memory { return &Memory{entries: map[string]Entry{}} }

// Apply takes in one record. A record about an action that the record makes no
// sense for changes nothing.
func (m *Memory) Apply(r Record) {
	e, known := m.entries[r.ActionID]
	switch r.Type {
	case TypeStarted:
		if known && (e.State == Finished || e.State == Acknowledged) {
			return // it came late: the action was reported as hanging
		}
		m.put(Entry{Ref: r.Ref, SessionID: r.SessionID, Safe: r.Safe, State: Started, Masks: r.Masks})
	case TypeResult:
		if r.Outcome != nil {
			m.put(Entry{Ref: r.Ref, SessionID: r.SessionID, Safe: r.Safe, State: Finished, Outcome: *r.Outcome, Masks: r.Masks})
		}
	case TypeAcknowledged:
		if known && e.State == Finished {
			e.State = Acknowledged
			m.put(e)
		}
	case TypeClosed:
		if known && e.State == Started {
			e.State = Closed
			m.put(e)
		}
	case TypeWithdrawn:
		if known && e.State == Started {
			m.remove(r.ActionID)
		}
	case TypeHeader, TypeOpened, TypeStopped: // of the file and its processes
	case TypeHeld:
		m.hold = r.Hold
	case TypeLifted:
		m.hold = nil
	case TypeEntry:
		e := Entry{Ref: r.Ref, SessionID: r.SessionID, Safe: r.Safe, State: r.State, Masks: r.Masks}
		if r.Outcome != nil {
			e.Outcome = *r.Outcome
		}
		m.put(e)
	}
}

// Get returns what is known of an action.
func (m *Memory) Get(actionID string) (Entry, bool) {
	e, ok := m.entries[actionID]
	return e, ok
}

// Held returns the stop that nobody has taken back; nil: there is none.
func (m *Memory) Held() *Hold { return m.hold }

// Len returns how many actions are remembered.
func (m *Memory) Len() int { return len(m.order) }

// In returns the entries in that state, oldest first.
func (m *Memory) In(state State) []Entry {
	var found []Entry
	for _, id := range m.order {
		if e := m.entries[id]; e.State == state {
			found = append(found, e)
		}
	}
	return found
}

// Begun returns the actions whose input may have left, oldest first.
func (m *Memory) Begun() []work.Begun {
	var begun []work.Begun
	for _, id := range m.order {
		if e := m.entries[id]; e.begun() {
			begun = append(begun, work.Begun{Ref: e.Ref, Masks: e.Masks})
		}
	}
	return begun
}

// Trim forgets the oldest actions beyond keep. What is unfinished or not
// acknowledged is never forgotten, however old.
func (m *Memory) Trim(keep int) {
	excess := len(m.order) - keep
	if excess <= 0 {
		return
	}
	m.order = slices.DeleteFunc(m.order, func(id string) bool {
		state := m.entries[id].State
		if excess <= 0 || state == Started || state == Finished {
			return false
		}
		excess--
		delete(m.entries, id)
		return true
	})
}

// Clone returns a copy.
func (m *Memory) Clone() *Memory {
	c := &Memory{entries: make(map[string]Entry, len(m.entries)), order: slices.Clone(m.order), hold: m.hold}
	for id, e := range m.entries {
		c.entries[id] = e
	}
	return c
}

func (m *Memory) put(e Entry) {
	if _, known := m.entries[e.ActionID]; !known {
		m.order = append(m.order, e.ActionID)
	}
	m.entries[e.ActionID] = e
}

func (m *Memory) remove(actionID string) {
	delete(m.entries, actionID)
	m.order = slices.DeleteFunc(m.order, func(id string) bool { return id == actionID })
}

// records returns the memory as records of a compacted file.
func (m *Memory) records() []Record {
	records := make([]Record, 0, len(m.order)+1)
	if m.hold != nil {
		records = append(records, Record{Type: TypeHeld, Hold: m.hold})
	}
	for _, id := range m.order {
		e := m.entries[id]
		r := Record{Type: TypeEntry, Ref: e.Ref, SessionID: e.SessionID, Safe: e.Safe, State: e.State, Masks: e.Masks}
		if e.State == Finished || e.State == Acknowledged {
			r.Outcome = &e.Outcome
		}
		records = append(records, r)
	}
	return records
}
