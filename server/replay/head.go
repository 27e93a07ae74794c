package replay

import "time"

// Head is what lists and filters need of a replay; it is stored beside its
// records, in the same transaction.
type Head struct {
	ReplayID    string
	MachineID   string
	Workflow    string
	RequestID   string
	RequestHash string
	Labels      map[string]string
	Unattended  bool
	Open        bool // more steps may be appended
	State       State
	Pausing     bool // paused, and an action is still in flight
	PauseReason string
	Actions     int // steps of the workflow
	Settled     int
	EndReason   string
	CreatedAt   time.Time
	UpdatedAt   time.Time
	EndedAt     time.Time // zero while it lives
	Revision    int64
}

// Head returns the replay's head.
func (r *Replay) Head() Head {
	h := Head{
		ReplayID: r.ID, MachineID: r.MachineID, Workflow: r.Workflow, RequestID: r.RequestID, RequestHash: r.RequestHash,
		Labels: r.Labels, Unattended: r.Unattended, Open: r.Open, State: r.State, Actions: len(r.Steps), Settled: r.Settled,
		EndReason: r.EndReason, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, EndedAt: r.EndedAt, Revision: r.Revision,
	}
	if r.Pause != nil {
		h.PauseReason, h.Pausing = r.Pause.Reason, r.InFlight >= 0
	}
	return h
}

// Positioned is a record with its place in the journal as a whole, which is never
// given twice and grows in the order in which records became durable.
type Positioned struct {
	Position  int64
	MachineID string
	Record
}

// EventFilter says which records a reader of the journal wants.
type EventFilter struct {
	MachineID string // empty: of all machines
	ReplayID  string // empty: of all replays
}

// Filter says which heads a list holds.
type Filter struct {
	MachineID     string            // empty: of all machines
	States        []State           // empty: in all states
	Labels        map[string]string // all of these
	CreatedFrom   time.Time         // then or later; zero: whenever
	CreatedBefore time.Time         // before then; zero: whenever
	PageSize      int               // at most
	PageToken     string            // what the page before returned; empty: the first page
}
