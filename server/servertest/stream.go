package servertest

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// queueLength is how many messages may wait for the writer of a stream.
const queueLength = 4096

// stream is one stream of an agent.
type stream struct {
	cancel   context.CancelFunc
	out      chan *reprisev1.ConnectRequest
	greeted  bool // the hello is in out
	welcomed bool
	settings *reprisev1.SessionSettings
}

// connect opens a stream and serves it to its end.
func (a *Agent) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st := &stream{cancel: cancel, out: make(chan *reprisev1.ConnectRequest, queueLength)}
	present := false
	a.change(func() {
		if present = a.present; present {
			a.stream = st
		}
	})
	defer a.change(func() {
		if a.stream == st {
			a.hangUp()
		}
	})
	if !present {
		return errDied
	}
	rpc, err := reprisev1.NewAgentServiceClient(a.conn).Connect(ctx, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	// From here on all that happens is either in the hello or queued behind it.
	a.change(func() {
		st.push(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: a.hello()}})
		st.greeted = true
	})
	a.work.Go(func() { st.write(ctx, rpc) })
	for {
		m, err := rpc.Recv()
		if err != nil {
			return err
		}
		a.change(func() {
			if a.stream == st {
				a.handle(ctx, m)
			}
		})
	}
}

func (s *stream) write(ctx context.Context, rpc grpc.BidiStreamingClient[reprisev1.ConnectRequest, reprisev1.ConnectResponse]) {
	for {
		select {
		case m := <-s.out:
			if err := rpc.Send(m); err != nil {
				return // the reader learns why
			}
		case <-ctx.Done():
			return
		}
	}
}

// push queues a message. A stream that does not move is given up.
func (s *stream) push(m *reprisev1.ConnectRequest) {
	select {
	case s.out <- m:
	default:
		s.cancel()
	}
}

// send says something on the stream, if one is open; the hello says the rest. The
// caller holds mu.
func (a *Agent) send(m *reprisev1.ConnectRequest) {
	if a.stream != nil && a.stream.greeted {
		a.stream.push(m)
	}
}

// hello says who the agent is and what it still has to say. The caller holds mu.
func (a *Agent) hello() *reprisev1.Hello {
	h := &reprisev1.Hello{
		MachineId: a.machine, AgentInstanceId: a.memory.spoolID, BootId: a.process.boot, LastExit: a.process.lastExit,
		Version: "servertest", ProtocolVersion: 1, Capabilities: []string{"capture"},
		Monitors: []*reprisev1.Monitor{{Width: screenWidth, Height: screenHeight, Scale: 1, Primary: true}},
		Results:  a.memory.results(), DesktopState: a.desktop,
	}
	if r := a.running; r != nil {
		h.Executing = r.ref()
	}
	h.Unfinished = a.memory.unfinished(h.GetExecuting().GetActionId())
	return h
}

// handle takes what the server says. The caller holds mu.
func (a *Agent) handle(ctx context.Context, m *reprisev1.ConnectResponse) {
	switch m := m.GetMessage().(type) {
	case *reprisev1.ConnectResponse_Welcome:
		a.welcome(m.Welcome)
	case *reprisev1.ConnectResponse_Dispatch:
		a.dispatched(m.Dispatch)
	case *reprisev1.ConnectResponse_ReportAck:
		a.memory.tell(m.ReportAck.GetActionId())
	case *reprisev1.ConnectResponse_Pause:
		a.show(m.Pause)
	case *reprisev1.ConnectResponse_Cancel:
		a.cancelled(m.Cancel)
	case *reprisev1.ConnectResponse_Ping:
		a.send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Pong{Pong: &reprisev1.Pong{Number: m.Ping.GetNumber()}}})
	case *reprisev1.ConnectResponse_Capture:
		a.work.Go(func() { a.capture(ctx, m.Capture.GetCaptureId()) })
	}
}

func (a *Agent) welcome(w *reprisev1.Welcome) {
	a.stream.welcomed, a.stream.settings = true, w.GetSettings()
	for _, ack := range w.GetResultAcks() {
		a.memory.tell(ack.GetActionId())
	}
	for _, id := range w.GetClosedActionIds() {
		a.memory.tell(id)
	}
	if a.running != nil && w.GetExecutingVerdict() == reprisev1.ExecutingVerdict_EXECUTING_VERDICT_STOP {
		a.running.cancel(errInterrupted)
	}
}

// show shows a pause once, however often the server tells it.
func (a *Agent) show(p *reprisev1.Pause) {
	for _, shown := range a.pauses {
		if shown.GetPauseId() == p.GetPauseId() && shown.GetReplayId() == p.GetReplayId() {
			return
		}
	}
	a.pauses = append(a.pauses, p)
}

func (a *Agent) cancelled(c *reprisev1.Cancel) {
	concerns := func(d *reprisev1.Dispatch) bool {
		return d.GetReplayId() == c.GetReplayId() && (c.GetActionId() == "" || c.GetActionId() == d.GetActionId())
	}
	if a.waiting != nil && concerns(a.waiting) {
		a.waiting = nil
	}
	if a.running != nil && concerns(a.running.dispatch) {
		a.running.cancel(errInterrupted)
	}
}

// Why an execution ends before its time.
var (
	errDied        = errors.New("the agent's process has ended")
	errInterrupted = errors.New("the server has asked to stop")
	errTimedOut    = errors.New("its longest time has passed")
)
