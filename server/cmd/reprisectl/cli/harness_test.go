package cli

import (
	"bytes"
	"context"
	"flag"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

// host runs the fake, and can kill and restart it as a process would.
type host struct {
	fake *fake
	mu   sync.Mutex
	lis  *bufconn.Listener
	srv  *grpc.Server
}

func (h *host) start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lis, h.srv = bufconn.Listen(1<<20), grpc.NewServer()
	reprisev1.RegisterReplayServiceServer(h.srv, h.fake)
	reprisev1.RegisterMachineServiceServer(h.srv, h.fake)
	reprisev1.RegisterEvidenceServiceServer(h.srv, h.fake)
	go func(s *grpc.Server, l net.Listener) { _ = s.Serve(l) }(h.srv, h.lis)
}

// kill cuts all connections; a handler must not wait for it.
func (h *host) kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.srv != nil {
		h.srv.Stop()
		h.srv, h.lis = nil, nil
	}
}

func (h *host) dial(ctx context.Context, _ string) (net.Conn, error) {
	h.mu.Lock()
	lis := h.lis
	h.mu.Unlock()
	if lis == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrNotExist}
	}
	return lis.DialContext(ctx)
}

// result is what a run of the program left.
type result struct {
	exit           int
	stdout, stderr string
}

// ctl runs the program against a fake.
func ctl(t *testing.T, f *fake, args ...string) result {
	t.Helper()
	h := &host{fake: f}
	h.start()
	defer h.kill()
	return ctlAt(t, h, args...)
}

func ctlAt(t *testing.T, h *host, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	exit := Main(t.Context(), Env{
		Args: args, Stdout: &stdout, Stderr: &stderr, Version: "v1.2.3", Dial: []grpc.DialOption{grpc.WithContextDialer(h.dial)},
	})
	return result{exit, stdout.String(), stderr.String()}
}

func wantExit(t *testing.T, got result, want int) {
	t.Helper()
	if got.exit != want {
		t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", got.exit, want, got.stdout, got.stderr)
	}
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *updateGolden {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

// at is a moment of the tests' day, in milliseconds after noon.
func at(ms int) *timestamppb.Timestamp {
	return timestamppb.New(time.Date(2026, 3, 1, 12, 0, 0, ms*int(time.Millisecond), time.UTC))
}

// Short names for the states.
const (
	queued    = reprisev1.ReplayState_REPLAY_STATE_QUEUED
	runs      = reprisev1.ReplayState_REPLAY_STATE_RUNNING
	paused    = reprisev1.ReplayState_REPLAY_STATE_PAUSED
	completed = reprisev1.ReplayState_REPLAY_STATE_COMPLETED
	failedNow = reprisev1.ReplayState_REPLAY_STATE_FAILED
	cancelled = reprisev1.ReplayState_REPLAY_STATE_CANCELLED
)

// replay is a replay of three actions, so many of them done.
func replay(state reprisev1.ReplayState, done int, actions ...*reprisev1.ActionStatus) *reprisev1.Replay {
	r := &reprisev1.Replay{
		ReplayId: "r-1", MachineId: "desk-1", WorkflowName: "Patients", State: state, ActionCount: 3, SettledCount: int32(done),
		Supervision: reprisev1.Supervision_SUPERVISION_SUPERVISED, CreatedAt: at(0), UpdatedAt: at(100 * done), Revision: int64(done + 1), Actions: actions,
	}
	if ended(r) {
		r.EndedAt = at(4200)
	}
	return r
}

var stepNames = []string{"open", "", "send"}

// action is the step of that index, in a state.
func action(step int, state reprisev1.ActionState) *reprisev1.ActionStatus {
	id := "r-1/" + string(rune('a'+step))
	return &reprisev1.ActionStatus{ActionId: id, Step: int32(step), Name: stepNames[step], Kind: "click", State: state, Deliveries: 1, Intention: "do the step"}
}

// event is what happened, at a moment.
func event(ms int, kind, actionID, detail string) *reprisev1.ReplayEvent {
	return &reprisev1.ReplayEvent{Revision: int64(ms), At: at(ms), Type: kind, ActionId: actionID, Detail: detail}
}

func tell(r *reprisev1.Replay, events ...*reprisev1.ReplayEvent) *reprisev1.WatchReplayResponse {
	return &reprisev1.WatchReplayResponse{Replay: r, Events: events}
}

// script is a watch that sends responses and ends.
func script(responses ...*reprisev1.WatchReplayResponse) func(int, watchStream) error {
	return func(_ int, st watchStream) error {
		for _, r := range responses {
			if err := st.Send(r); err != nil {
				return err
			}
		}
		return nil
	}
}
