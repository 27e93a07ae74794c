package loadagent

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

type conn = grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]

// server says what a test tells it to, whatever it hears.
type server struct {
	reprisev1.UnimplementedAgentServiceServer
	script []*reprisev1.ConnectResponse
}

func (s *server) Connect(st conn) error {
	for _, m := range s.script {
		if err := st.Send(m); err != nil {
			return err
		}
	}
	<-st.Context().Done() // the agent has gone
	return nil
}

func serve(t *testing.T, script ...*reprisev1.ConnectResponse) *grpc.ClientConn {
	t.Helper()
	lis := bufconn.Listen(1 << 20)
	s := grpc.NewServer()
	reprisev1.RegisterAgentServiceServer(s, &server{script: append([]*reprisev1.ConnectResponse{welcome()}, script...)})
	go func() { _ = s.Serve(lis) }()
	t.Cleanup(s.Stop)
	c, err := grpc.NewClient("passthrough:server", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func welcome() *reprisev1.ConnectResponse {
	return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Welcome{Welcome: &reprisev1.Welcome{SessionId: "s"}}}
}

func delivery(n, number int) *reprisev1.ConnectResponse {
	return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Dispatch{Dispatch: &reprisev1.Dispatch{
		ReplayId: "r", ActionId: fmt.Sprintf("r-%d", n), DispatchMeta: &reprisev1.DispatchMeta{Delivery: int32(number)},
	}}}
}

func answered(n int, v reprisev1.ReportVerdict) *reprisev1.ConnectResponse {
	return &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_ReportAck{ReportAck: &reprisev1.ReportAck{ActionId: fmt.Sprintf("r-%d", n), Verdict: v}}}
}

const (
	accepted  = reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED
	duplicate = reprisev1.ReportVerdict_REPORT_VERDICT_DUPLICATE
)

// patience is how long a test waits for an agent that has noticed nothing.
const patience = 5 * time.Minute

// work does what race.Run does with one worker.
func work(t *testing.T, c *grpc.ClientConn, jobs int) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a, err := Open(ctx, c, "desk-1", jobs)
	if err != nil {
		return err
	}
	defer a.Abort()
	for {
		if err := a.Next(); err != nil {
			return err
		}
		if err := a.Answer(); err != nil {
			return err
		}
	}
}

func TestActionsInOrderAndOnceAreDone(t *testing.T) {
	ping := &reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Ping{Ping: &reprisev1.Ping{Number: 1}}}
	c := serve(t, delivery(1, 1), ping, answered(1, accepted), delivery(2, 1), answered(2, accepted))
	if err := work(t, c, 2); err != io.EOF { //nolint:errorlint // race.Worker promises the value itself
		t.Errorf("%v", err)
	}
}

// A benchmark that loses actions, or doubles one, must not give a number.
func TestWhatTheContractForbidsFailsTheRun(t *testing.T) {
	for name, script := range map[string][]*reprisev1.ConnectResponse{
		"an action is left out":      {delivery(1, 1), answered(1, accepted), delivery(3, 1)},
		"an action comes twice":      {delivery(1, 1), answered(1, accepted), delivery(1, 1)},
		"an action is redelivered":   {delivery(1, 1), answered(1, accepted), delivery(2, 2)},
		"a report counts as another": {delivery(1, 1), answered(1, duplicate), delivery(2, 1)},
		"a report is taken twice":    {delivery(1, 1), answered(1, accepted), answered(1, accepted), delivery(2, 1)},
		"a report is not answered":   {delivery(1, 1), delivery(2, 1), answered(1, accepted), delivery(3, 1)},
		"another report is answered": {delivery(1, 1), answered(2, accepted), delivery(2, 1)},
		"the replay pauses":          {delivery(1, 1), {Message: &reprisev1.ConnectResponse_Pause{Pause: &reprisev1.Pause{}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := work(t, serve(t, script...), 3); err == nil || strings.Contains(err.Error(), "DeadlineExceeded") {
				t.Errorf("the agent ended with %v", err)
			}
		})
	}
}

func TestOnlyAReplayWhoseActionsAllCountIsSettled(t *testing.T) {
	whole := func() *reprisev1.Replay {
		r := &reprisev1.Replay{ReplayId: "r", State: reprisev1.ReplayState_REPLAY_STATE_COMPLETED, SettledCount: 2}
		for i := range 2 {
			r.Actions = append(r.Actions, &reprisev1.ActionStatus{
				ActionId: fmt.Sprintf("r-%d", i+1), Step: int32(i), State: reprisev1.ActionState_ACTION_STATE_ACKED, Deliveries: 1,
			})
		}
		return r
	}
	if err := settled(whole(), 2); err != nil {
		t.Errorf("a whole one: %v", err)
	}
	for name, spoil := range map[string]func(r *reprisev1.Replay){
		"still running":            func(r *reprisev1.Replay) { r.State = reprisev1.ReplayState_REPLAY_STATE_RUNNING },
		"one fewer settled":        func(r *reprisev1.Replay) { r.SettledCount = 1 },
		"one missing":              func(r *reprisev1.Replay) { r.Actions = r.Actions[:1] },
		"one decided on twice":     func(r *reprisev1.Replay) { r.Actions = append(r.Actions, r.Actions[1]) },
		"one given up":             func(r *reprisev1.Replay) { r.Actions[1].State = reprisev1.ActionState_ACTION_STATE_ABANDONED },
		"one delivered twice":      func(r *reprisev1.Replay) { r.Actions[0].Deliveries = 2 },
		"two in the other's place": func(r *reprisev1.Replay) { r.Actions[0].Step, r.Actions[1].Step = 1, 0 },
	} {
		r := whole()
		spoil(r)
		if settled(r, 2) == nil {
			t.Error(name)
		}
	}
}
