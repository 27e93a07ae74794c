package dispatch

import (
	"time"

	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
)

// Input is one thing that happens to a machine.
type Input interface{ input() }

type (
	// Open says that an agent opened a stream and what it said about itself.
	Open struct {
		Session    Session
		Executing  *Ref // the action that it is executing
		Results    []Result
		Unfinished []Ref // actions that it started and has no result of
	}
	// Closed says that a stream has ended. One that does not hold the machine
	// any more changes nothing.
	Closed struct{ SessionID string }
	// Desktop says whether the desktop can take input.
	Desktop struct {
		SessionID string
		Usable    bool
	}
	// Progress says how far the agent is with an action.
	Progress struct {
		SessionID, ActionID string
		Phase               pending.Phase
		Doing               string
	}
	// Report is an agent's report. It is taken from any session, also an older one.
	Report struct {
		SessionID string
		Result
	}
	// Submit adds a replay behind those that wait.
	Submit struct {
		ReplayID string
		Created  replay.Created
		Reply    func(Answer)
	}
	// Command is what a person says to a replay.
	Command struct {
		ReplayID string // empty: the one that holds the machine
		// SessionID is set when the person at the machine says it: it counts only
		// while that session holds the machine.
		SessionID string
		// Decide is one of the replay's command functions.
		Decide func(*replay.Replay) ([]replay.Event, error)
		// AppendID is the request id of an append: the answer names its actions.
		AppendID string
		Reply    func(Answer)
	}
	// Tick says that time has passed.
	Tick struct{}
	// Sweep looks at every entry once more: the net below the deadlines. Done
	// gets what it found, once that is durable.
	Sweep struct{ Done func(Swept) }
	// Drain stops dispatching for good: the server is going away.
	Drain struct{}
	// Forget says that ended replays are remembered no longer.
	Forget struct{ ReplayIDs []string }
)

// Ref names an action and one of its attempts.
type Ref struct{ ActionID, AttemptID string }

// Result is one report.
type Result struct {
	Ref
	Report replay.Report
}

func (Open) input()     {}
func (Closed) input()   {}
func (Desktop) input()  {}
func (Progress) input() {}
func (Report) input()   {}
func (Submit) input()   {}
func (Command) input()  {}
func (Tick) input()     {}
func (Sweep) input()    {}
func (Drain) input()    {}
func (Forget) input()   {}

// Effect is one thing to do once the step's entries are durable.
type Effect interface{ effect() }

type (
	// Welcome answers an Open; it is the first thing that a session is sent.
	Welcome struct {
		SessionID string
		Verdicts  []replay.Verdict // of the results, in their order
		Executing replay.Executing
		Closed    []string // unfinished actions that are not asked for again
	}
	// Deliver sends an attempt of an action.
	Deliver struct {
		SessionID string
		Delivery  Delivery
	}
	// Ack answers a report.
	Ack struct {
		SessionID string
		Ref       Ref
		Verdict   replay.Verdict
	}
	// ShowPause tells the agent that a replay is paused.
	ShowPause struct {
		SessionID, ReplayID string
		Pause               replay.Pause
	}
	// EndPause tells the agent that a pause is over.
	EndPause struct{ SessionID, ReplayID, PauseID string }
	// CancelAction asks the agent to stop.
	CancelAction struct{ SessionID, ReplayID, ActionID string }
	// CloseSession ends a stream, with the reason that its agent is told.
	CloseSession struct {
		SessionID string
		Why       error
	}
	// Answer answers a Submit or a Command.
	Answer struct {
		Reply     func(Answer)
		Replay    string   // its id
		SessionID string   // empty: the agent is away
		Remaining int      // actions that are not settled yet
		View      *View    // the replay after it, without its actions; nil with Err
		Appended  []string // ids of the actions of the append that Command.AppendID names
		Err       error
	}
	// Changed says that a replay is different now.
	Changed struct{ View View }
	// Fault is a fault of ours: an event that did not fit. It was not recorded.
	Fault struct{ Err error }
	// Note is something for the log and the metrics.
	Note struct {
		Kind                      NoteKind
		Replay, Session, Action   string
		Resent, Max, Count, Index int
		Age                       time.Duration // from the first dispatch
		Source                    string
	}
	// Swept is what became of one machine's deadlines since the sweep before, those
	// that fired when they were due included.
	Swept struct {
		Done                                       func(Swept)
		Orphans, Resent, GaveUp, Skipped, InFlight int
		Unanswered                                 int // machines that did not answer, of all together
	}
)

// NoteKind is what a Note tells.
type NoteKind int

// The notes; the contract's section 8.4 fixes their form in the log.
const (
	NoteOrphanResent NoteKind = iota + 1
	NoteOrphanGiveUp
	NoteDeadClient
	NoteSafetyChecks
	NoteMonitorRouted
)

func (Welcome) effect()      {}
func (Deliver) effect()      {}
func (Ack) effect()          {}
func (ShowPause) effect()    {}
func (EndPause) effect()     {}
func (CancelAction) effect() {}
func (CloseSession) effect() {}
func (Answer) effect()       {}
func (Changed) effect()      {}
func (Fault) effect()        {}
func (Note) effect()         {}
func (Swept) effect()        {}

// Delivery is one attempt of an action, as the agent gets it.
type Delivery struct {
	ReplayID, MachineID string
	ActionID, AttemptID string
	Step                replay.Step
	FirstDispatchedAt   time.Time
	LastResentAt        time.Time
	Resent              int
	Number              int // of this delivery, from 1
	Reason              replay.Reason
	Replaces            []string
	Correction          *replay.Point
	Masks               []replay.Mask // what no picture may show
	Popups              [][]byte      // how windows that get in the way are closed, in the schema's encoding
}
