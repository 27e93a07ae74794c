package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Submit creates the replay and returns its id.
func (s *Stage) Submit(ctx context.Context, workflow string) (string, error) {
	out, err := s.Reprisectl(ctx, "run", workflow, "--machine", Machine, "--wait=false", "--output", "json")
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(out, "\n") {
		var answer struct {
			ReplayID string `json:"replayId"`
			Replay   struct {
				ReplayID string `json:"replayId"`
			} `json:"replay"`
		}
		if json.Unmarshal([]byte(line), &answer) != nil {
			continue
		}
		if id := answer.ReplayID + answer.Replay.ReplayID; id != "" {
			return id, nil
		}
	}
	return "", fmt.Errorf("reprisectl run says no replay id: %s", out)
}

// Client connects to the server as an operator.
func (s *Stage) Client() (*grpc.ClientConn, error) {
	return grpc.NewClient(s.Address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(bearer(s.operatorToken())))
}

// bearer is the path of a file with a token.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	token, err := os.ReadFile(string(b))
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + strings.TrimSpace(string(token))}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials; the server
// of a run listens on loopback.
func (bearer) RequireTransportSecurity() bool { return false }

// GetReplay returns the replay as the server has it.
func (s *Stage) GetReplay(ctx context.Context, id string) (*reprisev1.Replay, error) {
	conn, err := s.Client()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	res, err := reprisev1.NewReplayServiceClient(conn).GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: id}, grpc.WaitForReady(true))
	return res.GetReplay(), err
}

// GetMachine returns the machine as the server has it.
func (s *Stage) GetMachine(ctx context.Context) (*reprisev1.Machine, error) {
	conn, err := s.Client()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	res, err := reprisev1.NewMachineServiceClient(conn).ListMachines(ctx, &reprisev1.ListMachinesRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return nil, err
	}
	for _, m := range res.GetMachines() {
		if m.GetMachineId() == Machine {
			return m, nil
		}
	}
	return nil, fmt.Errorf("the server knows no machine %q", Machine)
}

// ErrNoPause says that a replay ended without a pause.
var ErrNoPause = errors.New("the replay ended without a pause")

// AwaitPause waits until the replay is paused, also across restarts of the
// server, and returns it. A replay that ends without is ErrNoPause.
func (s *Stage) AwaitPause(ctx context.Context, id string) (*reprisev1.Replay, error) {
	r, err := s.Await(ctx, id, func(r *reprisev1.Replay) bool { return r.GetState() == reprisev1.ReplayState_REPLAY_STATE_PAUSED })
	if errors.Is(err, io.EOF) {
		err = ErrNoPause
	}
	return r, err
}

// Await waits until the replay is as wanted, also across restarts of the server,
// and returns it as it was then. A replay that ends without is io.EOF.
func (s *Stage) Await(ctx context.Context, id string, wanted func(*reprisev1.Replay) bool) (*reprisev1.Replay, error) {
	conn, err := s.Client()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	for {
		r, err := watch(ctx, reprisev1.NewReplayServiceClient(conn), id, wanted)
		if status.Code(err) != codes.Unavailable || ctx.Err() != nil {
			return r, err
		}
	}
}

func watch(ctx context.Context, replays reprisev1.ReplayServiceClient, id string, wanted func(*reprisev1.Replay) bool) (*reprisev1.Replay, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := replays.WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: id}, grpc.WaitForReady(true))
	if err != nil {
		return nil, err
	}
	for {
		res, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if r := res.GetReplay(); wanted(r) {
			return r, nil
		}
	}
}
