package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// ErrStopped says that the runner has ended.
var ErrStopped = errors.New("runner: stopped")

// Executor performs one action at a time.
type Executor interface {
	// Execute performs the job and says how it came out; every fault is an
	// outcome. It stops at the next safe point when ctx ends, whose cause is
	// work.ErrInterrupted, work.ErrTimedOut or work.ErrPerson, and leaves no key or button down.
	Execute(ctx context.Context, job work.Job) work.Outcome
}

// Stream is an open stream. Its methods but Vouch never block; what it can't send it
// drops and ends.
type Stream interface {
	// Vouch returns nil once the server vouches on this stream for an action that
	// begins now, ctx's cause when that ends first, and an error when the stream has
	// ended. Every event that the server said before it vouched has been handed over.
	Vouch(ctx context.Context) error
	SendReport(work.Report)
	SendProgress(work.Progress)
	SendPerson(wish work.PersonWish, replayID string)
	// Reopen ends the stream, so that a new one is opened.
	Reopen(reason string)
}

// Shower shows pauses to the person at the machine. Its methods must not block.
type Shower interface {
	Show(work.Pause)
	Hide(replayID, pauseID string)
}

// Config sets up a runner.
type Config struct {
	Spool    *spool.Spool // required; the caller closes it
	Executor Executor     // required
	// Release lets go of every key and button that is down, whoever pressed it; its
	// context ends after 5 s. It is never called twice at a time, and not while a job may
	// send input. When the process ends, one that does not return is left behind.
	Release func(context.Context) error // required
	BootID  string                      // this process
	Keep    int                         // actions remembered; 0 means spool.DefaultKeep
	Shower  Shower                      // nil shows nothing
	// GoOn takes back the person's stop at the desktop; nil: there is nobody who stops it.
	GoOn func(context.Context) error
	Log  *slog.Logger // nil discards
}

// Runner carries out what Core decides.
type Runner struct {
	cfg   Config
	log   *slog.Logger
	inbox chan item
	done  chan struct{} // closed when Run ends

	impaired atomic.Pointer[error] // Core.Impaired after the last event; nil: never was
}

// item is what comes to the loop: an event, with the stream that an Opened
// brings, or the question for an opening or for the open stream.
type item struct {
	event   Event
	stream  Stream
	opening chan<- work.Opening
	current chan<- Stream
}

// New returns a runner; Run makes it work.
func New(cfg Config) *Runner {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Runner{cfg: cfg, log: log, inbox: make(chan item), done: make(chan struct{})}
}

// Open says that a stream is open and the server has taken the opening.
func (r *Runner) Open(ctx context.Context, stream Stream, e Opened) error {
	return r.post(ctx, item{event: e, stream: stream})
}

// Handle takes in what the stream brings, or Lost. It does not wait for what
// follows from it.
func (r *Runner) Handle(ctx context.Context, e Event) error {
	return r.post(ctx, item{event: e})
}

// Opening returns what the agent says when it opens a stream.
func (r *Runner) Opening(ctx context.Context) (work.Opening, error) {
	answer := make(chan work.Opening, 1)
	if err := r.post(ctx, item{opening: answer}); err != nil {
		return work.Opening{}, err
	}
	return <-answer, nil
}

// Impaired returns why the spool can't be written, and nil when it can. While it
// can't, no action is executed: what is asked for is refused as
// work.DesktopUnavailable, which spends nothing at the server. It is known
// before the report that says so is sent.
func (r *Runner) Impaired() error {
	if why := r.impaired.Load(); why != nil {
		return *why
	}
	return nil
}

func (r *Runner) post(ctx context.Context, it item) error {
	select {
	case r.inbox <- it:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.done:
		return ErrStopped
	}
}

// Run works until ctx ends; then the action in flight gets a moment to come to
// its end, what is known is on the disk, and every key is let go of. It returns
// ctx's cause. It is called once.
func (r *Runner) Run(ctx context.Context) error {
	l := &loop{
		Runner: r,
		ctx:    context.WithoutCancel(ctx),
		core:   NewCore(r.cfg.Spool.Memory(), r.cfg.Keep),
		writes: make(chan Effect),
		wrote:  make(chan Event, 1),
	}
	l.step(Starting{Crashed: r.cfg.Spool.LastExit() != "", Fresh: r.cfg.Spool.Fresh(), Broken: r.cfg.Spool.Broken()})
	var disk sync.WaitGroup
	disk.Go(func() { l.serveDisk() })
	l.run(ctx)
	close(l.writes)
	disk.Wait()
	close(r.done)
	return context.Cause(ctx)
}

