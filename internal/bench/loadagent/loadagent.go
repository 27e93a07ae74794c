// Package loadagent is the least agent that there can be: it opens a session,
// reports each action as done the moment it has come, and has neither a desktop
// nor a memory. It checks what the product promises, that every action comes once
// and in order and that every report is taken: a benchmark that loses some fails.
package loadagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/id"
)

// bearer shows a token with each call, on plain text: the server is on loopback.
type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

func (bearer) RequireTransportSecurity() bool { return false }

var _ credentials.PerRPCCredentials = bearer("")

// Dial returns a connection of its own to a server, with a token. But for the
// token it takes grpc-go's defaults, as the raw stream does.
func Dial(address, token string) (*grpc.ClientConn, error) {
	return grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(bearer(token)))
}

// Sizes are the bytes of the messages of one action, without gRPC's framing.
type Sizes struct{ Dispatch, Report, Ack int }

// Agent is the agent of one machine. It is a race.Worker.
type Agent struct {
	machine string
	spool   string
	stream  grpc.BidiStreamingClient[reprisev1.ConnectRequest, reprisev1.ConnectResponse]
	abort   context.CancelFunc
	jobs    int

	begun    bool                // the first action was handed out by Next
	job      *reprisev1.Dispatch // the last one received
	received int
	acked    int
	sizes    Sizes
}

// Open opens a session and takes its first action; the replay that waits for the machine must have the
// given number of actions. It ends with ctx or with Close.
func Open(ctx context.Context, conn *grpc.ClientConn, machine string, jobs int) (*Agent, error) {
	ctx, abort := context.WithCancel(ctx)
	a := &Agent{machine: machine, spool: "spool-of-" + machine, abort: abort, jobs: jobs}
	if err := a.open(ctx, conn); err != nil {
		abort()
		return nil, fmt.Errorf("loadagent: open the session of %s: %w", machine, err)
	}
	return a, nil
}

func (a *Agent) open(ctx context.Context, conn *grpc.ClientConn) (err error) {
	if a.stream, err = reprisev1.NewAgentServiceClient(conn).Connect(ctx); err != nil {
		return err
	}
	err = a.stream.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: &reprisev1.Hello{
		MachineId: a.machine, AgentInstanceId: a.spool, BootId: id.New("boot"), Version: "bench", ProtocolVersion: 1,
	}}})
	if err != nil {
		return err
	}
	m, err := a.stream.Recv()
	if err == nil && m.GetWelcome() == nil {
		err = errors.New("the first message is no welcome")
	}
	if err == nil {
		err = a.next()
	}
	if err != nil {
		return err
	}
	// The first action waits for the other machines, as one that takes long does.
	return a.stream.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Progress{Progress: &reprisev1.Progress{
		ActionId: a.job.GetActionId(), AttemptId: a.job.GetAttemptId(), State: reprisev1.ProgressState_PROGRESS_STATE_EXECUTING,
	}}})
}

// Next implements race.Worker. The first action came when the session was opened.
func (a *Agent) Next() error {
	if a.begun {
		return a.next()
	}
	a.begun = true
	return nil
}

func (a *Agent) next() error {
	for a.acked < a.jobs {
		m, err := a.stream.Recv()
		if err != nil {
			return fmt.Errorf("loadagent: %s, %d of %d actions acknowledged: %w", a.machine, a.acked, a.jobs, err)
		}
		switch {
		case m.GetDispatch() != nil:
			return a.take(m)
		case m.GetReportAck() != nil:
			err = a.acknowledged(m)
		case m.GetPing() != nil:
			err = a.stream.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Pong{Pong: &reprisev1.Pong{Number: m.GetPing().GetNumber()}}})
		default:
			err = fmt.Errorf("loadagent: %s: %T is not expected", a.machine, m.GetMessage())
		}
		if err != nil {
			return err
		}
	}
	return io.EOF
}

// take takes an action, which must be the one after the last.
func (a *Agent) take(m *reprisev1.ConnectResponse) error {
	d := m.GetDispatch()
	if a.received == 0 {
		a.sizes.Dispatch = proto.Size(m)
	}
	a.received++
	if want := d.GetReplayId() + "-" + strconv.Itoa(a.received); d.GetActionId() != want || d.GetDispatchMeta().GetDelivery() != 1 {
		return fmt.Errorf("loadagent: %s: delivery %d of action %s came, want the first of %s", a.machine, d.GetDispatchMeta().GetDelivery(), d.GetActionId(), want)
	}
	a.job = d
	return nil
}

// acknowledged takes the answer to a report, which must be that it was taken.
func (a *Agent) acknowledged(m *reprisev1.ConnectResponse) error {
	ack := m.GetReportAck()
	if a.acked == 0 {
		a.sizes.Ack = proto.Size(m)
	}
	a.acked++
	if ack.GetVerdict() != reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED || a.acked != a.received || ack.GetActionId() != a.job.GetActionId() {
		return fmt.Errorf("loadagent: %s: the report of %s, number %d of %d received, was answered %s", a.machine, ack.GetActionId(), a.acked, a.received, ack.GetVerdict())
	}
	return nil
}

// Answer implements race.Worker.
func (a *Agent) Answer() error {
	m := &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Report{Report: a.report()}}
	if a.received == 1 {
		a.sizes.Report = proto.Size(m)
	}
	return a.stream.Send(m)
}

// report is that of a click which was done, with what an agent says of one.
func (a *Agent) report() *reprisev1.Report {
	d, now := a.job, timestamppb.New(time.Now())
	return &reprisev1.Report{
		ReplayId: d.GetReplayId(), SessionId: d.GetSessionId(), MachineId: d.GetMachineId(), ActionId: d.GetActionId(), AttemptId: d.GetAttemptId(),
		Success: true, Completion: reprisev1.Completion_COMPLETION_COMPLETED, Effect: reprisev1.Effect_EFFECT_SEEN,
		ActualPosition: &reprisev1.PixelPosition{X: 1204, Y: 377}, ResolutionMethod: "template", ResolutionScore: 0.987,
		ResolutionElapsed: durationpb.New(41 * time.Millisecond), TargetDescription: "the blue button with the word Admit, at the right end of the row of the patient",
		StartedAt: now, EndedAt: now, SpoolId: a.spool,
	}
}

// Sizes returns the bytes of the first action's messages.
func (a *Agent) Sizes() Sizes { return a.sizes }

// Abort implements race.Worker.
func (a *Agent) Abort() { a.abort() }

// Close ends the session in order.
func (a *Agent) Close() error {
	defer a.abort()
	if err := a.stream.CloseSend(); err != nil {
		return fmt.Errorf("loadagent: end the session of %s: %w", a.machine, err)
	}
	for {
		m, err := a.stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("loadagent: end the session of %s: %w", a.machine, err)
		case m.GetPing() == nil: // one may be under way
			return fmt.Errorf("loadagent: %s: %T came after the last answer", a.machine, m.GetMessage())
		}
	}
}
