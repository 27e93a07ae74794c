package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/liveness"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// drainTime is how long what is queued may take to leave when the agent ends.
const drainTime = time.Second

// session is the life of one stream: one reader, one writer, and run itself,
// which pings and ends it.
type session struct {
	*Link
	conn     *grpc.ClientConn
	stream   grpc.BidiStreamingClient[reprisev1.ConnectRequest, reprisev1.ConnectResponse]
	out      *outbox
	end      context.CancelCauseFunc
	spoolID  string
	settings work.Settings
	over     <-chan struct{}      // closed when the stream has ended
	leaseMu  sync.Mutex           // never held over a send
	lease    Lease                // the reader's and Vouch's, under leaseMu
	vouched  chan struct{}        // closed when what waits in Vouch may begin; nil: nothing does
	hailed   time.Time            // when the hello was said
	reported atomic.Pointer[said] // the last one
	pongs    chan uint64
	goAway   chan time.Duration
}

func newSession(l *Link, conn *grpc.ClientConn) *session {
	return &session{
		Link: l, conn: conn, out: newOutbox(), end: func(error) {},
		pongs: make(chan uint64), goAway: make(chan time.Duration, 1),
	}
}

// run opens the stream and serves it to its end.
func (s *session) run(parent context.Context) (Ending, error) {
	// The stream outlives parent by what is still to be sent.
	ctx, end := context.WithCancelCause(context.WithoutCancel(parent))
	defer end(nil)
	s.end = end
	welcome, told, err := s.open(parent, ctx)
	if err != nil {
		return Ending{}, err
	}
	began := time.Now()
	s.settings = settings(welcome.GetSettings())
	s.lease = NewLease(s.hailed, s.settings.PingTimeout)
	s.over = ctx.Done()
	s.log.Info("the stream is open", logkeys.Session, welcome.GetSessionId())
	// Attached first: what the runner says at once may have to be followed by the
	// desktop's state.
	s.attach(s, told)
	if err := s.cfg.Runner.Open(ctx, s, opened(welcome)); err != nil {
		s.attach(nil, desktop.State{})
		return Ending{}, err
	}
	s.cfg.Evidence.online(reprisev1.NewEvidenceServiceClient(s.conn), s.settings.MaxPicture)

	var loops sync.WaitGroup
	loops.Go(func() { end(s.read(ctx)) })
	loops.Go(func() { end(s.write(ctx)) })
	s.watch(parent, ctx)
	loops.Wait()

	s.attach(nil, desktop.State{})
	s.cfg.Evidence.offline()
	err = context.Cause(ctx)
	if lost := s.cfg.Runner.Handle(context.WithoutCancel(ctx), runner.Lost{}); lost != nil && !errors.Is(lost, runner.ErrStopped) {
		err = errors.Join(err, lost)
	}
	e := Ending{Lived: time.Since(began)}
	select {
	case e.After = <-s.goAway:
	default:
	}
	return e, err
}

// open says hello and waits for the welcome.
func (s *session) open(parent, ctx context.Context) (*reprisev1.Welcome, desktop.State, error) {
	late := time.AfterFunc(openTime, func() { s.end(errOpenTimeout) })
	defer late.Stop()
	defer context.AfterFunc(parent, func() { s.end(context.Cause(parent)) })()

	opening, err := s.cfg.Runner.Opening(ctx)
	if err != nil {
		return nil, desktop.State{}, err
	}
	s.spoolID = opening.SpoolID
	state := s.cfg.Desk.Desktop(ctx)
	monitors, err := s.cfg.Desk.Monitors(ctx)
	if err != nil && state.Usable() {
		// A desktop that is away can't be asked; it is told as such.
		state = desktop.State{Kind: desktop.Disconnected, Detail: fmt.Sprintf("the monitors are not known: %v", err)}
	}
	s.stream, err = reprisev1.NewAgentServiceClient(s.conn).Connect(ctx)
	if err != nil {
		return nil, state, s.cause(ctx, err)
	}
	s.hailed = time.Now()
	hello := &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: s.hello(opening, monitors, state)}}
	// After a failed Send the reason comes from Recv.
	if err := s.stream.Send(hello); err != nil && !errors.Is(err, io.EOF) {
		return nil, state, s.cause(ctx, err)
	}
	first, err := s.stream.Recv()
	switch {
	case err != nil:
		return nil, state, s.cause(ctx, err)
	case first.GetWelcome() == nil:
		return nil, state, errNoWelcome
	}
	return first.GetWelcome(), state, nil
}

// cause prefers why this side ended the stream to what gRPC makes of it.
func (s *session) cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) {
		return errServerEnded
	}
	return err
}

