package sim

import (
	"math/rand/v2"
	"time"
)

// theme is what a plan's steps and faults are drawn from.
type theme struct {
	kinds     []string
	ofWorld   []What
	ofRunning []What // nil: executions go well
	points    []Point
	longs     []time.Duration // how long what lasts may last
	tight     bool            // the budgets are small
	early     bool            // faults come to pass early, close to each other
}

var (
	clicks  = []string{"click", "type", "click"}
	gives   = []string{"scroll", "optional", "scroll", "wait", "click"}
	sending = []Point{Durable, Sent, Received, Executes, ReportSent, ReportCame, ReportKept}
	running = []Point{Executes, Begins, Started, MidInput, InputDone, ResultReady, ResultStored}
	medium  = []time.Duration{3 * time.Second, 7 * time.Second, 12 * time.Second, 25 * time.Second}
	longish = []time.Duration{12 * time.Second, 40 * time.Second, 70 * time.Second, 100 * time.Second}
)

// drills are themes for what has to come together to go wrong.
var drills = []theme{
	// reports and receipts get lost, and come late
	{kinds: clicks, ofWorld: []What{Lossy, Lossy, StallUp, Cut}, points: sending, longs: medium, early: true},
	{kinds: clicks, ofWorld: []What{Lossy, Lossy, StallDown, Cut}, ofRunning: []What{NotFound, Slow}, points: sending, longs: longish, tight: true, early: true},
	{kinds: clicks, ofWorld: []What{SlowLink, SlowLink, Freeze, Cut}, points: sending, longs: longish, early: true},
	// a desktop that comes and goes, while messages are repeated and held up
	{kinds: clicks, ofWorld: []What{Lock, Lock, StallUp, Lossy, Twice}, points: append(running, sending...), longs: medium, early: true},
	{kinds: clicks, ofWorld: []What{Lock, StallUp}, points: []Point{Durable, Sent, Received}, longs: medium, early: true},
	{kinds: clicks, ofWorld: []What{Lock, StallDown, Cut, FullAgent}, ofRunning: []What{Slow}, points: running, longs: medium, early: true},
	// another memory, another agent
	{kinds: append(clicks, "wait", "focus"), ofWorld: []What{Twin, Freeze, StallUp, LoseSpool}, points: append(sending, running...), longs: medium, early: true},
	{kinds: append(clicks, "wait", "focus"), ofWorld: []What{LoseSpool, KillAgent, StallUp, Twin}, ofRunning: []What{Slow}, points: running, longs: medium, early: true},
	// nobody answers, and is given up
	{kinds: gives, ofWorld: []What{Lossy, Lossy, StallBoth, Freeze}, ofRunning: []What{Slow, Hangs}, points: sending, longs: longish, tight: true, early: true},
	{kinds: gives, ofWorld: []What{Lossy, StallUp}, points: sending, longs: longish, tight: true, early: true},
	// a person stops what runs, while the link is away
	{kinds: clicks, ofWorld: []What{Cancel, Cut, StallBoth, StallUp}, ofRunning: []What{Slow, Slow, Hangs}, points: append(running, Sent, Received), longs: medium, early: true},
	{kinds: clicks, ofWorld: []What{Cancel, Cut, StallBoth}, ofRunning: []What{Slow, Popup}, points: []Point{Received, Executes, Begins}, longs: medium, early: true},
	{kinds: clicks, ofWorld: []What{Cancel, Cancel, Lossy, StallUp}, ofRunning: []What{Slow}, points: []Point{Received, Executes, Sent}, longs: medium, early: true},
	// an earlier stream lingers
	{kinds: clicks, ofWorld: []What{Linger, Linger, Cut}, ofRunning: []What{Slow}, points: running, longs: longish, early: true},
	{kinds: clicks, ofWorld: []What{Pause, Resume, ResumeTwice, Skip, ResumeFrom, Cut}, ofRunning: []What{Slow, VerifyFails}, points: append(sending, Asked, Started), longs: medium, early: true},
	// a person decides on what is still under way
	{kinds: clicks, ofWorld: []What{StallUp, StallBoth, ResumeTwice, Resume, Freeze}, ofRunning: []What{Slow}, points: append(sending, Asked), longs: longish, tight: true, early: true},
	// processes die
	{kinds: clicks, ofWorld: []What{KillAgent, KillServer, PowerLoss, StopAgent}, points: append(running, sending...), longs: medium, tight: true, early: true},
	{kinds: clicks, ofWorld: []What{KillServer, FullServer, SlowDisk, StopServer}, points: []Point{Decided, Durable, Sent, ReportCame, ReportTaken, ReportKept, AckSent, Asked}, longs: medium, early: true},
	// what is executed kills the agent
	{kinds: gives, ofWorld: []What{CrashLoop, CrashLoop, ResumeFrom, Cut}, points: running, longs: longish, tight: true, early: true},
	// viewers that swallow
	{kinds: []string{"click", "type", "scroll", "check", "again"}, ofWorld: []What{Cut, KillAgent, Pause}, ofRunning: []What{Swallows}, points: sending, longs: medium, tight: true, early: true},
}

// drawTheme draws what a plan is about: everything, a few kinds of everything, so that
// what takes two of a kind does meet (after Groce et al., "Swarm Testing", ISSTA 2012),
// or a drill.
func drawTheme(rng *rand.Rand) theme {
	all := theme{kinds: drawn, ofWorld: ofWorld, ofRunning: ofExecution, points: points, longs: durations}
	switch rng.IntN(4) {
	case 0:
		return all
	case 1:
		all.kinds, all.ofWorld = some(rng, drawn, 3), some(rng, ofWorld, 4)
		all.ofRunning, all.points = some(rng, ofExecution, 2), some(rng, points, 5)
		return all
	}
	return drills[rng.IntN(len(drills))]
}

// some draws up to n of a list.
func some[T any](rng *rand.Rand, of []T, n int) []T {
	list := make([]T, 1+rng.IntN(n))
	for i := range list {
		list[i] = one(rng, of)
	}
	return list
}

func one[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

func (t theme) steps(rng *rand.Rand) []string {
	steps := make([]string, 1+rng.IntN(6))
	for i := range steps {
		steps[i] = one(rng, t.kinds)
	}
	return steps
}

// fault draws a fault.
func (t theme) fault(rng *rand.Rand, machines int) Fault {
	f := Fault{Machine: rng.IntN(machines), For: one(rng, t.longs) + time.Duration(rng.Int64N(int64(300*time.Millisecond)))}
	last := 5
	if t.early {
		f.Machine, last = 0, 3
	}
	if t.ofRunning != nil && rng.IntN(3) == 0 {
		f.What, f.Point, f.Count = one(rng, t.ofRunning), Executes, 1+rng.IntN(last+1)
		return f
	}
	f.What = one(rng, t.ofWorld)
	if rng.IntN(4) == 0 {
		f.At = time.Duration(rng.Int64N(int64(horizon / 2)))
		if t.early {
			f.At /= 4
		}
		return f
	}
	f.Point, f.Count = one(rng, t.points), 1+rng.IntN(last)
	return f
}
