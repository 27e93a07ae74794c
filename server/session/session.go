// Package session is the server's end of an agent's stream: it opens it, turns
// schema into values and back, keeps it alive with pings, and ends it. What the
// messages lead to is decided in dispatch. Each stream has one reader, which never
// waits for the writer, and one writer, the handler's own goroutine.
package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// Why a session ends, as its agent is told.
var (
	ErrSlowReader   = rpcstatus.New(codes.ResourceExhausted, "AGENT_TOO_SLOW", "the agent does not read its stream")
	ErrPingTimeout  = rpcstatus.New(codes.Unavailable, "PING_UNANSWERED", "the agent does not answer pings")
	ErrGoingAway    = rpcstatus.New(codes.Unavailable, "GOING_AWAY", "the server is going away")
	ErrHelloTimeout = rpcstatus.New(codes.DeadlineExceeded, "NO_HELLO", "the stream did not open in time: no hello came")
	ErrNoHello      = rpcstatus.New(codes.InvalidArgument, "HELLO_EXPECTED", "the first message must be the hello, and no later one may")
	ErrOtherMachine = rpcstatus.New(codes.InvalidArgument, "OTHER_MACHINE", "the report is for another machine")
	ErrProtocol     = rpcstatus.New(codes.FailedPrecondition, "PROTOCOL_UNKNOWN", "the protocol version is not known")
)

// queueLength is how many messages may wait for the writer. One action is in
// flight per machine, so a queue that fills up belongs to an agent that does not
// read.
const queueLength = 256

// probeNumbers is where the numbers of probes begin, apart from those of pings.
const probeNumbers = 1 << 32

// session is one stream. It is the dispatch.Conn of its machine's loop.
type session struct {
	id        string
	machineID string
	out       chan *reprisev1.ConnectResponse
	ended     context.Context // done when the session must end, with the reason
	end       context.CancelCauseFunc
	pongs     chan uint64   // numbers of answered pings, for the writer
	probed    atomic.Uint64 // how many probes were sent
	probes    sync.Map      // number of a probe -> chan struct{}
	convert   converter
}

func newSession(ctx context.Context, id, machineID string, c converter) *session {
	s := &session{
		id: id, machineID: machineID, out: make(chan *reprisev1.ConnectResponse, queueLength),
		pongs: make(chan uint64, 4), convert: c,
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
	s.queue(m)
}

// Close ends the session with an error that the agent is told.
func (s *session) Close(err error) { s.end(err) }

func (s *session) queue(m *reprisev1.ConnectResponse) {
	select {
	case s.out <- m:
	default:
		s.end(ErrSlowReader)
	}
}

// goAway tells the agent to come back later, then ends the session.
func (s *session) goAway(after time.Duration) {
	s.queue(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_GoAway{GoAway: &reprisev1.GoAway{
		ReconnectAfter: durationpb.New(after), Reason: ErrGoingAway.Error(),
	}}})
	s.end(ErrGoingAway)
}

// write is the writer: it sends what is queued, and pings, until the session
// ends. What was queued before the end is still sent.
func (s *session) write(send func(*reprisev1.ConnectResponse) error, interval, timeout time.Duration) error {
	next, late := time.NewTimer(interval), time.NewTimer(interval+timeout)
	defer next.Stop()
	defer late.Stop()
	late.Stop() // no ping is unanswered
	var number uint64
	for {
		select {
		case m := <-s.out:
			if err := send(m); err != nil {
				return err
			}
		case <-next.C:
			number++
			if err := send(ping(number)); err != nil {
				return err
			}
			late.Reset(timeout)
		case n := <-s.pongs:
			if n == number {
				late.Stop()
				next.Reset(interval)
			}
		case <-late.C:
			return ErrPingTimeout
		case <-s.ended.Done():
			return s.flush(send)
		}
	}
}

func (s *session) flush(send func(*reprisev1.ConnectResponse) error) error {
	for {
		select {
		case m := <-s.out:
			if err := send(m); err != nil {
				return err
			}
		default:
			return context.Cause(s.ended)
		}
	}
}

func ping(n uint64) *reprisev1.ConnectResponse {
	return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Ping{Ping: &reprisev1.Ping{Number: n}}}
}

func pong(n uint64) *reprisev1.ConnectResponse {
	return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Pong{Pong: &reprisev1.Pong{Number: n}}}
}

// probe asks the agent for an answer at once, whatever the interval says.
func (s *session) probe(ctx context.Context) bool {
	number, answered := probeNumbers+s.probed.Add(1), make(chan struct{})
	s.probes.Store(number, answered)
	defer s.probes.Delete(number)
	s.queue(ping(number))
	select {
	case <-answered:
		return true
	case <-ctx.Done():
		return false
	case <-s.ended.Done():
		return false
	}
}

// pong takes the agent's answer; it never blocks.
func (s *session) pong(number uint64) {
	if answered, ok := s.probes.LoadAndDelete(number); ok {
		close(answered.(chan struct{}))
		return
	}
	select {
	case s.pongs <- number:
	default: // the writer is behind by several pings; it knows that already
	}
}