// read takes what the server says, until the stream ends.
func (s *session) read(ctx context.Context) error {
	for {
		m, err := s.stream.Recv()
		if err != nil {
			return s.cause(ctx, err)
		}
		if err := s.handle(ctx, m); err != nil {
			return err
		}
	}
}

// handle never waits for the writer or for an action.
func (s *session) handle(ctx context.Context, m *reprisev1.ConnectResponse) error {
	switch m := m.GetMessage().(type) {
	case *reprisev1.ConnectResponse_Dispatch:
		return s.dispatch(ctx, m.Dispatch)
	case *reprisev1.ConnectResponse_ReportAck:
		s.withLease(func(l *Lease) { l.acked(s.reported.Load(), m.ReportAck.GetActionId()) })
		return s.toRunner(ctx, runner.Acked{Ack: ack(m.ReportAck)})
	case *reprisev1.ConnectResponse_Pause:
		return s.toRunner(ctx, runner.Paused{Pause: paused(m.Pause)})
	case *reprisev1.ConnectResponse_Resume:
		return s.toRunner(ctx, runner.Resumed{ReplayID: m.Resume.GetReplayId(), PauseID: m.Resume.GetPauseId()})
	case *reprisev1.ConnectResponse_Cancel:
		s.withLease(func(l *Lease) { l.Cancelled(m.Cancel.GetReplayId(), m.Cancel.GetActionId()) })
		return s.toRunner(ctx, runner.Cancelled{ReplayID: m.Cancel.GetReplayId(), ActionID: m.Cancel.GetActionId()})
	case *reprisev1.ConnectResponse_Capture:
		s.capture(m.Capture)
	case *reprisev1.ConnectResponse_GoAway:
		select {
		case s.goAway <- m.GoAway.GetReconnectAfter().AsDuration():
		default: // it was said before
		}
		return s.toRunner(ctx, runner.GoingAway{})
	case *reprisev1.ConnectResponse_Ping:
		s.push(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Pong{Pong: &reprisev1.Pong{Number: m.Ping.GetNumber()}}})
	case *reprisev1.ConnectResponse_Pong:
		return s.pong(ctx, m.Pong.GetNumber())
	default:
		// A newer server may say what this agent does not know.
		s.log.Debug("a message of an unknown kind was skipped")
	}
	return nil
}

// toRunner hands an event over. A runner that has ended hears no more, which is
// no reason to cut off what it said last.
func (s *session) toRunner(ctx context.Context, e runner.Event) error {
	if err := s.cfg.Runner.Handle(ctx, e); err != nil && !errors.Is(err, runner.ErrStopped) {
		return err
	}
	return nil
}

// write sends what is queued, until the stream ends.
func (s *session) write(ctx context.Context) error {
	for {
		m, err := s.out.next(ctx)
		if err != nil {
			return err
		}
		if m == closing {
			return s.closeSend(ctx)
		}
		if r := m.GetReport(); r != nil {
			// What is said again counts from the first time: an answer may be to that.
			if last := s.reported.Load(); last == nil || last.actionID != r.GetActionId() {
				s.reported.Store(&said{r.GetActionId(), time.Now()})
			}
		}
		if err := s.stream.Send(m); err != nil {
			if errors.Is(err, io.EOF) {
				// The reader learns why the stream ended.
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return s.cause(ctx, err)
		}
		if r := m.GetReport(); r != nil {
			faultpoint.Hit(faultpoint.AgentReportSent, r.GetActionId())
		}
	}
}

// closing is queued behind the last message.
var closing = &reprisev1.ConnectRequest{}

// closeSend half-closes the stream and waits for the server's end of it: only
// then is what was sent on its way for sure.
func (s *session) closeSend(ctx context.Context) error {
	if err := s.stream.CloseSend(); err != nil {
		return s.cause(ctx, err)
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// watch pings, and ends the stream when a ping is not answered or the agent
// ends. It returns when the stream has ended.
func (s *session) watch(parent, ctx context.Context) {
	pings := liveness.New(time.Now(), s.settings.PingInterval, s.settings.PingTimeout)
	timer := time.NewTimer(0)
	defer timer.Stop()
	stop := parent.Done()
	var drained <-chan time.Time
	for {
		timer.Reset(time.Until(pings.Next()))
		select {
		case <-ctx.Done():
			return
		case <-stop:
			stop = nil
			s.push(closing)
			drained = time.After(drainTime)
		case <-drained:
			s.end(errDrained)
		case n := <-s.pongs:
			pings.Pong(time.Now(), n)
		case <-timer.C:
			number, dead := pings.Due(time.Now())
			if dead {
				s.end(errPingTimeout)
				return
			}
			if number != 0 {
				s.ping(number)
			}
		}
	}
}
