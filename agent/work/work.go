// Package work holds the values that travel inside the agent: what was
// dispatched and how it came out. It decides nothing, and knows neither the
// schema nor the desktop; link translates it, runner keeps it, execute does it.
package work

import (
	"errors"
	"time"
)

// Ref names an action and one of its attempts.
type Ref struct {
	ReplayID  string `json:"replay_id,omitempty"`
	ActionID  string `json:"action_id"`
	AttemptID string `json:"attempt_id,omitempty"`
}

// Dispatch is one attempt of an action as it came from the server.
type Dispatch struct {
	Ref
	SessionID string        // the session that delivered it
	Replaces  []string      // ids of earlier decisions to run the same step, unsettled at the server
	Safe      bool          // running it twice does no harm
	Timeout   time.Duration // longest time to run; 0 means by setting
	Invalid   string        // why the action makes no sense; empty: it does
	Action    Action
}

// Settings are what the server asks the agent to keep to. A zero value means
// its default, which the comment names.
type Settings struct {
	ReportAck        time.Duration // a report unacknowledged for so long: reopen the stream; 10 s
	ActionTimeout    time.Duration // longest time of an action that says nothing of its own; 60 s
	ProgressAfter    time.Duration // first progress of an action; 200 ms
	ProgressInterval time.Duration // and then each; 5 s
	EffectTimeout    time.Duration // wait for a visible effect; 1 s
	ResolveTimeout   time.Duration // wait for a target; 30 s
	MinScoreTemplate float64       // least score of a picture; 0.95
	PingInterval     time.Duration // 10 s
	PingTimeout      time.Duration // 10 s
	MaxPicture       int64         // bytes of a picture that the server takes; 32 MiB
}

// WithDefaults fills in what is not set.
func (s Settings) WithDefaults() Settings {
	fill(&s.ReportAck, 10*time.Second)
	fill(&s.ActionTimeout, time.Minute)
	fill(&s.ProgressAfter, 200*time.Millisecond)
	fill(&s.ProgressInterval, 5*time.Second)
	fill(&s.EffectTimeout, time.Second)
	fill(&s.ResolveTimeout, 30*time.Second)
	fill(&s.MinScoreTemplate, 0.95)
	fill(&s.PingInterval, 10*time.Second)
	fill(&s.PingTimeout, 10*time.Second)
	fill(&s.MaxPicture, 32<<20)
	return s
}

func fill[T time.Duration | float64 | int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Report is the answer for an action, ready to be sent.
type Report struct {
	Ref
	SessionID string // the session in which the attempt was received
	Outcome   Outcome
}

// Progress says how far an action is.
type Progress struct {
	Ref
	Executing bool   // else it is received
	Doing     string // for people
}

// Pause is a pause as the person at the machine is told of it.
type Pause struct {
	ReplayID, PauseID, Reason, Message string
	Checks                             []string // labels of what the person confirms
}

// PauseByOperator is the reason of a pause that an operator, or the person at the
// machine, asked for.
const PauseByOperator = "operator"

// PersonWish is what the person at the machine asks for.
type PersonWish int

// The wishes.
const (
	PersonStops     PersonWish = iota + 1 // no more input
	PersonTakesOver                       // the person uses mouse or keyboard
	PersonGoesOn                          // the replay may go on
)

func (w PersonWish) String() string {
	switch w {
	case PersonStops:
		return "stop"
	case PersonTakesOver:
		return "take over"
	case PersonGoesOn:
		return "go on"
	}
	return "unknown"
}

// Opening is what the agent says when it opens a stream.
type Opening struct {
	SpoolID    string
	BootID     string
	LastExit   string   // how the last process ended; empty: in order
	Results    []Report // not acknowledged, oldest first
	Executing  *Ref     // nil: nothing
	Unfinished []Ref    // started and never finished, by a process that is gone
}

// Job is a dispatch to be executed.
type Job struct {
	Dispatch
	Settings Settings
	// Begin must be called before the action's own input leaves, and before that of each
	// popup that it closes: whatever was looked for or waited for in between may have
	// taken long. It returns once "started" is on the disk, which the first call puts
	// there, and the server vouches for the action now. When it fails, no input is sent
	// that has not been sent before. It is never called twice at a time.
	Begin func() error
	// Doing says what the agent is doing, for people. Never holds typed text.
	Doing func(string)
}

// Why a job's context ends, as its cause.
var (
	// ErrInterrupted says that the server, or the agent's own end, stops the
	// action at its next safe point.
	ErrInterrupted = errors.New("stopped on request")
	// ErrTimedOut says that the action's longest time passed.
	ErrTimedOut = errors.New("the longest time of the action passed")
	// ErrPerson says that the person at the machine stopped the agent.
	ErrPerson = errors.New("stopped by the person at the machine")
)
