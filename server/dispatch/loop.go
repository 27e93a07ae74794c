package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/replay"
)

// Journal is what a loop needs of the durable log.
type Journal interface {
	// Append makes all entries durable, or none, before it returns.
	Append(ctx context.Context, entries []replay.Entry) error
	// LiveOf returns the records of a machine's live replays, in the order of
	// their creation and then of their positions.
	LiveOf(ctx context.Context, machineID string) ([]replay.Record, error)
}

// Conn is the way out to one session. Nothing of it blocks.
type Conn interface {
	// Send queues an effect that concerns the session. A queue that is full ends
	// the session; what was lost is settled when it opens again.
	Send(Effect)
	// Close ends the session with an error that the agent is told.
	Close(error)
}

// Observer is told what happened, once it is durable: it logs and counts.
type Observer interface {
	Note(machineID string, n Note)
	// Changed is told of every change of a replay, and of progress, which has no
	// events.
	Changed(machineID string, v View)
	Appended(took time.Duration, err error)
	// InFlight is told when the number of a machine's actions in flight has changed.
	InFlight(machineID string, n int)
}

// What a loop cannot do, and what it ends a session for.
var (
	// ErrUnavailable says that the machine's state cannot be read from the
	// journal; nothing is decided until it can.
	ErrUnavailable = errors.New("the machine's journal cannot be read")
	// ErrStopped says that the server is going away.
	ErrStopped = errors.New("the server is going away")
	// ErrUnwritable says that the journal failed to take a write.
	ErrUnwritable = errors.New("the journal took no write")
	// ErrOldSession refuses what a session says that no longer holds the machine.
	ErrOldSession = errors.New("the session no longer holds the machine")
	// ErrDeaf ends the session of an agent that misses receipts one after the other.
	ErrDeaf = errors.New("the agent answers pings and takes no work")
)

// retryAfter is the pause after a failed write before the machine tries again.
const retryAfter = time.Second

// Loop is the one owner of a machine's state: a goroutine, a timer and an inbox
// round a Machine.
type Loop struct {
	machine  *Machine
	journal  Journal
	observer Observer
	log      *slog.Logger
	inbox    chan envelope
	done     chan struct{}   // closed when run has ended
	conns    map[string]Conn // by session id; only the loop uses it
	watchers watchers
	inFlight int       // what the observer was told last
	retryAt  time.Time // zero: no write has failed
	broken   bool      // the state must be read again before anything is decided
	failing  bool      // the last write failed
}

func newLoop(m *Machine, j Journal, o Observer, log *slog.Logger) *Loop {
	return &Loop{
		machine: m, journal: j, observer: o, log: log.With(logkeys.Machine, m.id),
		inbox: make(chan envelope, 256), done: make(chan struct{}), conns: map[string]Conn{}, watchers: watchers{},
	}
}

// run serves until ctx ends, and returns its cause.
func (l *Loop) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer l.refuseRest()
	defer close(l.done)
	defer l.watchers.closeAll(ErrStopped)
	for {
		timer.Reset(l.untilNext())
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-l.inbox:
			if ctx.Err() != nil {
				l.refuse(e, ErrStopped)
				return context.Cause(ctx)
			}
			l.receive(ctx, e)
		case <-timer.C:
			l.receive(ctx, envelope{in: Tick{}})
		}
	}
}

func (l *Loop) untilNext() time.Duration {
	at, ok := l.machine.Next()
	switch {
	case !l.retryAt.IsZero(): // a deadline that cannot be acted on must not spin
		return max(0, time.Until(l.retryAt))
	case !ok:
		return time.Hour
	}
	return max(0, time.Until(at))
}

func (l *Loop) handle(ctx context.Context, e envelope) {
	if open, ok := e.in.(Open); ok {
		l.conns[open.Session.ID] = e.conn
	}
	if closed, ok := e.in.(Closed); ok {
		delete(l.conns, closed.SessionID)
	}
	if !l.retryAt.IsZero() && !time.Now().Before(l.retryAt) {
		l.retryAt = time.Time{}
	}
	if l.broken && !l.refold(ctx) {
		l.refuse(e, ErrUnavailable)
		l.machine.Hear(time.Now(), e.in)
		return
	}
	if e.query != nil {
		e.query(l.machine, nil)
		return
	}
	out := l.machine.Step(time.Now(), e.in)
	if err := l.write(ctx, out.Entries); err != nil {
		l.log.Error("journal refused a write; the machine is read again", logkeys.Error, err)
		l.broken = true
		l.retryAt = time.Now().Add(retryAfter)
		l.fail(out, err)
		l.refold(ctx)
		return
	}
	for _, effect := range out.Effects {
		l.perform(effect)
	}
	l.tellInFlight()
}

