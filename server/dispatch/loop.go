package dispatch

import (
	"context"
	"errors"
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

// Loop is the one owner of a machine's state: a goroutine, a timer and an inbox
// round a Core.
type Loop struct {
	id       string // of the machine
	core     *Core
	journal  Journal
	observer Observer
	log      *slog.Logger
	inbox    chan envelope
	done     chan struct{}   // closed when run has ended
	conns    map[string]Conn // by session id; only the loop uses it
	watchers watchers
	inFlight int // what the observer was told last
}

func newLoop(m *Machine, j Journal, o Observer, log *slog.Logger) *Loop {
	return &Loop{
		id: m.id, core: NewCore(m), journal: j, observer: o, log: log.With(logkeys.Machine, m.id),
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
	at, ok := l.core.Next()
	if !ok {
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
	refused := l.carryOut(ctx, l.core.Take(time.Now(), e.in))
	if e.query != nil {
		if refused != nil {
			refused = ErrUnavailable // the log has the reason
		}
		e.query(l.core.Machine(), refused)
		return
	}
	l.tellInFlight()
}

// carryOut does what the core wants until it wants nothing more; it says why the
// input was refused.
func (l *Loop) carryOut(ctx context.Context, want Want) error {
	for {
		for _, effect := range want.Effects {
			l.perform(effect)
		}
		switch {
		case len(want.Append) > 0:
			want = l.core.Appended(time.Now(), l.write(ctx, want.Append))
		case want.Read:
			want = l.read(ctx)
		default:
			return want.Refused
		}
	}
}

// tellInFlight tells the observer when another number of actions is in flight.
func (l *Loop) tellInFlight() {
	if n := l.core.Machine().pending.Len(); n != l.inFlight {
		l.inFlight = n
		l.observer.InFlight(l.id, n)
	}
}

func (l *Loop) write(ctx context.Context, entries []replay.Entry) error {
	l.hitDecided(entries)
	start := time.Now()
	err := l.journal.Append(ctx, entries)
	l.observer.Appended(time.Since(start), err)
	if err != nil {
		l.log.Error("journal refused a write; the machine is read again", logkeys.Error, unwritable(err))
	}
	return err
}

func (l *Loop) read(ctx context.Context) Want {
	records, err := l.journal.LiveOf(ctx, l.id)
	want := l.core.Recalled(time.Now(), records, err)
	if want.Refused != nil {
		l.log.Error("the machine cannot be read from the journal", logkeys.Error, want.Refused)
	}
	return want
}

// hitDecided comes to the fault points of what is decided and not durable.
func (l *Loop) hitDecided(entries []replay.Entry) {
	if !faultpoint.Enabled {
		return
	}
	for _, e := range entries {
		for _, ev := range e.Record.Events {
			switch ev := ev.(type) {
			case replay.Dispatched:
				faultpoint.Hit(faultpoint.DispatchDecided, ev.ActionID)
			case replay.Reported:
				faultpoint.Hit(faultpoint.ReportDecided, ev.ActionID)
			}
		}
	}
}

func (l *Loop) perform(effect Effect) {
	switch effect := effect.(type) {
	case Answer:
		effect.Reply(effect)
	case Changed:
		l.observer.Changed(l.id, effect.View)
		l.watchers.publish(effect.View)
	case Note:
		l.observer.Note(l.id, effect)
	case Swept:
		effect.Done(effect)
	case Fault:
		l.log.Error("an event did not fit the replay's state; the machine is read again", logkeys.Error, effect.Err)
	case CloseSession:
		if c := l.conns[effect.SessionID]; c != nil {
			c.Close(effect.Why)
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
