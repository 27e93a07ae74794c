// Package client_test shows a service that uses the generated client. It runs
// against a real server, which server_test.go starts in this process.
package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// A service creates a replay, follows it to its end and changes its mind on the
// way. No agent drives the machine here, so the replay waits until it is cancelled.
func Example() {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	address, token, end := startServer(ctx, "desk-1")
	defer end()

	conn, err := dial(address, token)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = conn.Close() }()
	if err := createAndFollow(ctx, reprisev1.NewReplayServiceClient(conn)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the same request again: the same replay
	// REPLAY_STATE_QUEUED: 0 of 2 actions done
	// replay_ended CANCELLED
	// REPLAY_STATE_CANCELLED: 0 of 2 actions done
}

// dial prepares a connection; the first call makes it. Over a network take
// credentials.NewTLS in the place of insecure: the server takes plain text on
// loopback only.
func dial(address, token string) (*grpc.ClientConn, error) {
	return grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(bearer(token)),
		// A dead path is noticed within 15 s; the server allows no shorter time than 5 s.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
	)
}

// bearer is a token that is shown with each call.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials; over a
// network it returns true.
func (bearer) RequireTransportSecurity() bool { return false }

func createAndFollow(ctx context.Context, replays reprisev1.ReplayServiceClient) error {
	req := &reprisev1.CreateReplayRequest{
		RequestId: uuid.NewString(), // a lost answer is no second replay: call again with the same id
		MachineId: "desk-1",
		Workflow: &reprisev1.Workflow{Name: "Say hello", Actions: []*reprisev1.Action{
			{Kind: &reprisev1.Action_KeyCombo{KeyCombo: &reprisev1.KeyCombo{Keys: []string{"ctrl", "n"}}}},
			{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: "Hello"}}}},
		}},
	}
	created, err := replays.CreateReplay(ctx, req)
	if err != nil {
		return err
	}
	id := created.GetReplay().GetReplayId()
	again, err := replays.CreateReplay(ctx, req)
	if err != nil {
		return err
	}
	if again.GetReplay().GetReplayId() == id {
		fmt.Println("the same request again: the same replay")
	}
	return follow(ctx, replays, id)
}

// follow shows the replay as it is and then each change. A stream that ends with
// UNAVAILABLE is simply opened again: its first answer says all that was missed.
func follow(ctx context.Context, replays reprisev1.ReplayServiceClient, id string) error {
	watch, err := replays.WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: id})
	if err != nil {
		return err
	}
	for first := true; ; first = false {
		change, err := watch.Recv()
		if errors.Is(err, io.EOF) {
			return nil // the replay has ended
		}
		if err != nil {
			return err
		}
		for _, e := range change.GetEvents() {
			fmt.Println(e.GetType(), e.GetDetail())
		}
		r := change.GetReplay()
		fmt.Printf("%v: %d of %d actions done\n", r.GetState(), r.GetSettledCount(), r.GetActionCount())
		if first {
			if _, err := replays.CancelReplay(ctx, &reprisev1.CancelReplayRequest{ReplayId: id, Reason: "not needed"}); err != nil {
				return err
			}
		}
	}
}