// tellInFlight tells the observer when another number of actions is in flight.
func (l *Loop) tellInFlight() {
	if n := l.machine.pending.Len(); n != l.inFlight {
		l.inFlight = n
		l.observer.InFlight(l.machine.id, n)
	}
}

func (l *Loop) write(ctx context.Context, entries []replay.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	start := time.Now()
	err := l.journal.Append(ctx, entries)
	l.observer.Appended(time.Since(start), err)
	l.failing = err != nil
	return unwritable(err)
}

// unwritable marks what the journal's own trouble is, apart from what it refuses
// for a reason of ours.
func unwritable(err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{replay.ErrNoSpace, replay.ErrStale, replay.ErrRequestIDTaken} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrUnwritable, err)
}

// refold reads the machine's state from the journal again; it says whether that
// went well.
func (l *Loop) refold(ctx context.Context) bool {
	records, err := l.journal.LiveOf(ctx, l.machine.id)
	var live []*replay.Replay
	if err == nil {
		live, err = foldAll(records)
	}
	if err != nil {
		l.log.Error("the machine cannot be read from the journal", logkeys.Error, err)
		l.retryAt = time.Now().Add(retryAfter)
		return false
	}
	l.machine.now = time.Now()
	l.machine.Reset(live)
	l.broken = false
	return true
}

// foldAll folds the records of several replays, each one's in a row.
func foldAll(records []replay.Record) ([]*replay.Replay, error) {
	var live []*replay.Replay
	for _, rec := range records {
		if n := len(live); n == 0 || live[n-1].ID != rec.ReplayID {
			live = append(live, &replay.Replay{})
		}
		if err := live[len(live)-1].Apply(rec); err != nil {
			return nil, fmt.Errorf("fold the journal: %w", err)
		}
	}
	return live, nil
}

// fail answers those who wait for a step that was not written; nothing else of
// it leaves. An agent sends an unanswered report again.
func (l *Loop) fail(out Outcome, err error) {
	for _, effect := range out.Effects {
		switch effect := effect.(type) {
		case Answer:
			effect.Reply(Answer{Reply: effect.Reply, Replay: effect.Replay, Err: err})
		case Welcome:
			if c := l.conns[effect.SessionID]; c != nil {
				c.Close(err)
			}
		case Swept:
			effect.Done(Swept{})
		}
	}
}

func (l *Loop) perform(effect Effect) {
	switch effect := effect.(type) {
	case Answer:
		effect.Reply(effect)
	case Changed:
		l.observer.Changed(l.machine.id, effect.View)
		l.watchers.publish(effect.View)
	case Note:
		l.observer.Note(l.machine.id, effect)
	case Swept:
		effect.Done(effect)
	case Fault:
		l.log.Error("an event did not fit the replay's state; the machine is read again", logkeys.Error, effect.Err)
		l.broken = true
	case CloseSession:
		if c := l.conns[effect.SessionID]; c != nil {
			c.Close(ErrDeaf)
		}
	case Welcome:
		l.send(effect.SessionID, effect)
	case Deliver:
		faultpoint.Hit(faultpoint.DispatchJournaled, effect.Delivery.ActionID)
		l.send(effect.SessionID, effect)
	case Ack:
		faultpoint.Hit(faultpoint.ReportJournaled, effect.Ref.ActionID)
		l.send(effect.SessionID, effect)
	case ShowPause:
		l.send(effect.SessionID, effect)
	case EndPause:
		l.send(effect.SessionID, effect)
	case CancelAction:
		l.send(effect.SessionID, effect)
	}
}

func (l *Loop) send(sessionID string, effect Effect) {
	if c := l.conns[sessionID]; c != nil {
		c.Send(effect)
	}
}
