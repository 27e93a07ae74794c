package control

import (
	"context"
	"errors"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/validation"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/evidence"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// heads is a store that keeps heads alone.
type heads struct {
	empty
	mu    sync.Mutex
	known map[string]replay.Head
}

func (h *heads) Append(_ context.Context, entries []replay.Entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range entries {
		h.known[e.Head.ReplayID] = e.Head
	}
	return nil
}

func (h *heads) Head(_ context.Context, id string) (replay.Head, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head, ok := h.known[id]
	if !ok {
		return head, replay.ErrNotFound
	}
	return head, nil
}

func (h *heads) HeadByRequest(context.Context, string) (replay.Head, error) {
	return replay.Head{}, replay.ErrNotFound
}

type noPictures struct{}

func (noPictures) Touch(string) error                        { return evidence.ErrNotFound }
func (noPictures) Await(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }

// Arbitrary bytes as a request: no panic, and either an error that is the
// caller's, or a replay that is stored.
func FuzzCreateReplay(f *testing.F) {
	for _, req := range []*reprisev1.CreateReplayRequest{
		{},
		{MachineId: "m", Workflow: &reprisev1.Workflow{Name: "w"}, LeaveOpen: true},
		{MachineId: "m", RequestId: "r", Labels: map[string]string{"a": "b"}, Workflow: &reprisev1.Workflow{
			Name: "w", Masks: []*reprisev1.Mask{{Width: 1, Height: 1}}, MonitorResolution: &reprisev1.MonitorResolution{Index: 1},
			Actions: []*reprisev1.Action{
				{Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, Target: &reprisev1.Target{Point: &reprisev1.Point{X: .5}}},
				{Kind: &reprisev1.Action_Drag{Drag: &reprisev1.Drag{To: &reprisev1.Target{ByText: "x"}}}, Target: &reprisev1.Target{AnchorImage: &reprisev1.AnchorImage{}}},
				{Kind: &reprisev1.Action_Wait{Wait: &reprisev1.Wait{Duration: durationpb.New(1)}}, RetryPolicy: &reprisev1.RetryPolicy{MaxRetries: proto.Int32(2)}},
				{Kind: &reprisev1.Action_PauseForHuman{PauseForHuman: &reprisev1.PauseForHuman{}}, SafetyChecks: []*reprisev1.SafetyCheck{{Id: "a", Label: "A"}}},
			},
		}},
	} {
		raw, err := proto.Marshal(req)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	s, check := fuzzed(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		req := &reprisev1.CreateReplayRequest{}
		if err := validation.Codec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, req); err != nil {
			t.Fatal(err)
		}
		if check(req) != nil {
			return
		}
		res, err := s.CreateReplay(t.Context(), req)
		switch status.Code(err) {
		case codes.OK:
			id := res.GetReplay().GetReplayId()
			if id == "" != req.GetValidateOnly() {
				t.Fatalf("%v is answered with %v", req, res)
			}
			if id != "" { // it is stored, or it could not be cancelled
				if _, err := s.CancelReplay(t.Context(), &reprisev1.CancelReplayRequest{ReplayId: id}); err != nil {
					t.Errorf("%s was answered and is not there: %v", id, err)
				}
			}
		case codes.InvalidArgument, codes.FailedPrecondition, codes.NotFound:
		default:
			t.Errorf("%v is answered with %v", req, err)
		}
	})
}

// fuzzed is a service on machine m alone, and the check that stands before it.
func fuzzed(f *testing.F) (*Service, func(any) error) {
	f.Helper()
	v, err := validation.New()
	if err != nil {
		f.Fatal(err)
	}
	store := &heads{known: map[string]replay.Head{}}
	ctx, stop := context.WithCancel(f.Context())
	fleet, err := dispatch.Recover(ctx, dispatch.FleetConfig{Store: store, Observer: quiet{}})
	if err != nil {
		f.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- fleet.Run(ctx) }()
	f.Cleanup(func() {
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			f.Errorf("the fleet ended with %v", err)
		}
	})
	return New(Config{
		Journal: store, Fleet: fleet, Machines: someMachines{"m": true}, Pictures: noPictures{}, Registry: &registry.Registry{},
	}), v.Check
}
