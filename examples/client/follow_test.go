package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
)

// The server is killed between two changes, and the replay ends before the watch is
// open again.
func TestFollowingSurvivesARestartAndMissesNothing(t *testing.T) {
	srv := servertest.Start(t, servertest.Options{})
	if err := srv.Register("desk-1"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	replays := reprisev1.NewReplayServiceClient(srv.Conn())
	created, err := replays.CreateReplay(ctx, &reprisev1.CreateReplayRequest{MachineId: "desk-1", Workflow: &reprisev1.Workflow{
		Name: "Look", Actions: []*reprisev1.Action{{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	id := created.GetReplay().GetReplayId()
	var events []string
	changes := 0
	err = follow(ctx, replays, id, func(change *reprisev1.WatchReplayResponse) error {
		for _, e := range change.GetEvents() {
			events = append(events, e.GetType())
		}
		var err error
		switch changes++; changes {
		case 1:
			_, err = replays.PauseReplay(ctx, &reprisev1.PauseReplayRequest{ReplayId: id})
		case 2:
			if err := srv.Crash(); err != nil {
				return err
			}
			if err := srv.Restart(); err != nil {
				return err
			}
			_, err = replays.CancelReplay(ctx, &reprisev1.CancelReplayRequest{ReplayId: id}, grpc.WaitForReady(true))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"replay_paused", "replay_ended"}, events); diff != "" {
		t.Error(diff)
	}
}
