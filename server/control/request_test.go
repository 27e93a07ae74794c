package control

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// rival is a journal to which an earlier call of the same caller writes at the
// last moment: after the request id was looked for, before it is taken.
type rival struct {
	Journal // of which nothing else is called
	mu      sync.Mutex
	hash    string // of the earlier call's body; empty: the same as this one's
	taken   replay.Head
}

func (r *rival) Append(_ context.Context, entries []replay.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken = entries[0].Head; r.hash != "" {
		r.taken.RequestHash = r.hash
	}
	r.taken.ReplayID = "r-earlier"
	return replay.ErrRequestIDTaken
}

func (r *rival) HeadByRequest(context.Context, string) (replay.Head, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken.ReplayID == "" {
		return replay.Head{}, replay.ErrNotFound
	}
	return r.taken, nil
}

func (r *rival) LiveOf(context.Context, string) ([]replay.Record, error) { return nil, nil }
func (r *rival) Live(context.Context, func(replay.Record) error) error   { return nil }
func (r *rival) EndedIDs(context.Context) (map[string][]string, error)   { return nil, nil }

type quiet struct{}

func (quiet) Note(string, dispatch.Note)    {}
func (quiet) Changed(string, dispatch.View) {}
func (quiet) Appended(time.Duration, error) {}
func (quiet) InFlight(string, int)          {}

type anyMachine struct{}

func (anyMachine) Registered(string) bool { return true }
func (anyMachine) MachineIDs() []string   { return nil }

// inFleet runs f in a bubble, with a fleet over a store.
func inFleet(t *testing.T, store dispatch.Store, f func(ctx context.Context, fleet *dispatch.Fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		fleet, err := dispatch.Recover(ctx, dispatch.FleetConfig{Store: store, Observer: quiet{}})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- fleet.Run(ctx) }()
		f(ctx, fleet)
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the fleet ended with %v", err)
		}
	})
}

// A caller that asks again while its first call is still under way gets the
// replay of the first call; a caller with another body is refused.
func TestARequestThatIsOvertakenByItselfIsAnswered(t *testing.T) {
	for hash, want := range map[string]codes.Code{"": codes.OK, "of another body": codes.AlreadyExists} {
		j := &rival{hash: hash}
		inFleet(t, j, func(ctx context.Context, fleet *dispatch.Fleet) {
			s := New(Config{Journal: j, Fleet: fleet, Machines: anyMachine{}, Registry: &registry.Registry{}})
			res, err := s.CreateReplay(ctx, &reprisev1.CreateReplayRequest{RequestId: "job-1", MachineId: "desk-1", Workflow: &reprisev1.Workflow{
				Name: "w", Actions: []*reprisev1.Action{{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}},
			}})
			if status.Code(err) != want || err == nil && res.GetReplay().GetReplayId() != "r-earlier" {
				t.Errorf("%v, %v; want %v", res, err, want)
			}
		})
	}
}
