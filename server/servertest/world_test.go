package servertest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/servertest"
)

// shared is for tests that need a machine and nothing of the server's own.
var shared *servertest.Server

func TestMain(m *testing.M) {
	var err error
	if shared, err = servertest.New(context.Background(), servertest.Options{}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code := m.Run()
	if err := errors.Join(shared.Close(), leaked()); err != nil {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

// patience is how long a test without a bubble waits for what must come.
const patience = 5 * time.Minute

// leaked waits until what has been closed has ended, and says what has not.
func leaked() error {
	for late := time.Now().Add(patience); ; {
		if err := goleak.Find(); err == nil || time.Now().After(late) {
			return err
		}
	}
}

// The states, short.
const (
	paused    = reprisev1.ReplayState_REPLAY_STATE_PAUSED
	completed = reprisev1.ReplayState_REPLAY_STATE_COMPLETED
	cancelled = reprisev1.ReplayState_REPLAY_STATE_CANCELLED
)

// world is a server with one machine, and what a caller has of them.
type world struct {
	*servertest.Server
	t       *testing.T
	ctx     context.Context
	desk    *servertest.Agent
	replays reprisev1.ReplayServiceClient
}

// at returns the world with another machine.
func (w *world) at(machine string) *world {
	w.t.Helper()
	other := *w
	other.desk = w.Agent(machine, nil)
	return &other
}

// newMachine is a world on the shared server, whose machine has the test's name.
var machines atomic.Int64

func newMachine(t *testing.T, script servertest.Script) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	// A machine of its own, also when the test is run again on the same server.
	name := fmt.Sprintf("%d-%s", machines.Add(1), t.Name())
	desk, err := shared.NewAgent(ctx, name[:min(len(name), 63)], script)
	w := &world{Server: shared, t: t, ctx: ctx, desk: desk, replays: reprisev1.NewReplayServiceClient(shared.Conn())}
	w.must(err)
	return w
}

// bubble runs a test in a world where waiting takes no time.
func bubble(t *testing.T, f func(*testing.T, *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { f(t, worldFor(t, 3*time.Hour, servertest.Options{Dir: dir})) })
}

// newWorld is a world with a server of its own.
func newWorld(t *testing.T, o servertest.Options) *world {
	t.Helper()
	return worldFor(t, patience, o)
}

func worldFor(t *testing.T, longest time.Duration, o servertest.Options) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	t.Cleanup(cancel)
	srv := servertest.Start(t, o)
	return &world{
		Server: srv, t: t, ctx: ctx, desk: srv.Agent("desk-1", nil), replays: reprisev1.NewReplayServiceClient(srv.Conn()),
	}
}

// step is a click that is named.
func step(name string) *reprisev1.Action {
	return &reprisev1.Action{
		Name: name, Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, Target: &reprisev1.Target{Point: &reprisev1.Point{X: .5, Y: .5}},
	}
}

// create queues a replay of clicks.
func (w *world) create(steps ...string) string {
	w.t.Helper()
	return w.submit(workflow(steps...))
}

func (w *world) submit(wf *reprisev1.Workflow) string {
	w.t.Helper()
	res, err := w.replays.CreateReplay(w.ctx, &reprisev1.CreateReplayRequest{MachineId: w.desk.MachineID(), Workflow: wf})
	w.must(err)
	return res.GetReplay().GetReplayId()
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) await(id string, states ...reprisev1.ReplayState) *reprisev1.Replay {
	w.t.Helper()
	r, err := w.Await(w.ctx, id, states...)
	w.must(err)
	return r
}

// pausedFor waits for a pause and compares its reason.
func (w *world) pausedFor(id string, want reprisev1.PauseReason) *reprisev1.Replay {
	w.t.Helper()
	r := w.await(id, paused)
	if got := r.GetPause().GetReason(); got != want {
		w.t.Errorf("the replay is paused for %v, want %v", got, want)
	}
	return r
}

func (w *world) resume(id string, decision reprisev1.ResumeDecision) {
	w.t.Helper()
	_, err := w.replays.ResumeReplay(w.ctx, &reprisev1.ResumeReplayRequest{ReplayId: id, Decision: decision})
	w.must(err)
}

func (w *world) executed(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.desk.Executed()); diff != "" {
		w.t.Errorf("executed (-want +got):\n%s", diff)
	}
}
