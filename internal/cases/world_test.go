package cases

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"github.com/reprise-rpa/reprise/agent/agent"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/settings"
	"github.com/reprise-rpa/reprise/server/tokens"
)

// world is a server and a station in one bubble: an agent with a desktop that
// counts, and a relay between it and the server. There may be further stations.
type world struct {
	*station
	ctx      context.Context
	base     context.Context // ctx without the operator's token
	replays  reprisev1.ReplayServiceClient
	fleet    reprisev1.MachineServiceClient
	evidence reprisev1.EvidenceServiceClient
	with     setup
	secret   string // the credential of machine M
	log      *told  // what the server and the agents logged
	logger   *slog.Logger
	server   *running
	dir      string            // the server's data folder
	door     *door             // to the server that is there now
	scrape   *bufconn.Listener // the metrics' port
}

const machineID = "M"

// setup is what a case may change before its world begins.
type setup struct {
	server settings.Settings
	agent  func(*agent.Config) // nil changes nothing
}

// newWorld starts them. Each change is made to the settings of both sides before.
func newWorld(t *testing.T, change ...func(*setup)) *world {
	t.Helper()
	w := &world{station: &station{t: t}, log: &told{}, dir: t.TempDir(), door: &door{}, with: setup{server: settings.Default()}}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	w.base = ctx
	w.logger = slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), w.log), &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, c := range change {
		c(&w.with)
	}
	host := w.startServer()
	var err error
	w.secret, err = host.Tokens().AddAgent(machineID)
	w.must(err)
	operator := connect(t, w.door.dial, grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	w.replays, w.fleet = reprisev1.NewReplayServiceClient(operator), reprisev1.NewMachineServiceClient(operator)
	w.evidence = reprisev1.NewEvidenceServiceClient(operator)
	w.ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+operatorToken(t, w.dir))
	w.station = w.newStation()
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// connect returns a connection that is made anew as soon as it can be.
func connect(t *testing.T, dial func(context.Context, string) (net.Conn, error), options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:bufconn", append(options, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(dial), grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{
			BaseDelay: 10 * time.Millisecond, Multiplier: 1, MaxDelay: 10 * time.Millisecond,
		}}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// create queues a replay of n clicks, each at a place of its own.
func (w *world) create(n int) string {
	w.t.Helper()
	actions := make([]*reprisev1.Action, 0, n)
	for i := range n {
		actions = append(actions, &reprisev1.Action{
			Name: fmt.Sprintf("click %d", i+1), Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}},
			Target: &reprisev1.Target{Point: &reprisev1.Point{X: place(i + 1), Y: 0.5}},
		})
	}
	return w.createWith(actions...)
}

// createWith queues a replay of actions.
func (w *world) createWith(actions ...*reprisev1.Action) string {
	w.t.Helper()
	wf := &reprisev1.Workflow{Name: "case", Actions: actions}
	res, err := w.replays.CreateReplay(w.ctx, &reprisev1.CreateReplayRequest{MachineId: machineID, Workflow: wf})
	w.must(err)
	return res.GetReplay().GetReplayId()
}

// place is where the nth click goes: 10 pixels further each.
func place(n int) float64 { return (float64(n*10) + 0.5) / float64(screen.Dx()) }

// clicked compares the clicks that the desktop counted, by their number, in order.
func (w *world) clicked(want ...int) {
	w.t.Helper()
	var got []int
	for _, x := range w.desktop.clicks() {
		got = append(got, x/10)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the desktop counted the clicks %v, want %v", got, want)
	}
}

func (w *world) get(id string) *reprisev1.Replay {
	w.t.Helper()
	res, err := w.replays.GetReplay(w.ctx, &reprisev1.GetReplayRequest{ReplayId: id})
	w.must(err)
	return res.GetReplay()
}

// await watches the replay until it is in a state.
func (w *world) await(id string, want reprisev1.ReplayState) *reprisev1.Replay {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, time.Hour)
	defer cancel()
	watch, err := w.replays.WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: id})
	w.must(err)
	for {
		res, err := watch.Recv()
		if err != nil {
			w.t.Fatalf("the replay came to no %v: %v", want, err)
		}
		if res.GetReplay().GetState() == want {
			return w.get(id)
		}
	}
}

func (w *world) completed(id string) *reprisev1.Replay {
	w.t.Helper()
	return w.await(id, reprisev1.ReplayState_REPLAY_STATE_COMPLETED)
}

func (w *world) pause(id string) *reprisev1.Replay {
	w.t.Helper()
	res, err := w.replays.PauseReplay(w.ctx, &reprisev1.PauseReplayRequest{ReplayId: id})
	w.must(err)
	return res.GetReplay()
}

func (w *world) resume(id string) {
	w.t.Helper()
	_, err := w.replays.ResumeReplay(w.ctx, &reprisev1.ResumeReplayRequest{ReplayId: id})
	w.must(err)
}

func (w *world) cancel(id string) {
	w.t.Helper()
	_, err := w.replays.CancelReplay(w.ctx, &reprisev1.CancelReplayRequest{ReplayId: id})
	w.must(err)
}

func (w *world) machine() *reprisev1.Machine {
	w.t.Helper()
	res, err := w.fleet.ListMachines(w.ctx, &reprisev1.ListMachinesRequest{})
	w.must(err)
	for _, m := range res.GetMachines() {
		if m.GetMachineId() == machineID {
			return m
		}
	}
	w.t.Fatalf("no machine %s", machineID)
	return nil
}

func operatorToken(t *testing.T, dir string) string {
	t.Helper()
	return readToken(t, dir, tokens.OperatorFile)
}

func readToken(t *testing.T, dir, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}
