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
	Appended(took time.Duration, err error)
}

// What a loop cannot do, and what it ends a session for.
var (
	// ErrUnavailable says that the machine's state cannot be read from the
	// journal; nothing is decided until it can.
	ErrUnavailable = errors.New("the machine's journal cannot be read")
	// ErrStopped says that the server is going away.
	ErrStopped = errors.New("the server is going away")
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
	retryAt  time.Time // zero: no write has failed
	broken   bool      // the state must be read again before anything is decided
}

type envelope struct {
	in    Input
	conn  Conn           // of an Open
	query func(*Machine) // instead of in
}

func newLoop(m *Machine, j Journal, o Observer, log *slog.Logger) *Loop {
	return &Loop{
		machine: m, journal: j, observer: o, log: log.With(logkeys.Machine, m.id),
		inbox: make(chan envelope, 256), done: make(chan struct{}), conns: map[string]Conn{}, watchers: watchers{},
	}
}

// Post hands an input to the loop and returns once it is in the inbox.
func (l *Loop) Post(ctx context.Context, in Input) error { return l.post(ctx, envelope{in: in}) }

// Open hands an opened session to the loop.
func (l *Loop) Open(ctx context.Context, in Open, conn Conn) error {
	return l.post(ctx, envelope{in: in, conn: conn})
}

// TryPost hands an input to the loop unless its inbox is full: for progress,
// which may be dropped.
func (l *Loop) TryPost(in Input) bool {
	select {
	case l.inbox <- envelope{in: in}:
		return true
	default:
		return false
	}
}

func (l *Loop) post(ctx context.Context, e envelope) error {
	select {
	case l.inbox <- e:
		return nil
	case <-l.done:
		return ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Do runs f in the loop, on the machine as it is, and waits for it.
func (l *Loop) Do(ctx context.Context, f func(*Machine)) error {
	done := make(chan struct{})
	if err := l.post(ctx, envelope{query: func(m *Machine) { f(m); close(done) }}); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-l.done:
		return ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run serves until ctx ends, and returns its cause.
func (l *Loop) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer close(l.done)
	defer l.watchers.closeAll(ErrStopped)
	for {
		timer.Reset(l.untilNext())
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-l.inbox:
			l.handle(ctx, e)
		case <-timer.C:
			l.drainInbox(ctx)
			l.handle(ctx, envelope{in: Tick{}})
		}
	}
}

// drainInbox handles what has come in before a deadline is acted on: a report
// that waits in the inbox is not late.
func (l *Loop) drainInbox(ctx context.Context) {
	for range len(l.inbox) {
		l.handle(ctx, <-l.inbox)
	}
}

func (l *Loop) untilNext() time.Duration {
	at, ok := l.machine.Next()
	if !l.retryAt.IsZero() && (!ok || l.retryAt.Before(at)) || l.broken {
		at, ok = l.retryAt, true
	}
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
	if !l.retryAt.IsZero() && !time.Now().Before(l.retryAt) {
		l.retryAt = time.Time{}
	}
	if l.broken && !l.refold(ctx) {
		l.fail(Outcome{Effects: refusal(e.in)}, ErrUnavailable)
		if closed, ok := e.in.(Closed); ok {
			l.machine.closed(closed)
		}
		return
	}
	if e.query != nil {
		e.query(l.machine)
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
}

func (l *Loop) write(ctx context.Context, entries []replay.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	start := time.Now()
	err := l.journal.Append(ctx, entries)
	l.observer.Appended(time.Since(start), err)
	return err
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
			effect.Err = err
			effect.Reply(effect)
		case Welcome:
			if c := l.conns[effect.SessionID]; c != nil {
				c.Close(err)
			}
		case Swept:
			effect.Done(Swept{})
		}
	}
}

// refusal returns what an input would have been answered with.
func refusal(in Input) []Effect {
	switch in := in.(type) {
	case Submit:
		return []Effect{Answer{Reply: in.Reply, Replay: in.ReplayID}}
	case Command:
		return []Effect{Answer{Reply: in.Reply, Replay: in.ReplayID}}
	case Open:
		return []Effect{Welcome{SessionID: in.Session.ID}}
	case Sweep:
		return []Effect{Swept{Done: in.Done}}
	}
	return nil
}

func (l *Loop) perform(effect Effect) {
	switch effect := effect.(type) {
	case Answer:
		effect.Reply(effect)
	case Changed:
		l.watchers.publish(effect.View)
	case Note:
		l.observer.Note(l.machine.id, effect)
	case Swept:
		effect.Done(effect)
	case Fault:
		l.log.Error("an event did not fit the replay's state", logkeys.Error, effect.Err)
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