// loop is the state of Run.
type loop struct {
	*Runner
	ctx     context.Context // outlives Run's, so that the end is orderly
	core    *Core
	stream  Stream
	stopJob context.CancelCauseFunc // of the job that was started last
	backlog []Effect                // Write and Mend that the disk has not taken
	writes  chan Effect
	wrote   chan Event    // one for each of writes
	busy    bool          // the disk has one of writes
	lifted  chan struct{} // closed when the last call of GoOn is over; nil: there was none
}

func (l *loop) run(ctx context.Context) {
	stop := ctx.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !l.core.Ended() || l.busy || len(l.backlog) > 0 {
		wake := l.reset(timer)
		var next chan<- Effect
		var first Effect
		if len(l.backlog) > 0 && !l.busy {
			next, first = l.writes, l.backlog[0]
		}
		select {
		case <-stop:
			stop = nil
			l.step(Stopping{})
		case it := <-l.inbox:
			l.take(it)
		case next <- first:
			l.backlog, l.busy = l.backlog[1:], true
		case e := <-l.wrote:
			l.busy = false
			if e != nil {
				l.step(e)
			}
		case <-wake:
			l.step(Due{})
		}
	}
}

// reset sets the timer to the core's next deadline; nil means there is none.
func (l *loop) reset(timer *time.Timer) <-chan time.Time {
	next := l.core.Next()
	if next.IsZero() {
		return nil
	}
	timer.Reset(time.Until(next))
	return timer.C
}

func (l *loop) take(it item) {
	switch {
	case it.current != nil:
		it.current <- l.stream
		return
	case it.opening != nil:
		o := l.core.Hail()
		o.SpoolID, o.BootID, o.LastExit = l.cfg.Spool.ID(), l.cfg.BootID, l.cfg.Spool.LastExit()
		it.opening <- o
		return
	}
	switch it.event.(type) {
	case Opened:
		l.stream = it.stream
	case Lost:
		l.stream = nil
	}
	l.step(it.event)
}

func (l *loop) step(e Event) {
	effects := l.core.Step(time.Now(), e)
	l.noteImpaired()
	for _, effect := range effects {
		l.carryOut(effect)
	}
}

// noteImpaired tells and shows that the spool can't be written any more, or
// again.
func (l *loop) noteImpaired() {
	before, now := l.Impaired(), l.core.Impaired()
	l.impaired.Store(&now)
	switch {
	case before == nil && now != nil:
		l.log.Error("the spool can't be written; nothing is executed until it can", logkeys.Error, now)
	case before != nil && now == nil:
		l.log.Info("the spool is writable again")
	}
}

func (l *loop) carryOut(effect Effect) {
	switch e := effect.(type) {
	case Release:
		go func() { l.tell(Released{l.release(e)}) }()
	case GiveUp:
		l.log.Error("keys and buttons were not let go of", logkeys.Reason, "the agent ends", logkeys.Error, errSlowRelease)
	case Execute:
		l.execute(e)
	case Stop:
		l.log.Info("stopping the action", logkeys.Reason, e.Cause)
		l.stopJob(e.Cause)
	case Write, Mend:
		l.backlog = append(l.backlog, e)
	case SendReport:
		if l.stream != nil {
			l.stream.SendReport(e.Report)
		}
	case SendProgress:
		if l.stream != nil {
			l.stream.SendProgress(e.Progress)
		}
	case SendPerson:
		l.log.Info("the person at the machine asks", logkeys.Reason, e.Wish, logkeys.Detail, e.By, logkeys.Replay, e.ReplayID)
		if l.stream != nil {
			l.stream.SendPerson(e.Wish, e.ReplayID)
		}
	case GoOn:
		l.goOn()
	case Reopen:
		l.log.Info("reopening the stream", logkeys.Reason, e.Reason)
		if l.stream != nil {
			l.stream.Reopen(e.Reason)
		}
	case Show:
		l.log.Info("the replay is paused", logkeys.Replay, e.ReplayID, logkeys.Pause, e.PauseID, logkeys.Reason, e.Reason)
		if l.cfg.Shower != nil {
			l.cfg.Shower.Show(e.Pause)
		}
	case Hide:
		l.log.Info("the pause is over", logkeys.Replay, e.ReplayID, logkeys.Pause, e.PauseID)
		if l.cfg.Shower != nil {
			l.cfg.Shower.Hide(e.ReplayID, e.PauseID)
		}
	default:
		panic(fmt.Sprintf("runner: no such effect: %T", effect))
	}
}
