// Package pending is the server's table of dispatched, unreported actions: a
// visibility timeout in memory, rebuilt from the journal. It says which entries
// are due; what is done about them is decided elsewhere. It holds no clock,
// lock or goroutine: callers pass the time in.
package pending

import (
	"container/heap"
	"fmt"
	"time"
)

// Phase is how far the agent is with an action, for display and for telling
// "never arrived" from "takes long".
type Phase int

// The phases.
const (
	Sent Phase = iota + 1
	Received
	Executing
)

// Kind is which deadline passed.
type Kind int

// The deadlines.
const (
	Receipt Kind = iota + 1 // no progress and no report since it was sent
	Orphan                  // no report, and no progress for too long
)

// Timeouts are the lengths of the two deadlines. Receipt must be the shorter.
type Timeouts struct {
	Receipt, Orphan time.Duration
	Off             bool // nothing is ever due: entries wait for a report or a reconnect
}

// Entry is one action in flight.
type Entry struct {
	ReplayID, ActionID, AttemptID string
	Phase                         Phase
	Doing                         string // what the agent says it is doing
}

// Due is an entry whose deadline passed.
type Due struct {
	Entry
	Kind Kind
}

// Map holds the entries of one machine. The zero value is not usable; see New.
type Map struct {
	timeouts Timeouts
	entries  map[string]*item
	armed    deadlines
}

type item struct {
	Entry
	kind  Kind
	at    time.Time
	index int // in armed; -1: its deadline stands still
}

// New returns an empty map.
func New(t Timeouts) *Map { return &Map{timeouts: t, entries: map[string]*item{}} }

// Put adds an entry whose deadline stands still. An action is in the map at most
// once.
func (m *Map) Put(e Entry) error {
	if _, ok := m.entries[e.ActionID]; ok {
		return fmt.Errorf("action %s is in the pending map already", e.ActionID)
	}
	if e.Phase == 0 {
		e.Phase = Sent
	}
	m.entries[e.ActionID] = &item{Entry: e, index: -1}
	return nil
}

// Arm starts an entry's deadline: it was sent on a live stream just now, or the
// agent said that it has it.
func (m *Map) Arm(actionID string, now time.Time) {
	it, ok := m.entries[actionID]
	if !ok || m.timeouts.Off {
		return
	}
	it.kind, it.at = Orphan, now.Add(m.timeouts.Orphan)
	if it.Phase == Sent {
		it.kind, it.at = Receipt, now.Add(m.timeouts.Receipt)
	}
	m.fix(it)
}

// WaiveReceipt lets an entry whose receipt is overdue wait for its orphan
// deadline, which counts from when it was sent.
func (m *Map) WaiveReceipt(actionID string) {
	it, ok := m.entries[actionID]
	if !ok || it.kind != Receipt || it.index < 0 {
		return
	}
	it.kind, it.at = Orphan, it.at.Add(m.timeouts.Orphan-m.timeouts.Receipt)
	m.fix(it)
}

// Progress moves an entry's deadline. A phase never goes back. It says whether
// the entry is there.
func (m *Map) Progress(actionID string, p Phase, doing string, now time.Time) bool {
	it, ok := m.entries[actionID]
	if !ok {
		return false
	}
	it.Phase, it.Doing = max(it.Phase, p, Received), doing
	m.Arm(actionID, now)
	return true
}

// StandStill stops all deadlines: the machine has no stream.
func (m *Map) StandStill() {
	for _, it := range m.armed {
		it.index = -1
	}
	m.armed = m.armed[:0]
}

// Remove takes an entry out; it says whether it was there.
func (m *Map) Remove(actionID string) bool {
	it, ok := m.entries[actionID]
	if !ok {
		return false
	}
	if it.index >= 0 {
		heap.Remove(&m.armed, it.index)
	}
	delete(m.entries, actionID)
	return true
}

// Get returns an entry.
func (m *Map) Get(actionID string) (Entry, bool) {
	if it, ok := m.entries[actionID]; ok {
		return it.Entry, true
	}
	return Entry{}, false
}

// Deadline returns what an entry waits for, and until when; false: it is not there,
// or its deadline stands still.
func (m *Map) Deadline(actionID string) (Kind, time.Time, bool) {
	it, ok := m.entries[actionID]
	if !ok || it.index < 0 {
		return 0, time.Time{}, false
	}
	return it.kind, it.at, true
}

// Len returns the number of entries.
func (m *Map) Len() int { return len(m.entries) }

// Next returns the earliest deadline; false: none is running.
func (m *Map) Next() (time.Time, bool) {
	if len(m.armed) == 0 {
		return time.Time{}, false
	}
	return m.armed[0].at, true
}

// Due returns the entries whose deadline has passed, the earliest first. They
// stay in the map until they are removed or armed again.
func (m *Map) Due(now time.Time) []Due {
	var due []Due
	var kept deadlines
	for len(m.armed) > 0 && !m.armed[0].at.After(now) {
		it := heap.Pop(&m.armed).(*item)
		due = append(due, Due{Entry: it.Entry, Kind: it.kind})
		kept = append(kept, it)
	}
	for _, it := range kept {
		heap.Push(&m.armed, it)
	}
	return due
}

func (m *Map) fix(it *item) {
	if it.index < 0 {
		heap.Push(&m.armed, it)
		return
	}
	heap.Fix(&m.armed, it.index)
}

// deadlines is a heap with the earliest deadline at its root.
type deadlines []*item

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

// Push adds an item; for container/heap only.
func (d *deadlines) Push(x any) {
	it := x.(*item)
	it.index = len(*d)
	*d = append(*d, it)
}

// Pop takes the last item out; for container/heap only.
func (d *deadlines) Pop() any {
	old := *d
	it := old[len(old)-1]
	it.index = -1
	*d = old[:len(old)-1]
	return it
}
