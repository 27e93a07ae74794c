package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// execute starts the executor; Finished or Panicked follows.
func (l *loop) execute(e Execute) {
	d := e.Dispatch
	l.log.Info("executing", logkeys.Replay, d.ReplayID, logkeys.Action, d.ActionID,
		logkeys.Attempt, d.AttemptID, logkeys.Kind, d.Action.Kind)
	ctx, stop := context.WithCancelCause(l.ctx)
	l.stopJob = stop
	job := work.Job{
		Dispatch: d, Settings: e.Settings, Begin: l.beginning(ctx, d),
		Doing: func(text string) { l.tell(Doing{d.ActionID, text}) },
	}
	lifted := l.lifted
	go func() {
		defer stop(nil)
		if lifted != nil {
			<-lifted
		}
		l.tell(l.perform(ctx, job))
	}()
}

// goOn takes back the person's stop at the desktop; what is executed next waits for it.
func (l *loop) goOn() {
	if l.cfg.GoOn == nil {
		return
	}
	before, lifted := l.lifted, make(chan struct{})
	l.lifted = lifted
	go func() {
		defer close(lifted)
		if before != nil {
			<-before
		}
		if err := l.guarded(func() error { return l.cfg.GoOn(l.ctx) }); err != nil {
			l.log.Warn("the person's stop was not taken back at the desktop", logkeys.Error, err)
		}
	}()
}

// tell brings an event of the executor to the loop, which takes it unless it
// has ended.
func (l *loop) tell(e Event) { _ = l.post(l.ctx, item{event: e}) }

// beginning returns what a job calls before input leaves: the first call begins the
// action, the others ask the server alone.
func (l *loop) beginning(ctx context.Context, d work.Dispatch) func() error {
	begun := false
	return func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if begun {
			return l.vouched(ctx, d)
		}
		err := l.begin(ctx, d)
		begun = err == nil
		return err
	}
}

// begin puts "started" on the disk, if the server vouches for the action: looking for
// its target may have taken long, and the process may have stood still in it. It may
// have done so in the write as well, so the server is asked once more behind that; most
// often its last answer is fresh. Whoever stops the job meanwhile wins: then no input
// leaves.
func (l *loop) begin(ctx context.Context, d work.Dispatch) error {
	faultpoint.Hit(faultpoint.AgentBegins, d.ActionID)
	if err := l.vouched(ctx, d); err != nil {
		return err
	}
	err := l.cfg.Spool.Append(spool.Record{Type: spool.TypeStarted, Ref: d.Ref, SessionID: d.SessionID, Safe: d.Safe, Masks: d.Action.Masks})
	if err != nil {
		l.tell(SpoolFailed{err})
		return fmt.Errorf("the agent cannot keep its journal: %w", err)
	}
	l.tell(Began{d.ActionID})
	if err := l.vouched(ctx, d); err != nil {
		return err
	}
	faultpoint.Hit(faultpoint.AgentStarted, d.ActionID)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// errNoStream says that there is nobody to vouch for an action.
var errNoStream = errors.New("there is no stream to the server, which would have to vouch for the action")

// vouched fails unless the server vouches for d now.
func (l *loop) vouched(ctx context.Context, d work.Dispatch) error {
	err := errNoStream
	if stream := l.current(); stream != nil {
		err = stream.Vouch(ctx)
	}
	l.current() // behind what the server said before its answer: a cancel has ended ctx
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		l.log.Info("not begun, until the server vouches for it", logkeys.Action, d.ActionID, logkeys.Attempt, d.AttemptID, logkeys.Error, err)
	}
	return err
}

// current returns the open stream, once the loop has dealt with all that came to it
// before; nil: there is none.
func (l *loop) current() Stream {
	answer := make(chan Stream, 1)
	if l.post(l.ctx, item{current: answer}) != nil {
		return nil
	}
	return <-answer
}

