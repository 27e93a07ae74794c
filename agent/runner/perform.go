package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// execute starts the executor; Finished follows.
func (l *loop) execute(e Execute) {
	d := e.Dispatch
	l.log.Info("executing", logkeys.Replay, d.ReplayID, logkeys.Action, d.ActionID,
		logkeys.Attempt, d.AttemptID, logkeys.Kind, d.Action.Kind)
	ctx, stop := context.WithCancelCause(l.ctx)
	l.stopJob = stop
	begin := sync.OnceValue(func() error { return l.begin(ctx, d) })
	job := work.Job{
		Dispatch: d, Settings: e.Settings, Begin: begin,
		Doing: func(text string) { l.tell(Doing{d.ActionID, text}) },
	}
	go func() {
		defer stop(nil)
		l.tell(Finished{d.ActionID, l.perform(ctx, job)})
	}()
}

// tell brings an event of the executor to the loop, which takes it unless it
// has ended.
func (l *loop) tell(e Event) { _ = l.post(l.ctx, item{event: e}) }

// begin puts "started" on the disk. Whoever stops the job meanwhile wins: then
// no input leaves.
func (l *loop) begin(ctx context.Context, d work.Dispatch) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := l.cfg.Spool.Append(spool.Record{Type: spool.TypeStarted, Ref: d.Ref, SessionID: d.SessionID, Safe: d.Safe, Masks: d.Action.Masks})
	if err != nil {
		l.tell(SpoolFailed{err})
		return err
	}
	l.touched.Store(true)
	faultpoint.Hit(faultpoint.AgentStarted, d.ActionID)
	l.tell(Began{d.ActionID})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// perform runs the executor. A panic in it is an outcome as well.
func (l *loop) perform(ctx context.Context, job work.Job) (outcome work.Outcome) {
	began := false
	begin := job.Begin
	job.Begin = func() error {
		err := begin()
		began = began || err == nil
		return err
	}
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		l.log.Error("the executor panicked", logkeys.Action, job.ActionID, logkeys.Error, fmt.Sprint(p), logkeys.Stack, string(debug.Stack()))
		l.release("the executor panicked")
		completion := work.NotStarted
		if began {
			completion = work.Unknown
		}
		outcome = work.Failure(work.Internal, completion, "the agent's executor panicked")
	}()
	if l.held.Load() {
		l.release("it failed before")
	}
	return l.cfg.Executor.Execute(ctx, job)
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
		err := l.cfg.Spool.Append(e.Record)
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
		faultpoint.Hit(faultpoint.AgentResultStored, r.ActionID)
	}
}
