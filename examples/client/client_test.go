// Package client_test is the smallest use of the generated client. It runs against a
// real server in this process. What a whole service adds is in ../intake-service.
package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
)

// A service creates a replay, follows it to its end and changes its mind on the
// way. No agent drives the machine here, so the replay waits until it is cancelled.
func Example() {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	// It stands for a reprised that runs somewhere; its machine's agent never comes.
	srv, err := servertest.New(ctx, servertest.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = srv.Close() }() // the example has been shown
	if err := srv.Register("desk-1"); err != nil {
		fmt.Println(err)
		return
	}
	conn, err := dial(srv.Addr(), srv.Token())
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
	// REPLAY_STATE_QUEUED: 0 of 2 actions settled
	// replay_ended CANCELLED
	// REPLAY_STATE_CANCELLED: 0 of 2 actions settled
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
	cancelled := false
	return follow(ctx, replays, id, func(change *reprisev1.WatchReplayResponse) error {
		for _, e := range change.GetEvents() {
			fmt.Println(e.GetType(), e.GetDetail())
		}
		r := change.GetReplay()
		fmt.Printf("%v: %d of %d actions settled\n", r.GetState(), r.GetSettledCount(), r.GetActionCount())
		if cancelled {
			return nil
		}
		cancelled = true
		_, err := replays.CancelReplay(ctx, &reprisev1.CancelReplayRequest{ReplayId: id, Reason: "not needed"})
		return err
	})
}

// Waits before a watch is opened again: each is twice the last one, up to the longest.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
)

// follow shows the replay as it is and then each change, until the replay has ended.
// Settled are the actions that are done, skipped or given up. A stream that ends with
// UNAVAILABLE is opened again, after the last revision that was seen: no event is
// missed and none comes twice. ../intake-service/call.go has what else passes by itself.
func follow(ctx context.Context, replays reprisev1.ReplayServiceClient, id string, show func(*reprisev1.WatchReplayResponse) error) error {
	var seen *int64 // the last revision; nil: none yet
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		before := seen
		err := watch(ctx, replays, &reprisev1.WatchReplayRequest{ReplayId: id, AfterRevision: seen}, func(change *reprisev1.WatchReplayResponse) error {
			seen = new(change.GetReplay().GetRevision())
			return show(change)
		})
		if status.Code(err) != codes.Unavailable {
			return err
		}
		if seen != before {
			wait = firstWait // the stream was a healthy one
		}
		select {
		case <-time.After(rand.N(wait)): // at random: those who failed together do not come back together
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch shows what comes on one stream; nil says that the replay has ended.
func watch(ctx context.Context, replays reprisev1.ReplayServiceClient, req *reprisev1.WatchReplayRequest, show func(*reprisev1.WatchReplayResponse) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // lets go of the stream
	stream, err := replays.WatchReplay(ctx, req)
	if err != nil {
		return err
	}
	for {
		change, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := show(change); err != nil {
			return err
		}
	}
}
