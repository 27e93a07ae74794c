package replay

import "time"

// Record is what one step of the machine's loop adds to a replay's journal: all
// of its events, durable together or not at all.
type Record struct {
	ReplayID string
	Seq      int64 // from 1, without gaps
	At       time.Time
	Events   []Event
}

// Event is one change of a replay. Events are facts: applying one decides
// nothing and needs no setting.
type Event interface{ event() }

type (
	// Created is the first event.
	Created struct {
		MachineID, Workflow    string
		RequestID, RequestHash string
		Labels                 map[string]string
		Unattended             bool
		By                     string
		Steps                  []Step
		Open                   bool // more steps may be appended
		Masks                  []Mask
		Popups                 [][]byte // how windows that get in the way are closed, in the schema's encoding
	}
	// Appended says that an open replay has more steps.
	Appended struct {
		RequestID, RequestHash string
		By                     string
		Steps                  []Step
	}
	// Closed says that no more steps come.
	Closed struct{ By string }
	// Started says that the replay holds the machine now.
	Started struct{}
	// Dispatched says that a queued action was put in flight.
	Dispatched struct {
		ActionID, AttemptID string
		SessionID           string
		SpoolID, BootID     string
		Reason              Reason
	}
	// Adopted says that an action counts as dispatched because the agent is
	// executing it.
	Adopted struct{ ActionID, AttemptID string }
	// Requeued says that an action in flight is queued again.
	Requeued struct {
		ActionID string
		Reason   Reason
		Spent    bool // one resend was spent
		Refund   bool // the delivery does not count
		Tail     bool
	}
	// Reported says how a report was taken.
	Reported struct {
		ActionID, AttemptID string
		Outcome             Outcome
		Report              Report
	}
	// LostMemory says that an action was delivered to an agent that came back
	// with another memory: nobody knows what became of it.
	LostMemory struct{ ActionID string }
	// GaveUp says that an action's resends are used up, or its deliveries.
	GaveUp struct {
		ActionID      string
		AllDeliveries bool // not the resends but the deliveries
	}
	// PausedBy says that the replay waits for a person.
	PausedBy struct {
		Reason, Message string
		Checks          []Check
		Decide          string   // the action to decide on
		Again           []string // further actions that a resume runs again
		Gate            int      // the step that asked for it; -1: none
		By              string
	}
	// GatePassed says that an unattended replay went past a pause for human.
	GatePassed struct{ Step int }
	// Resumed says that a person let the replay go on.
	//
	// Retry, the default, runs the action to decide on again under a new id.
	Resumed struct {
		By       string
		Acked    []string // check ids
		Skip     bool
		From     int // the step to go on from; -1: not said
		Position *Point
	}
	// Ended says that nothing will change any more.
	Ended struct {
		State  State // Completed, Failed or Cancelled
		Reason string
		By     string
	}
)

func (Created) event()    {}
func (Appended) event()   {}
func (Closed) event()     {}
func (Started) event()    {}
func (Dispatched) event() {}
func (Adopted) event()    {}
func (Requeued) event()   {}
func (Reported) event()   {}
func (LostMemory) event() {}
func (GaveUp) event()     {}
func (PausedBy) event()   {}
func (GatePassed) event() {}
func (Resumed) event()    {}
func (Ended) event()      {}

// Outcome is what a report did to its action.
type Outcome int

// The outcomes.
const (
	OutcomeAcked     Outcome = iota + 1 // settled it
	OutcomeRetried                      // a retry is queued at the head
	OutcomeNeedsHelp                    // a person decides
	OutcomeFailed                       // the replay fails
	OutcomeRecorded                     // nothing; it came too late
)

var outcomeNames = [...]string{OutcomeAcked: "acked", OutcomeRetried: "retried", OutcomeNeedsHelp: "needs_help", OutcomeFailed: "failed", OutcomeRecorded: "recorded"}

func (o Outcome) String() string { return name(outcomeNames[:], int(o)) }
