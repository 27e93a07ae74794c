package sim

import (
	"fmt"
	"time"
)

// Fault is one thing that goes wrong, or that a person does unasked.
type Fault struct {
	What    What
	Machine int
	// Point is where it happens: the Count-th time that the machine's action comes
	// to it. Empty: it happens at a time.
	Point Point
	Count int
	At    time.Duration
	For   time.Duration // how long, where it lasts
}

func (f Fault) String() string {
	where := fmt.Sprintf("at %s", stamp(f.At))
	if f.Point != "" {
		where = fmt.Sprintf("when M%d comes to %q for the %d. time", f.Machine+1, f.Point, f.Count)
	}
	out := fmt.Sprintf("%s of M%d %s", f.What, f.Machine+1, where)
	if f.For > 0 {
		out += fmt.Sprintf(" for %v", f.For.Round(time.Millisecond))
	}
	return out
}

// Point is a step in the life of an action: before and after each write, send and
// input event.
type Point string

// The points, in the order of an action's life.
const (
	Decided      Point = "dispatch decided"
	Durable      Point = "dispatch durable"
	Sent         Point = "dispatch sent"
	Received     Point = "dispatch received"
	Begins       Point = "about to write started"
	Started      Point = "started written"
	MidInput     Point = "mid input"
	InputDone    Point = "input done"
	ResultReady  Point = "result ready"
	ResultStored Point = "result stored"
	ReportSent   Point = "report sent"
	ReportCame   Point = "report received"
	ReportTaken  Point = "report decided"
	ReportKept   Point = "report durable"
	AckSent      Point = "acknowledgement sent"
	AckCame      Point = "acknowledgement received"
	Executes     Point = "execution"
	Opens        Point = "stream opened"
	HelloSent    Point = "hello sent"
	Asked        Point = "paused"
)

var points = []Point{
	Decided, Durable, Sent, Received, Begins, Started, MidInput, InputDone, ResultReady, ResultStored, ReportSent,
	ReportCame, ReportTaken, ReportKept, AckSent, AckCame, Opens, HelloSent, Asked,
}

// What is a kind of fault.
type What string

// The faults.
const (
	Cut         What = "cut"         // the connection breaks, both ends notice
	StallDown   What = "stall down"  // nothing arrives at the agent for a while: a half-open link
	StallUp     What = "stall up"    // nothing arrives at the server for a while
	StallBoth   What = "stall"       // nothing arrives anywhere for a while
	Linger      What = "linger"      // what was sent up the streams of now arrives late; later streams are not held up
	SlowLink    What = "slow link"   // whatever travels takes a second or two
	Twice       What = "duplicate"   // the next messages arrive twice
	Freeze      What = "freeze"      // the agent's process stands still, as in a machine that sleeps
	CrashLoop   What = "crash loop"  // what it executes kills it
	KillAgent   What = "kill agent"  // kill -9
	PowerLoss   What = "power loss"  // the agent dies and nobody is told
	StopAgent   What = "stop agent"  // in order
	LoseSpool   What = "lose spool"  // the agent dies and comes back with another memory
	Twin        What = "twin"        // another agent claims the machine
	KillServer  What = "kill server" // kill -9
	StopServer  What = "stop server" // in order
	FullServer  What = "server's disk full"
	FullAgent   What = "agent's disk full"
	SlowDisk    What = "server's disk slow"
	Lossy       What = "lossy" // dispatches, reports and what follows them get lost, and pings do not
	Lock        What = "lock desktop"
	Pause       What = "pause"
	Cancel      What = "cancel"
	Resume      What = "resume"
	ResumeTwice What = "two resumes"
	Skip        What = "resume skip"
	ResumeFrom  What = "resume from"
	StopKey     What = "stop key"  // the person at the machine presses it
	OwnInput    What = "own input" // the person at the machine uses mouse or keyboard
	WantsOn     What = "go on"     // the person at the machine wants it to go on
	NotFound    What = "target not found"
	WrongWindow What = "wrong window"
	VerifyFails What = "verify failed"
	Swallows    What = "input swallowed"
	NeedsHuman  What = "needs human"
	Panics      What = "executor panics"
	Hangs       What = "executor hangs"
	Slow        What = "slow action"
	Popup       What = "popup" // one is closed, and the target is looked for behind it
)

// ofExecution are the faults of one execution; they happen at Executes.
var ofExecution = []What{NotFound, NotFound, WrongWindow, VerifyFails, Swallows, Swallows, NeedsHuman, Panics, Hangs, Slow, Slow, Popup, Popup}

// ofWorld are the faults that may happen anywhere.
var ofWorld = []What{
	Cut, Cut, StallDown, StallUp, StallUp, StallBoth, StallBoth, SlowLink, SlowLink, Linger, Twice, Freeze, Freeze, Lossy, Lossy, Lossy, CrashLoop, CrashLoop, KillAgent, KillAgent, KillAgent, PowerLoss,
	StopAgent, LoseSpool, Twin, KillServer, KillServer, KillServer, StopServer, FullServer, FullAgent, SlowDisk, Lock,
	Pause, Pause, Cancel, Resume, ResumeTwice, Skip, ResumeFrom, StopKey, OwnInput, WantsOn,
}

// durations are how long what lasts may last.
var durations = []time.Duration{
	300 * time.Millisecond, 3 * time.Second, 7 * time.Second, 12 * time.Second, 25 * time.Second, 40 * time.Second, 70 * time.Second, 100 * time.Second,
}
