// Package session is the server's end of an agent's stream: it opens it, turns
// schema into values and back, keeps it alive with pings, and ends it. What the
// messages lead to is decided in dispatch. When a session must end for want of an
// answer is decided by Watch, a value of the times.
//
// Each stream has one reader and one writer, and neither waits for the other. The
// handler itself only watches over them: a writer that hangs on an agent that does
// not read is freed by the handler's return, and by nothing else.
package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
	"github.com/reprise-rpa/reprise/server/session/unspoken"
)

// Why a session ends, as its agent is told.
var (
	ErrSlowReader   = rpcstatus.New(codes.ResourceExhausted, "AGENT_TOO_SLOW", "the agent does not read its stream")
	ErrPingTimeout  = rpcstatus.New(codes.Unavailable, "PING_UNANSWERED", "the agent does not answer pings")
	ErrGoingAway    = rpcstatus.New(codes.Unavailable, "GOING_AWAY", "the server is going away")
	ErrNotOpened    = rpcstatus.New(codes.DeadlineExceeded, "NOT_OPENED", "the server could not answer the hello in time")
	ErrHelloTimeout = rpcstatus.New(codes.DeadlineExceeded, "NO_HELLO", "the stream did not open in time: no hello came")
	ErrNoHello      = rpcstatus.New(codes.InvalidArgument, "HELLO_EXPECTED", "the first message must be the hello, and no later one may")
	ErrOtherMachine = rpcstatus.New(codes.InvalidArgument, "OTHER_MACHINE", "the report is for another machine")
	ErrProtocol     = rpcstatus.New(codes.FailedPrecondition, "PROTOCOL_UNKNOWN", "the protocol version is not known")
)

// queueLength is how many messages may wait for the writer. One action is in
// flight per machine, so a queue that fills up belongs to an agent that does not
// read.
const queueLength = 256

// session is one stream. It is the dispatch.Conn of its machine's loop.
type session struct {
	id        string
	machineID string
	convert   converter
	ended     context.Context // done when the session must end, with the reason
	end       context.CancelCauseFunc

	out      chan *reprisev1.ConnectResponse // for the writer
	welcomed chan struct{}                   // closed when the welcome is in out

	mu   sync.Mutex
	open bool                         // the welcome is in out
	held []*reprisev1.ConnectResponse // what waits for the welcome

	typed    typed    // what its actions typed
	clock    clocked  // the action that it waits for
	captures captures // the pictures that it waits for

	canCapture bool // its agent answers Capture; set before the session is known to others

	pongs  chan uint64   // for attend
	probed atomic.Uint64 // how many probes were sent
	probes sync.Map      // number of a probe -> chan struct{}
}

func newSession(ctx context.Context, id, machineID string, c converter) *session {
	s := &session{
		id: id, machineID: machineID, convert: c,
		out: make(chan *reprisev1.ConnectResponse, queueLength), welcomed: make(chan struct{}), pongs: make(chan uint64),
	}
	s.ended, s.end = context.WithCancelCause(ctx)
	return s
}

// Send queues an effect for the writer. A full queue ends the session: nothing is
// dropped silently, and what was lost is settled when the agent opens again.
func (s *session) Send(e dispatch.Effect) {
	m, err := s.convert.effect(s.id, e)
	if err != nil {
		s.end(err)
		return
	}
	if d := m.GetDispatch(); d != nil {
		s.typed.put(d.GetActionId(), unspoken.Of(d.GetAction()))
		s.clock.sent(d.GetActionId())
	}
	s.queue(m)
}

// Close ends the session with an error that the agent is told.
func (s *session) Close(err error) { s.end(err) }

// queue hands a message to the writer. Nothing goes out before the welcome: a
// pong that the agent asked for earlier, or a ping, waits for it.
func (s *session) queue(m *reprisev1.ConnectResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open:
		s.push(m)
	case m.GetWelcome() == nil && len(s.held) < queueLength:
		s.held = append(s.held, m)
	case m.GetWelcome() == nil:
		s.end(ErrSlowReader)
	default:
		s.push(m)
		for _, h := range s.held {
			s.push(h)
		}
		s.open, s.held = true, nil
		close(s.welcomed)
	}
}

func (s *session) push(m *reprisev1.ConnectResponse) {
	select {
	case s.out <- m:
	default:
		s.end(ErrSlowReader)
	}
}

// offer hands a message to the writer that nothing depends on: only after the
// welcome, and only while the queue has room to spare for what must not be lost.
func (s *session) offer(m *reprisev1.ConnectResponse) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open || len(s.out) >= queueLength/2 {
		return false
	}
	s.push(m)
	return true
}

// goAway tells the agent to come back later, then ends the session.
func (s *session) goAway(after time.Duration) {
	s.queue(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_GoAway{GoAway: &reprisev1.GoAway{
		ReconnectAfter: durationpb.New(after), Reason: ErrGoingAway.Error(),
	}}})
	s.end(ErrGoingAway)
}

// write is the writer: it sends what is queued until the session ends, and then
// what was queued before that.
func (s *session) write(send func(*reprisev1.ConnectResponse) error) error {
	for {
		select {
		case m := <-s.out:
			if err := s.send(m, send); err != nil {
				return err
			}
		case <-s.ended.Done():
			return s.flush(send)
		}
	}
}

func (s *session) flush(send func(*reprisev1.ConnectResponse) error) error {
	for {
		select {
		case m := <-s.out:
			if err := s.send(m, send); err != nil {
				return err
			}
		default:
			return context.Cause(s.ended)
		}
	}
}

// send sends a message, unless it is an action and the session has ended: who has
// been replaced is given no more work, and the machine's next session is.
func (s *session) send(m *reprisev1.ConnectResponse, send func(*reprisev1.ConnectResponse) error) error {
	select {
	case <-s.ended.Done():
		if m.GetDispatch() != nil {
			return nil
		}
	default:
	}
	if err := send(m); err != nil {
		return err
	}
	if d := m.GetDispatch(); d != nil {
		faultpoint.Hit(faultpoint.DispatchSent, d.GetActionId())
	}
	if a := m.GetReportAck(); a != nil {
		faultpoint.Hit(faultpoint.ReportAcked, a.GetActionId())
	}
	return nil
}
