package control

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

// empty is a store on which a replay may be kept in memory.
type empty struct {
	Journal // of which nothing else is called
}

func (empty) Append(context.Context, []replay.Entry) error            { return nil }
func (empty) LiveOf(context.Context, string) ([]replay.Record, error) { return nil, nil }
func (empty) Live(context.Context, func(replay.Record) error) error   { return nil }
func (empty) EndedIDs(context.Context) (map[string][]string, error)   { return nil, nil }

// someMachines are the machines that are registered.
type someMachines map[string]bool

func (m someMachines) Registered(id string) bool { return m[id] }

func (m someMachines) MachineIDs() (ids []string) {
	for id := range m {
		ids = append(ids, id)
	}
	return ids
}

// camera takes a picture after some time, which is uploaded after some more.
type camera struct {
	takes, uploads time.Duration
	err            error
	masks          []replay.Mask
}

func (c *camera) Capture(ctx context.Context, _ string, masks []replay.Mask) (*reprisev1.EvidenceRef, error) {
	c.masks = masks
	if err := wait(ctx, c.takes); err != nil {
		return nil, err
	}
	return &reprisev1.EvidenceRef{Sha256: "abc"}, c.err
}

func (c *camera) Touch(string) error { return nil }

func (c *camera) Await(ctx context.Context, _ string) error { return wait(ctx, c.uploads) }

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A picture is answered once it can be downloaded, and not waited for longer than
// 30 s altogether.
func TestAPictureIsAnsweredOnceItIsThere(t *testing.T) {
	broken := rpcstatus.New(codes.FailedPrecondition, "CAPTURE_FAILED", "locked")
	for name, tt := range map[string]struct {
		camera *camera
		code   codes.Code
		took   time.Duration
	}{
		"taken and uploaded": {&camera{takes: time.Second, uploads: 2 * time.Second}, codes.OK, 3 * time.Second},
		"not taken":          {&camera{err: broken}, codes.FailedPrecondition, 0},
		"taken too late":     {&camera{takes: time.Minute}, codes.DeadlineExceeded, captureTimeout},
		"uploaded too late":  {&camera{takes: 20 * time.Second, uploads: 20 * time.Second}, codes.DeadlineExceeded, captureTimeout},
	} {
		inFleet(t, empty{}, func(ctx context.Context, fleet *dispatch.Fleet) {
			s := New(Config{Fleet: fleet, Pictures: tt.camera, Capturer: tt.camera, Machines: someMachines{"desk-1": true}, Registry: &registry.Registry{}})
			began := time.Now()
			res, err := s.CaptureScreen(ctx, &reprisev1.CaptureScreenRequest{MachineId: "desk-1"})
			if status.Code(err) != tt.code || time.Since(began) != tt.took || (err == nil) != (res.GetPicture().GetSha256() == "abc") {
				t.Errorf("%s: %v, %v after %v", name, res, err, time.Since(began))
			}
		})
	}
}

func TestACallerThatGoesAwayIsNotToldOfATimeout(t *testing.T) {
	inFleet(t, empty{}, func(ctx context.Context, fleet *dispatch.Fleet) {
		c := &camera{takes: time.Minute}
		s := New(Config{Fleet: fleet, Pictures: c, Capturer: c, Machines: someMachines{"desk-1": true}, Registry: &registry.Registry{}})
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := s.capture(ctx, "desk-1")
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errCaptureTimeout) {
			t.Error(err)
		}
	})
}

// What the replay that holds the machine hides is hidden from whoever looks.
func TestAPictureHidesWhatTheReplayHides(t *testing.T) {
	inFleet(t, empty{}, func(ctx context.Context, fleet *dispatch.Fleet) {
		c := &camera{}
		s := New(Config{Fleet: fleet, Pictures: c, Capturer: c, Machines: someMachines{"desk-1": true}, Registry: &registry.Registry{}})
		created, err := newCreated(&reprisev1.CreateReplayRequest{MachineId: "desk-1", Workflow: &reprisev1.Workflow{
			Name: "w", Actions: []*reprisev1.Action{{Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}}},
			Masks: []*reprisev1.Mask{{Monitor: 1, Left: .1, Top: .2, Width: .3, Height: .4}},
		}}, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.submit(ctx, "desk-1", created); err != nil {
			t.Fatal(err)
		}
		if _, err := s.capture(ctx, "desk-1"); err != nil {
			t.Fatal(err)
		}
		if want := (replay.Mask{Monitor: 1, Left: .1, Top: .2, Width: .3, Height: .4}); len(c.masks) != 1 || c.masks[0] != want {
			t.Errorf("%v", c.masks)
		}
	})
}

func TestAServerWithoutPicturesSaysSo(t *testing.T) {
	s := New(Config{Machines: someMachines{"desk-1": true}})
	if _, err := s.CaptureScreen(t.Context(), &reprisev1.CaptureScreenRequest{MachineId: "desk-1"}); status.Code(err) != codes.FailedPrecondition {
		t.Error(err)
	}
}

// A machine leaves the list when it is registered no more and has neither work nor
// an agent.
func TestAMachineThatIsNoMoreLeavesTheList(t *testing.T) {
	inFleet(t, empty{}, func(ctx context.Context, fleet *dispatch.Fleet) {
		known := someMachines{"desk-1": true, "desk-2": true}
		s := New(Config{Fleet: fleet, Machines: known, Registry: &registry.Registry{}})
		w := machineWatch{service: s, shown: map[string]*reprisev1.Machine{}}
		look := func(machines, removed int) {
			t.Helper()
			news, err := w.look(ctx, s.machineIDs())
			if err != nil || len(news.GetMachines()) != machines || len(news.GetRemovedMachineIds()) != removed {
				t.Errorf("%v, %v", news, err)
			}
		}
		look(2, 0)
		look(0, 0)
		if _, err := s.submit(ctx, "desk-2", replay.Created{MachineID: "desk-2", Steps: []replay.Step{{Kind: "wait"}}}); err != nil {
			t.Fatal(err)
		}
		delete(known, "desk-1")
		delete(known, "desk-2")
		look(1, 1) // desk-2 has work
		all, err := s.ListMachines(ctx, &reprisev1.ListMachinesRequest{})
		if err != nil || len(all.GetMachines()) != 1 || all.GetMachines()[0].GetMachineId() != "desk-2" {
			t.Errorf("%v, %v", all, err)
		}
	})
}
