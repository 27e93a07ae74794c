// Package replay decides how one replay moves. It holds no clock, lock,
// goroutine or connection: callers pass the time in and carry out what comes
// back.
//
// A replay is the fold of its records and nothing else (Apply). Each command and
// each message from the agent is a function of the replay that returns the
// events to record (the Decide functions); they change nothing themselves. What
// a setting decided is an event, so that a fold never depends on settings.
package replay

import (
	"time"
)

// Replay is one run of a workflow on one machine. Its fields are read by the
// rooms round it and written by Apply alone.
type Replay struct {
	ID          string
	MachineID   string
	Workflow    string // the workflow's name
	RequestID   string
	RequestHash string // of the request's body; same id and body, same replay
	Labels      map[string]string
	Unattended  bool
	Masks       []Mask   // what no picture may show
	Popups      [][]byte // how windows that get in the way are closed, in the schema's encoding
	// Open replays take more steps and do not complete. One with nothing to do
	// keeps its place: those behind it wait.
	Open      bool
	Steps     []Step
	Actions   []Action // every decision to run a step, in the order of the decisions
	State     State
	Pause     *Pause // set exactly while State is Paused
	InFlight  int    // index in Actions of the one that is dispatched; -1: none
	Settled   int    // steps that are acked, skipped or abandoned
	EndReason string
	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   time.Time
	Revision  int64 // the last record's sequence number

	started    bool          // it has held the machine
	cursor     int           // no step before it is queued, but for those in tail
	tail       []int         // steps that were put back at the tail, in that order
	current    []int         // by step: its newest decision, an index in Actions
	older      map[int][]int // by step: the decisions before that, if any
	helpless   int           // steps that need a person's decision
	byID       map[string]int
	pauses     int                 // how many pauses there were
	noEffect   []int               // actions in a row that should have changed the screen and did not
	gatePassed map[int]bool        // steps whose pause before they run is over
	appends    map[string]appended // by request id
	names      map[string]int      // steps by their own names
}

// State is the state of a replay.
type State int

// The states.
const (
	Queued State = iota + 1 // waits for the machine
	Running
	Paused
	Completed
	Failed
	Cancelled
)

var stateNames = [...]string{Queued: "QUEUED", Running: "RUNNING", Paused: "PAUSED", Completed: "COMPLETED", Failed: "FAILED", Cancelled: "CANCELLED"}

func (s State) String() string { return name(stateNames[:], int(s)) }

// Ended says whether nothing will ever change again.
func (s State) Ended() bool { return s >= Completed }

// Step is one action of the workflow, as far as a decision needs it.
type Step struct {
	Name          string // the step's own name; may be empty
	Kind          string // by its name in the schema
	Payload       []byte // the whole action, encoded; opaque here
	ServerSide    bool   // executed by the server: it pauses for a person
	Safe          bool   // safe to run twice
	Critical      bool   // what follows depends on it: a give-up pauses
	ChangesScreen bool   // should change what is on the screen
	Visual        bool   // goes to a place on a monitor
	Monitor       int    // which, for the event monitor_routed
	MonitorSource string
	MaxRetries    int // -1: by setting
	RetryExecuted bool
	FailExhausted bool // fail the replay, not pause, when the retries are used up
	OnGiveUp      GiveUp
	Message       string // of a pause for human
	Checks        []Check
}

// GiveUp is what happens when an action's resends are used up.
type GiveUp int

// What a give-up leads to.
const (
	GiveUpByKind GiveUp = iota // critical kinds pause, others go on
	GiveUpPause
	GiveUpContinue
	GiveUpFail
)

// Check is something a person confirms before the replay goes on.
type Check struct {
	ID, Label string
	Required  bool
	Server    bool // the server asks for it, not the workflow
}

// Action is one decision to run a step, and its one state.
type Action struct {
	ID                string
	Step              int // index in Steps
	Resumes, Retries  int // which decision it is
	State             ActionState
	AttemptID         string // of the last delivery
	Dispatches        int    // how often it was handed to the writer; numbers the attempts
	Deliveries        int    // those that count against the limit
	Resent            int    // resends spent
	FirstDispatchedAt time.Time
	LastDispatchedAt  time.Time
	LastResentAt      time.Time // when it was put back last
	Reason            Reason    // why it was put back last
	SpoolID, BootID   string    // the agent's memory and process at the last delivery
	Reported          bool      // a report of it was taken, or one of a decision that replaced it
	RanLate           bool      // its report, taken while its successor was out, says that it may have run
	Lost              bool      // delivered to an agent that came back with another memory
	Report            *Report   // the one that was taken
	Correction        *Point    // where a person said to act
}

// Point is a place in fractions of a monitor.
type Point struct{ X, Y float64 }

// Mask is a rectangle that no picture shows, in fractions of a monitor.
type Mask struct {
	Monitor                  int
	Left, Top, Width, Height float64
}

// ActionState is the state of one decision to run a step.
type ActionState int

// The states of an action.
const (
	ActionQueued     ActionState = iota + 1
	ActionDispatched             // in the pending map
	ActionAcked
	ActionNeedsHelp  // a person decides
	ActionSuperseded // another decision has taken its place
	ActionSkipped
	ActionFailed
	ActionAbandoned // the agent never answered
	ActionCancelled
)

var actionStateNames = [...]string{
	ActionQueued: "QUEUED", ActionDispatched: "DISPATCHED", ActionAcked: "ACKED", ActionNeedsHelp: "NEEDS_HELP",
	ActionSuperseded: "SUPERSEDED", ActionSkipped: "SKIPPED", ActionFailed: "FAILED", ActionAbandoned: "ABANDONED",
	ActionCancelled: "CANCELLED",
}

func (s ActionState) String() string { return name(actionStateNames[:], int(s)) }

// Reason is why an action is delivered again.
type Reason int

// The reasons.
const (
	FirstDelivery Reason = iota
	OrphanTimeout
	NotReceived
	Reconnect
	ServerRestart
	DesktopUnavailable
)

var reasonNames = [...]string{"first_delivery", "orphan_timeout", "not_received", "reconnect", "server_restart", "desktop_unavailable"}

func (r Reason) String() string { return name(reasonNames[:], int(r)) }

// Pause is why a replay is paused and what a person must decide.
type Pause struct {
	ID      string
	Reason  string // by its name in the schema, such as wrong_window
	Message string
	Checks  []Check
	Decide  string   // the action to decide on; empty: resume goes on with what follows
	Again   []string // further actions that a resume runs again
	Gate    int      // the step that asked for this pause before it runs; -1: none
	By      string   // who asked for it; empty: the server
	At      time.Time
}

// Report is what a decision needs of an agent's report.
type Report struct {
	Success    bool
	Code       string // the error, by its name in the schema; "other" when the server does not know it
	Message    string
	Completion Completion
	NoChange   bool // the screen should have changed and did not
	NeedsHuman bool
	SpoolID    string // the memory it comes from; empty: not said
	Payload    []byte // the whole report, encoded; opaque here
}

// Completion is how far an action came.
type Completion int

// How far.
const (
	CompletionUnknown Completion = iota // some input may have been sent
	CompletionNotStarted
	CompletionCompleted
)

// Policy is what the settings say. The zero value is not useful.
type Policy struct {
	MaxResends     int
	MaxRetries     int
	MaxDeliveries  int
	SwallowedInput int             // actions in a row without effect before the replay pauses
	SkipKinds      map[string]bool // an orphan of these is given up at once
	RequeueAtTail  bool
}

func name(names []string, i int) string {
	if i < 0 || i >= len(names) || names[i] == "" {
		return "UNKNOWN"
	}
	return names[i]
}
