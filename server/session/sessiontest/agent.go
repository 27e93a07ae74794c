// Package sessiontest is an agent that does what a test says, over a real
// connection: it opens a stream, answers pings by itself unless it is told not to,
// and hands everything else to the test in order; requests for a picture too,
// unless it is told how to answer them. It remembers nothing and executes nothing.
//
// A test takes what comes with Next, Dispatch, Ack and Capture, and answers with
// Report of what Done, Failed, NotStarted or Unknown make, with Progress, with
// nothing at all, or with Cut.
package sessiontest

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// patience is how long an agent waits for what its test expects.
const patience = 5 * time.Minute

// Agent is one stream, seen from its agent.
type Agent struct {
	Stream grpc.BidiStreamingClient[reprisev1.ConnectRequest, reprisev1.ConnectResponse]
	tb     testing.TB
	in     chan *reprisev1.ConnectResponse
	ended  chan error
	cancel context.CancelFunc
}

// Option changes how an agent behaves.
type Option func(*options)

type options struct {
	silent, blind bool
	picture       Photographer
}

// Silent lets pings go unanswered.
func Silent(o *options) { o.silent = true }

// Blind reads nothing of its stream.
func Blind(o *options) { o.blind = true }

// Hello returns what an agent says of itself on machine with this memory. It says
// that it can take pictures.
func Hello(machine, spool string) *reprisev1.Hello {
	return &reprisev1.Hello{
		MachineId: machine, AgentInstanceId: spool, BootId: "boot-of-" + spool, ProtocolVersion: 1, Version: "test",
		Capabilities: []string{"capture"},
	}
}

// Open opens a stream and says hello; a nil hello says nothing. The stream ends
// with the test at the latest.
func Open(tb testing.TB, ctx context.Context, conn grpc.ClientConnInterface, hello *reprisev1.Hello, opts ...Option) *Agent {
	tb.Helper()
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	ctx, cancel := context.WithCancel(ctx)
	st, err := reprisev1.NewAgentServiceClient(conn).Connect(ctx)
	if err != nil {
		cancel()
		tb.Fatalf("connect: %v", err)
	}
	a := &Agent{Stream: st, tb: tb, in: make(chan *reprisev1.ConnectResponse, 4096), ended: make(chan error, 1), cancel: cancel}
	if hello != nil {
		a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: hello}})
	}
	if !o.blind {
		go a.read(o)
	}
	tb.Cleanup(cancel)
	return a
}

// Welcomed is Open for an agent that is taken; it returns the welcome as well.
func Welcomed(tb testing.TB, ctx context.Context, conn grpc.ClientConnInterface, hello *reprisev1.Hello, opts ...Option) (*Agent, *reprisev1.Welcome) {
	tb.Helper()
	a := Open(tb, ctx, conn, hello, opts...)
	w := a.Next().GetWelcome()
	if w == nil {
		tb.Fatal("the first message is no welcome")
	}
	return a, w
}

func (a *Agent) read(o options) {
	for {
		m, err := a.Stream.Recv()
		if err != nil {
			a.ended <- err
			close(a.in)
			return
		}
		if p := m.GetPing(); p != nil {
			if !o.silent {
				a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Pong{Pong: &reprisev1.Pong{Number: p.GetNumber()}}})
			}
			continue
		}
		if c := m.GetCapture(); c != nil && o.picture != nil {
			a.CaptureResult(c, o.picture(c))
			continue
		}
		a.in <- m
	}
}

// Send sends a message. One that the server no longer takes is lost; the test
// learns of it by End.
func (a *Agent) Send(m *reprisev1.ConnectRequest) { _ = a.Stream.Send(m) }

// Report sends a report.
func (a *Agent) Report(r *reprisev1.Report) {
	a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Report{Report: r}})
}

// Progress says that an action is executing.
func (a *Agent) Progress(actionID, doing string) {
	a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Progress{Progress: &reprisev1.Progress{
		ActionId: actionID, State: reprisev1.ProgressState_PROGRESS_STATE_EXECUTING, Doing: doing,
	}}})
}

// Next returns the next message that is no ping.
func (a *Agent) Next() *reprisev1.ConnectResponse {
	a.tb.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case m, ok := <-a.in:
		if !ok {
			a.tb.Fatalf("the stream has ended: %v", <-a.ended)
		}
		return m
	case <-late.C:
		a.tb.Fatal("no message came")
	}
	return nil
}

// Waiting says how many messages wait to be taken by Next.
func (a *Agent) Waiting() int { return len(a.in) }

// Dispatch returns the next message, which must be an action.
func (a *Agent) Dispatch() *reprisev1.Dispatch {
	a.tb.Helper()
	m := a.Next()
	if m.GetDispatch() == nil {
		a.tb.Fatalf("%v came, want an action", m)
	}
	return m.GetDispatch()
}

// Ack returns the verdict of the next message, which must answer a report.
func (a *Agent) Ack() reprisev1.ReportVerdict {
	a.tb.Helper()
	m := a.Next()
	if m.GetReportAck() == nil {
		a.tb.Fatalf("%v came, want the answer to a report", m)
	}
	return m.GetReportAck().GetVerdict()
}

// End waits for the stream's end and returns its error; io.EOF is an end in order.
func (a *Agent) End() error {
	a.tb.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-a.ended:
		return err
	case <-late.C:
		a.tb.Fatal("the stream did not end")
	}
	return nil
}

// Cut goes away without a word.
func (a *Agent) Cut() { a.cancel() }

// Done returns a report of success for what was dispatched.
func Done(d *reprisev1.Dispatch) *reprisev1.Report {
	return &reprisev1.Report{
		ReplayId: d.GetReplayId(), SessionId: d.GetSessionId(), MachineId: d.GetMachineId(), ActionId: d.GetActionId(), AttemptId: d.GetAttemptId(),
		Success: true, Completion: reprisev1.Completion_COMPLETION_COMPLETED, Effect: reprisev1.Effect_EFFECT_SEEN,
	}
}

// Failed returns a report of failure for what was dispatched; some input may have
// been sent.
func Failed(d *reprisev1.Dispatch, code reprisev1.ErrorCode, message string) *reprisev1.Report {
	r := Done(d)
	r.Success, r.Completion, r.Effect = false, reprisev1.Completion_COMPLETION_UNKNOWN, reprisev1.Effect_EFFECT_NOT_CHECKED
	r.Error = &reprisev1.ActionError{Code: code, Message: message}
	return r
}

// NotStarted returns a report of failure before any input was sent, so that the
// server may try again by itself.
func NotStarted(d *reprisev1.Dispatch, code reprisev1.ErrorCode, message string) *reprisev1.Report {
	r := Failed(d, code, message)
	r.Completion = reprisev1.Completion_COMPLETION_NOT_STARTED
	return r
}

// Unknown returns the report of an agent that died while it executed and has come
// back.
func Unknown(d *reprisev1.Dispatch) *reprisev1.Report {
	return Failed(d, reprisev1.ErrorCode_ERROR_CODE_OUTCOME_UNKNOWN, "the agent ended while the action was executing")
}
