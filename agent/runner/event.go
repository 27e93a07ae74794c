package runner

import "github.com/reprise-rpa/reprise/agent/work"

// Event is something that happened to the agent: one of the types below.
type Event interface{ event() }

type (
	// Opened says that a stream is open and the server has taken the opening.
	Opened struct {
		Acks     []Ack    // results of the opening that the server has
		Stop     bool     // the executing action was cancelled meanwhile
		Closed   []string // unfinished actions that the server will not ask for again
		Settings work.Settings
	}
	// Lost says that the stream is gone.
	Lost struct{}
	// Dispatched says that the server asks for an action.
	Dispatched struct{ work.Dispatch }
	// Acked says that the server's answer to a report is durable. Whatever the
	// answer, the agent need not say it again.
	Acked struct{ Ack }
	// Cancelled asks to stop an action of a replay, or with an empty action id all
	// that runs or waits of it.
	Cancelled struct{ ReplayID, ActionID string }
	// Paused says that a replay is paused; repeated after each opening.
	Paused struct{ work.Pause }
	// Resumed says that a pause is over.
	Resumed struct{ ReplayID, PauseID string }
	// PersonActs says what the person at the machine did: with PersonTakesOver, that the mouse
	// or the keyboard was used.
	PersonActs struct {
		Wish work.PersonWish
		By   string // with what, for people
	}
	// GoingAway says that the server wants to go.
	GoingAway struct{}

	// Began says that "started" is on the disk and input may leave.
	Began struct{ ActionID string }
	// Doing says what the executing action is about.
	Doing struct{ ActionID, Text string }
	// Finished says that the executor has returned, with no key down.
	Finished struct {
		ActionID string
		Outcome  work.Outcome
	}
	// Panicked says that the executor is gone, and may have left keys down.
	Panicked struct{ ActionID string }
	// Released says that every key and button was let go of, or why not.
	Released struct{ Err error }
	// Stored says that an awaited write of an action is done, or failed.
	Stored struct {
		ActionID string
		Err      error
	}
	// SpoolFailed says that a write failed; none succeeds until SpoolMended.
	SpoolFailed struct{ Err error }
	// SpoolMended says that the spool is writable and holds all that is known.
	SpoolMended struct{}

	// Due says that the time that Next named has come.
	Due struct{}
	// Starting says that the process begins; it comes first.
	Starting struct {
		Crashed bool  // the process before did not end in order
		Fresh   bool  // what processes before did, if there were any, is not known
		Broken  error // why the spool can't be written; nil: it can
	}
	// Stopping says that the process is asked to end.
	Stopping struct{}
)

// Ack names a report that the server has.
type Ack struct{ ActionID, AttemptID string }

func (Opened) event()      {}
func (Lost) event()        {}
func (Dispatched) event()  {}
func (Acked) event()       {}
func (Cancelled) event()   {}
func (Paused) event()      {}
func (Resumed) event()     {}
func (PersonActs) event()  {}
func (GoingAway) event()   {}
func (Began) event()       {}
func (Doing) event()       {}
func (Finished) event()    {}
func (Stored) event()      {}
func (SpoolFailed) event() {}
func (SpoolMended) event() {}
func (Panicked) event()    {}
func (Released) event()    {}
func (Due) event()         {}
func (Starting) event()    {}
func (Stopping) event()    {}
