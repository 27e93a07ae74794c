package runner

import (
	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

// Effect is something to be done because of an event: one of the types below.
// Effects are carried out in order.
type Effect interface{ effect() }

type (
	// Release lets go of every key and button that is down; Released follows. Nothing
	// is executed meanwhile.
	Release struct {
		Why string
		// Pressed says that input may have left, of this process or of one before: a
		// failure leaves something down then.
		Pressed bool
		Again   bool // the attempt before failed, and that has been told
	}
	// GiveUp leaves a desktop that does not let go, because the process ends.
	GiveUp struct{}
	// Execute hands an action to the executor; Finished or Panicked follows.
	Execute struct {
		Dispatch work.Dispatch
		Settings work.Settings
	}
	// Stop asks the executor to stop at its next safe point, with a cause of
	// package work.
	Stop struct{ Cause error }
	// Write appends a record to the spool; Stored follows if it is awaited.
	Write struct {
		Record spool.Record
		Await  bool
	}
	// Mend rewrites the spool from what is known; SpoolMended follows if it
	// succeeds.
	Mend struct{ Memory *spool.Memory }
	// SendReport sends an answer over the open stream.
	SendReport struct{ work.Report }
	// SendProgress sends progress over the open stream.
	SendProgress struct{ work.Progress }
	// SendPerson tells the server what the person at the machine asks for, over the open
	// stream.
	SendPerson struct {
		Wish     work.PersonWish
		ReplayID string // that was shown; empty: the one that holds the machine
		By       string // with what the person asked, for people
	}
	// GoOn lets the desktop take gestures again after the person's stop. It comes
	// before whatever is executed next.
	GoOn struct{}
	// Reopen closes the stream, so that a new one is opened.
	Reopen struct{ Reason string }
	// Show shows a pause to the person at the machine.
	Show struct{ work.Pause }
	// Hide takes it away.
	Hide struct{ ReplayID, PauseID string }
)

func (Release) effect()      {}
func (GiveUp) effect()       {}
func (Execute) effect()      {}
func (Stop) effect()         {}
func (Write) effect()        {}
func (Mend) effect()         {}
func (SendReport) effect()   {}
func (SendProgress) effect() {}
func (SendPerson) effect()   {}
func (GoOn) effect()         {}
func (Reopen) effect()       {}
func (Show) effect()         {}
func (Hide) effect()         {}
