package service

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// State is a service's state, as the service control manager knows it.
type State int

// The states.
const (
	Stopped State = iota + 1
	StartPending
	Running
	PausePending
	Paused
	ContinuePending
	StopPending
)

var stateNames = map[State]string{
	Stopped: "stopped", StartPending: "starting", Running: "running", PausePending: "pausing",
	Paused: "paused", ContinuePending: "continuing", StopPending: "stopping",
}

func (s State) String() string {
	if name, ok := stateNames[s]; ok {
		return name
	}
	return "unknown"
}

// pending says whether the state is on the way to another one.
func (s State) pending() bool {
	return s == StartPending || s == PausePending || s == ContinuePending || s == StopPending
}

// request is what the service control manager asks of the service.
type request int

const (
	interrogate request = iota + 1 // say the state again
	stop                           // also of a system that shuts down
	pause
	proceed
	sessionChange
)

// status is what the service control manager is told.
type status struct {
	state      State
	checkPoint uint32        // grows while a change of state goes on
	waitHint   time.Duration // by when the next one comes
}

// controller is the life of one service: its goroutine alone touches what it holds.
type controller struct {
	program  Program
	requests <-chan request
	report   func(status)
	sink     Sink          // nil: there is no event log
	endIn    time.Duration // how long a program may take to end

	now     status
	since   time.Time // of a state that is pending
	began   bool      // the service was running once
	end     context.CancelCauseFunc
	ready   chan struct{}
	done    chan error // nil: the program does not run
	changes chan struct{}
}

// run is the service from its start to its end; it returns its exit code, which is 0, or
// the number of the event that says why it ended by itself. With another code than 0
// Windows starts the service again, so one that was asked to stop or to pause has 0
// however it went: the event alone says that. When ctx ends the service stops.
func (c *controller) run(ctx context.Context) uint32 {
	c.changes = make(chan struct{}, 1)
	c.start(ctx, StartPending)
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	ended := ctx.Done()
	for {
		over, code := false, uint32(0)
		select {
		case <-ended:
			ended = nil
			over = c.ask(ctx, stop)
		case r := <-c.requests:
			over = c.ask(ctx, r)
		case <-c.ready:
			c.ready = nil
			c.runs()
		case err := <-c.done:
			over, code = c.ended(err)
		case <-tick.C:
			over = c.progress()
		}
		if over {
			return code
		}
	}
}

// start starts the program.
func (c *controller) start(ctx context.Context, pending State) {
	// Not ended by ctx itself: the program hears why the service ends.
	working, end := context.WithCancelCause(context.WithoutCancel(ctx))
	ready, done := make(chan struct{}, 1), make(chan error, 1)
	c.end, c.ready, c.done = end, ready, done
	c.enter(pending)
	host := Host{Changes: c.changes, Events: c.sink, Ready: func() {
		select {
		case ready <- struct{}{}:
		default:
		}
	}}
	go func() { done <- c.program(working, host) }()
}

// enter takes on a state and tells it.
func (c *controller) enter(s State) {
	c.now = status{state: s}
	if s.pending() {
		c.since = time.Now()
		c.now.checkPoint, c.now.waitHint = 1, progressHint
	}
	c.report(c.now)
}

// ask takes a request, and says whether the service is over.
func (c *controller) ask(ctx context.Context, r request) (over bool) {
	s := c.now.state
	switch {
	case r == sessionChange:
		select {
		case c.changes <- struct{}{}:
		default: // one is waiting to be heard already
		}
	case r == stop && s == Paused:
		c.event(EventStopped, "")
		return true
	case r == stop && s != StopPending:
		c.enter(StopPending)
		c.end(ErrStopped)
	case r == pause && s == Running:
		c.enter(PausePending)
		c.end(ErrPaused)
	case r == proceed && s == Paused:
		c.start(ctx, ContinuePending)
	default:
		c.report(c.now) // it changes nothing
	}
	return false
}

// runs takes that the program does its work.
func (c *controller) runs() {
	if c.now.state != StartPending && c.now.state != ContinuePending {
		return // it is on its way out again
	}
	id := EventStarted
	if c.began {
		id = EventContinued
	}
	c.began = true
	c.enter(Running)
	c.event(id, "")
}

// ended takes the end of the program, and says whether the service is over with it.
func (c *controller) ended(err error) (over bool, code uint32) {
	c.end(nil)
	c.done, c.ready = nil, nil
	switch {
	case c.now.state == StopPending && (err == nil || errors.Is(err, ErrStopped) || errors.Is(err, ErrPaused)):
		c.event(EventStopped, "")
		return true, 0
	case c.now.state == PausePending && (err == nil || errors.Is(err, ErrPaused)):
		c.enter(Paused)
		c.event(EventPaused, "")
		return false, 0
	case err == nil:
		err = errEndedByItself
	}
	event := eventOf(err)
	c.event(event, err.Error())
	if c.now.state == StopPending || c.now.state == PausePending {
		return true, 0
	}
	return true, event
}

var errEndedByItself = errors.New("it ended by itself")

// event writes an entry. There is nobody to tell of an event log that takes none.
func (c *controller) event(id uint32, detail string) {
	if c.sink != nil {
		e := eventByID(id)
		_ = c.sink.Write(id, e.Severity, e.text(e.Meaning, detail))
	}
}

// progress tells that a change of state goes on. It says whether the service is over
// since its program takes too long to end.
func (c *controller) progress() (over bool) {
	s := c.now.state
	if !s.pending() {
		return false
	}
	if lasted := time.Since(c.since); (s == StopPending || s == PausePending) && lasted >= c.endIn {
		c.event(EventTooSlow, fmt.Sprintf("%s for %v", s, lasted.Round(time.Second)))
		return true
	}
	c.now.checkPoint++
	c.report(c.now)
	return false
}
