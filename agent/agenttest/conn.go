package agenttest

import (
	"context"
	"errors"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Conn is one stream of an agent, as the control plane sees it.
type Conn struct {
	// Hello is what the agent said first.
	Hello *reprisev1.Hello
	// Header is what came with the call.
	Header metadata.MD

	deaf atomic.Bool
	out  chan *reprisev1.ConnectResponse
	in   chan *reprisev1.ConnectRequest
	end  chan error
	done chan struct{} // closed when the stream is over
}

func newConn(hello *reprisev1.Hello, md metadata.MD) *Conn {
	return &Conn{
		Hello: hello, Header: md, out: make(chan *reprisev1.ConnectResponse), in: make(chan *reprisev1.ConnectRequest, 1024),
		end: make(chan error, 1), done: make(chan struct{}),
	}
}

// Deaf makes the control plane leave pings unanswered.
func (c *Conn) Deaf() { c.deaf.Store(true) }

// Send says something. The wrapped message is one of ConnectResponse's.
func (c *Conn) Send(m *reprisev1.ConnectResponse) error {
	select {
	case c.out <- m:
		return nil
	case <-c.done:
		return ErrEnded
	}
}

// Welcome answers the hello.
func (c *Conn) Welcome(w *reprisev1.Welcome) error {
	return c.Send(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Welcome{Welcome: w}})
}

// Dispatch asks for an action.
func (c *Conn) Dispatch(d *reprisev1.Dispatch) error {
	return c.Send(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Dispatch{Dispatch: d}})
}

// Ack says that a report is durable.
func (c *Conn) Ack(r *reprisev1.Report) error {
	return c.Send(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_ReportAck{ReportAck: &reprisev1.ReportAck{
		ActionId: r.GetActionId(), AttemptId: r.GetAttemptId(), Verdict: reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED,
	}}})
}

// Capture asks for a picture of the screen; CaptureResult returns the answer.
func (c *Conn) Capture(m *reprisev1.Capture) error {
	return c.Send(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Capture{Capture: m}})
}

// CaptureResult returns the next answer to a Capture, and skips all else.
func (c *Conn) CaptureResult(ctx context.Context) (*reprisev1.CaptureResult, error) {
	for {
		m, err := c.Recv(ctx)
		if err != nil {
			return nil, err
		}
		if r := m.GetCaptureResult(); r != nil {
			return r, nil
		}
	}
}

// Recv returns what the agent says next, pings and pongs aside. ErrEnded says
// that the stream is over and all of it was seen.
func (c *Conn) Recv(ctx context.Context) (*reprisev1.ConnectRequest, error) {
	select {
	case m, ok := <-c.in:
		if !ok {
			return nil, ErrEnded
		}
		return m, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Report returns the next report, and skips all else.
func (c *Conn) Report(ctx context.Context) (*reprisev1.Report, error) {
	for {
		m, err := c.Recv(ctx)
		if err != nil {
			return nil, err
		}
		if r := m.GetReport(); r != nil {
			return r, nil
		}
	}
}

// End ends the stream with an error; nil ends it in order.
func (c *Conn) End(err error) {
	select {
	case c.end <- err:
	case <-c.done:
	}
}

// Done is closed when the stream is over.
func (c *Conn) Done() <-chan struct{} { return c.done }

func (c *Conn) serve(stream grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]) error {
	pongs := make(chan uint64, 64)
	read := make(chan error, 1)
	go func() { read <- c.read(stream, pongs) }()
	defer close(c.done)
	for {
		select {
		case m := <-c.out:
			if err := stream.Send(m); err != nil {
				return err
			}
		case n := <-pongs:
			pong := &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Pong{Pong: &reprisev1.Pong{Number: n}}}
			if err := stream.Send(pong); err != nil {
				return err
			}
		case err := <-c.end:
			return err
		case err := <-read:
			return err
		case <-stream.Context().Done():
			return context.Cause(stream.Context())
		}
	}
}

// errFlood says that a test left too much unread.
var errFlood = errors.New("agenttest: the test does not read the stream")

func (c *Conn) read(stream grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse], pongs chan<- uint64) error {
	defer close(c.in)
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		switch {
		case m.GetPing() != nil:
			if !c.deaf.Load() {
				pongs <- m.GetPing().GetNumber()
			}
			continue
		case m.GetPong() != nil:
			continue
		}
		select {
		case c.in <- m:
		default:
			return errFlood
		}
	}
}
