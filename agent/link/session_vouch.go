package link

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// errUnvouched says that the stream ended, or had ended, when the server was asked.
var errUnvouched = errors.New("the stream ended, and the server does not vouch for the action")

// Vouch returns nil once the server vouches on this stream for what is to begin now: at
// once, if it has answered something that was said a moment ago; else when it has
// answered a ping. It returns ctx's cause when that ends first, and an error when the
// stream has ended. One action at a time asks.
func (s *session) Vouch(ctx context.Context) error {
	vouched, ping := s.begins(time.Now())
	if ping != 0 {
		s.ping(ping)
	}
	select {
	case <-vouched:
	case <-s.over:
	case <-ctx.Done():
		s.withLease((*Lease).Stopped)
		return context.Cause(ctx)
	}
	select {
	case <-s.over:
		return errUnvouched
	default:
		return nil
	}
}

// begins returns what is closed once an action may begin, and the ping to be sent.
func (s *session) begins(now time.Time) (vouched <-chan struct{}, ping uint64) {
	s.leaseMu.Lock()
	defer s.leaseMu.Unlock()
	s.vouched = make(chan struct{})
	ok, ping := s.lease.Begins(now)
	if ok {
		close(s.vouched)
	}
	return s.vouched, ping
}

// withLease lets do decide; what is to be sent because of it is sent afterwards.
func (s *session) withLease(do func(*Lease)) {
	s.leaseMu.Lock()
	defer s.leaseMu.Unlock()
	do(&s.lease)
}

// dispatch takes a dispatch, or lets it wait until the server vouches for it.
func (s *session) dispatch(ctx context.Context, d *reprisev1.Dispatch) error {
	if !answerable(d) {
		s.log.Error("a dispatch without proper ids was skipped; it can't be answered")
		return nil
	}
	faultpoint.Hit(faultpoint.AgentReceived, d.GetActionId())
	out := dispatched(d, s.cfg.MachineID)
	if out.Invalid != "" {
		s.log.Error("an invalid dispatch", logkeys.Action, out.ActionID, logkeys.Reason, out.Invalid)
	}
	if out.Invalid == "" && s.cfg.Camera != nil {
		s.cfg.Camera.Received(out.Action.Masks)
	}
	var counts bool
	var ping uint64
	s.withLease(func(l *Lease) { counts, ping = l.Dispatched(time.Now(), out) })
	if ping != 0 {
		s.ping(ping)
	}
	if !counts {
		s.SendProgress(work.Progress{Ref: out.Ref}) // it has arrived, however long the answer takes
		return nil
	}
	return s.toRunner(ctx, runner.Dispatched{Dispatch: out})
}

// pong takes the answer to a ping of the lease, or hands one to a ping of watch over.
func (s *session) pong(ctx context.Context, number uint64) error {
	if number <= leaseNumbers {
		select {
		case s.pongs <- number: // watch waits for nobody
		case <-ctx.Done():
		}
		return nil
	}
	v := s.answered(time.Now(), number)
	if v.Ping != 0 {
		s.ping(v.Ping)
	}
	if v.Dispatch != nil {
		return s.toRunner(ctx, runner.Dispatched{Dispatch: *v.Dispatch})
	}
	return nil
}

// answered lets what waits in Vouch begin, if the answer vouches for it.
func (s *session) answered(now time.Time, number uint64) Vouched {
	s.leaseMu.Lock()
	defer s.leaseMu.Unlock()
	v := s.lease.Pong(now, number)
	if v.Begins {
		close(s.vouched)
	}
	return v
}