// perform runs the executor. A panic in it ends the job, and not the process.
func (l *loop) perform(ctx context.Context, job work.Job) (ended Event) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("the executor panicked", logkeys.Action, job.ActionID, logkeys.Error, fmt.Sprint(p), logkeys.Stack, string(debug.Stack()))
			ended = Panicked{job.ActionID}
		}
	}()
	return Finished{job.ActionID, l.cfg.Executor.Execute(ctx, job)}
}

// errSlowRelease says that letting go took too long.
var errSlowRelease = fmt.Errorf("the desktop did not let go within %v", releaseTime)

// errPanic says that the desktop's driver panicked.
var errPanic = errors.New("the desktop's driver panicked")

// guarded makes an error of a panic: what is done beside the executor must not end the
// process either.
func (l *loop) guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("the desktop's driver panicked", logkeys.Error, fmt.Sprint(p), logkeys.Stack, string(debug.Stack()))
			err = errPanic
		}
	}()
	return do()
}

// release lets go of every key, or returns why not. A desktop that was never there
// can't be let go of; that is no fault while nothing was pressed. A failure is told once,
// until it is over.
func (l *loop) release(e Release) error {
	ctx, stop := context.WithTimeoutCause(l.ctx, releaseTime, errSlowRelease)
	defer stop()
	err := l.guarded(func() error { return l.cfg.Release(ctx) })
	log := l.log.With(logkeys.Reason, e.Why)
	switch {
	case err == nil && e.Again:
		log.Info("keys and buttons are let go of")
	case err == nil:
	case e.Again:
		log.Debug("keys and buttons are still not let go of", logkeys.Error, err)
	case e.Pressed:
		log.Error("keys and buttons were not let go of", logkeys.Error, err)
	default:
		log.Info("nothing was pressed, and nothing could be let go of", logkeys.Error, err)
	}
	return err
}

// serveDisk carries out writes, one after the other, and says of each that it
// is done.
func (l *loop) serveDisk() {
	for effect := range l.writes {
		l.wrote <- l.writeDisk(effect)
	}
}

// writeDisk returns the event that follows from the write; nil is none.
func (l *loop) writeDisk(effect Effect) Event {
	switch e := effect.(type) {
	case Mend:
		if err := l.cfg.Spool.Rewrite(e.Memory); err != nil {
			l.log.Debug("the spool is still not writable", logkeys.Error, err)
			return nil
		}
		return SpoolMended{}
	case Write:
		hit(pointsBefore, e.Record)
		err := l.cfg.Spool.Append(e.Record)
		if err == nil {
			hit(pointsAfter, e.Record)
		}
		if err != nil && !errors.Is(err, spool.ErrBroken) {
			err = fmt.Errorf("write to the spool: %w", err)
		}
		l.logWrite(e.Record, err)
		switch {
		case e.Await:
			return Stored{e.Record.ActionID, err}
		case err != nil:
			return SpoolFailed{err}
		}
	}
	return nil
}

func (l *loop) logWrite(r spool.Record, err error) {
	switch {
	case err != nil:
		l.log.Warn("not on the disk yet", logkeys.Action, r.ActionID, "record", r.Type, logkeys.Error, err)
	case r.Type == spool.TypeResult:
		l.log.Info("finished", logkeys.Replay, r.ReplayID, logkeys.Action, r.ActionID, logkeys.Attempt, r.AttemptID,
			logkeys.Code, r.Outcome.Code, "completion", r.Outcome.Completion, "effect", r.Outcome.Effect)
	}
}

// The points round the append of a record, by its type.
var (
	pointsBefore = map[spool.Type]string{spool.TypeResult: faultpoint.AgentResultReady, spool.TypeAcknowledged: faultpoint.AgentAcknowledged}
	pointsAfter  = map[spool.Type]string{spool.TypeResult: faultpoint.AgentResultStored, spool.TypeAcknowledged: faultpoint.AgentForgot}
)

func hit(points map[spool.Type]string, r spool.Record) {
	if !faultpoint.Enabled {
		return
	}
	if name, ok := points[r.Type]; ok {
		faultpoint.Hit(name, r.ActionID)
	}
}
