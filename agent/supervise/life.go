package supervise

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Why the life of a helper ended.
var (
	errLate  = errors.New("it did not connect in time")
	errLeave = errors.New("it was told to end")
	errBroke = errors.New("its connection broke")
)

// step is how far a helper has come.
type step int

const (
	called step = iota // the connection is there and about to be given to the desk
	serves             // the desk has taken it
	broke              // the connection is over; the process may still be there
)

// ending is how the life of one helper ended.
type ending struct {
	exit   Exit
	ran    bool  // there was a process
	killed bool  // it did not end by itself in time
	err    error // what went wrong before its end; nil: nothing, or it ended first
}

// why says for people how it ended.
func (e ending) why() string {
	switch {
	case !e.ran:
		return e.err.Error()
	case e.killed && e.err != nil:
		return e.err.Error() + ", and was killed"
	case e.killed:
		return "it did not end in time and was killed"
	case e.err != nil:
		return e.err.Error() + ", " + e.exit.String()
	}
	return e.exit.String()
}

// life is one helper from its start to its end.
type life struct {
	*Supervisor
	process Process
	gone    chan struct{} // closed when the process has ended
	exit    Exit          // once gone is closed
}

// live starts a helper in a session, connects it, and returns when its process has
// ended: by itself, or because ctx did or its connection broke. It says each step, and
// goes on when it has been heard.
func (s *Supervisor) live(ctx context.Context, session uint32, steps chan<- step) ending {
	secret := make([]byte, SecretSize)
	_, _ = rand.Read(secret) // never fails
	process, err := s.cfg.Machine.Start(session, secret)
	if err != nil {
		return ending{err: fmt.Errorf("it cannot be started: %w", err)}
	}
	l := &life{Supervisor: s, process: process, gone: make(chan struct{})}
	go func() {
		defer close(l.gone)
		l.exit = process.Wait()
	}()
	conn, err := l.connect(ctx, secret, steps)
	if err == nil {
		err = l.serve(ctx, conn, steps)
	}
	return l.finish(conn, err)
}

// connect waits for the helper's call and gives the connection to the desk. The
// connection that it returns is open also when there is an error, or nil.
func (l *life) connect(ctx context.Context, secret []byte, steps chan<- step) (*watched, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.cfg.StartWithin, errLate)
	defer cancel()
	ctx, ended := context.WithCancelCause(ctx)
	defer ended(nil)
	unhook := make(chan struct{})
	defer close(unhook)
	go func() {
		select {
		case <-l.gone:
			ended(errors.New("it ended before it was connected"))
		case <-unhook:
		}
	}()
	raw, err := l.process.Accept(ctx)
	if err != nil {
		return nil, reason(ctx, fmt.Errorf("it did not call: %w", err))
	}
	conn := watch(raw)
	if !tell(ctx, steps, called) {
		return conn, reason(ctx, nil)
	}
	if err := l.cfg.Desk.Connect(ctx, conn, secret); err != nil {
		return conn, reason(ctx, fmt.Errorf("it cannot be connected: %w", err))
	}
	return conn, nil
}

// reason is the cause of ctx where that has ended, for err is what followed from it.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// serve waits for the end of what the helper is there for.
func (l *life) serve(ctx context.Context, conn *watched, steps chan<- step) error {
	tell(ctx, steps, serves)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.gone:
		return nil
	case <-conn.over: // as when the process ends, a moment later
		tell(ctx, steps, broke)
		return errBroke
	}
}

// finish ends the helper in order: its connection is closed, at which it lets go of
// what it holds down and ends. One that does not is killed, and so is at once one that
// never had a connection. It returns when the process is gone.
func (l *life) finish(conn *watched, err error) ending {
	e := ending{ran: true, err: err}
	if conn != nil {
		_ = conn.Close() // it may be closed already
		patience := time.NewTimer(l.cfg.EndWithin)
		defer patience.Stop()
		select {
		case <-l.gone:
		case <-patience.C:
		}
	}
	select {
	case <-l.gone:
	default:
		e.killed = true
		if err := l.process.Kill(); err != nil {
			l.cfg.Log.Error("the helper cannot be killed", logkeys.Error, err)
		}
		<-l.gone
	}
	e.exit = l.exit
	return e
}

// tell says a step, unless ctx ends first.
func tell(ctx context.Context, steps chan<- step, at step) bool {
	select {
	case steps <- at:
		return true
	case <-ctx.Done():
		return false
	}
}
