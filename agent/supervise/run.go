package supervise

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// pollEvery is how often the sessions are looked at when nobody tells of a change: not
// every change is told of, and not on every Windows.
const pollEvery = time.Second

// ErrNotEnded says that a helper's process is still there after it was killed. It is
// in a job that ends with this process.
var ErrNotEnded = errors.New("supervise: the helper has not ended although it was killed")

// Run keeps a helper in the right session until ctx ends. It then ends the helper in
// order, and returns the cause of ctx. It is called once.
func (s *Supervisor) Run(ctx context.Context) error {
	r := &run{
		Supervisor: s, core: core{who: s.who, backoff: s.cfg.Backoff},
		steps: make(chan step), ends: make(chan ending, 1),
	}
	changed := s.cfg.Changed
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), r.stop())
		case <-timer.C:
			r.look()
		case _, open := <-changed:
			if !open {
				changed = nil
			}
			r.look()
		case at := <-r.steps:
			r.stepped(at)
		case end := <-r.ends:
			r.over(end)
		}
		timer.Reset(r.carryOut(ctx))
	}
}

// run is the state of one Run; its goroutine alone touches it.
type run struct {
	*Supervisor
	core  core
	end   context.CancelCauseFunc // tells the helper to end; nil: there is none
	steps chan step               // how far the helper has come
	ends  chan ending             // the helper has ended

	blind  string // what was last logged of sessions that can't be listed
	unseen string // and of those that can't be asked
}

func (r *run) look() {
	sessions, err := r.cfg.Machine.Sessions()
	blind := ""
	if err != nil {
		blind = err.Error()
	} else {
		r.once(&r.unseen, "not all sessions can be asked who is logged on", unseen(sessions))
	}
	r.once(&r.blind, "the sessions cannot be listed", blind)
	r.core.saw(sessions, err)
}

// once logs why something fails, unless it is what was logged last. Empty: it does not.
func (r *run) once(last *string, what, why string) {
	if why != "" && why != *last {
		r.cfg.Log.Warn(what, logkeys.Error, why)
	}
	*last = why
}

// carryOut does what the core orders, and returns how long nothing is to be done
// unless something happens.
func (r *run) carryOut(ctx context.Context) time.Duration {
	now := time.Now()
	o := r.core.decide(now)
	if o.tell != nil {
		r.cfg.Desk.Absent(*o.tell)
		if o.tell.Kind == desktop.NoUser {
			r.cfg.Log.Info("no user's session to be in", logkeys.State, o.tell.Kind.String(), logkeys.Detail, o.tell.Detail)
		}
	}
	if o.leave {
		r.end(errLeave)
	}
	if o.start != nil {
		// Not ended by ctx itself: the desk is told first.
		life, end := context.WithCancelCause(context.WithoutCancel(ctx))
		r.end = end
		go func() { r.ends <- r.live(life, o.start.ID, r.steps) }()
	}
	if !o.wake.IsZero() {
		return min(pollEvery, max(0, o.wake.Sub(now)))
	}
	return pollEvery
}

// stop ends the helper, if there is one.
func (r *run) stop() error {
	if r.end == nil {
		return nil
	}
	ending := desktop.State{Kind: desktop.AgentImpaired, Detail: "the agent is ending"}
	if r.core.taking {
		defer r.cfg.Desk.Absent(ending)
	} else {
		r.cfg.Desk.Absent(ending)
	}
	r.core.leave()
	r.end(errLeave)
	patience := time.NewTimer(2 * r.cfg.EndWithin)
	defer patience.Stop()
	select {
	case end := <-r.ends:
		r.over(end)
		return nil
	case <-patience.C:
		return ErrNotEnded
	}
}

// stepped takes how far the helper has come.
func (r *run) stepped(at step) {
	switch at {
	case called:
		r.core.called()
	case serves:
		if r.core.up(time.Now()) {
			r.say(r.cfg.Log.Info, r.core.failures+1, "the helper serves the desktop", logkeys.Detail, r.core.home.String())
		}
	case broke:
		r.core.broke(errBroke.Error())
	}
}

// over takes the end of the helper.
func (r *run) over(end ending) {
	r.end(errLeave)
	r.end = nil
	home := r.core.home.String()
	failures, wait := r.core.ended(time.Now(), end.why(), r.random())
	if failures == 0 {
		r.cfg.Log.Info("the helper has left", logkeys.Detail, home, logkeys.Reason, end.why())
		return
	}
	attrs := []any{logkeys.Detail, home, logkeys.Reason, end.why(), logkeys.Count, failures, logkeys.After, wait}
	if end.exit.Said != "" {
		attrs = append(attrs, logkeys.Stack, end.exit.Said)
	}
	r.say(r.cfg.Log.Warn, failures, "the helper ended", attrs...)
}

// say logs the n-th of the same in a row, or keeps it for those who debug: the first
// three are worth a line, and then each one that doubles their number.
func (r *run) say(log func(string, ...any), n int, message string, attrs ...any) {
	if n > 3 && n&(n-1) != 0 {
		log = r.cfg.Log.Debug
	}
	log(message, attrs...)
}
