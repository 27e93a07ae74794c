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
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"github.com/reprise-rpa/reprise/agent/agent"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/host"
	"github.com/reprise-rpa/reprise/server/settings"
	"github.com/reprise-rpa/reprise/server/tokens"
)

// world is a server and an agent in one bubble, with a relay between them and a
// desktop that counts.
type world struct {
	t        *testing.T
	ctx      context.Context
	desktop  *countingDesktop
	relay    *relay
	replays  reprisev1.ReplayServiceClient
	fleet    reprisev1.MachineServiceClient
	evidence reprisev1.EvidenceServiceClient
	agent    *running
	start    func() *running
	log      *told             // what the server and the agent logged
	scrape   *bufconn.Listener // the metrics' port
}

// running is something that runs until it is stopped.
type running struct {
	stop context.CancelFunc
	done chan struct{}
	err  error // read after done
}

func run(ctx context.Context, f func(context.Context) error) *running {
	ctx, stop := context.WithCancel(ctx)
	r := &running{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = f(ctx)
	}()
	return r
}

func (r *running) end() {
	r.stop()
	<-r.done
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
	w := &world{t: t, desktop: newDesktop(), log: &told{}, scrape: bufconn.Listen(1 << 16)}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	log := slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), w.log), &slog.HandlerOptions{Level: slog.LevelDebug}))
	with := setup{server: settings.Default()}
	for _, c := range change {
		c(&with)
	}
	s := with.server
	s.DataDir = t.TempDir()
	h, err := host.New(ctx, host.Config{Settings: s, Version: "test", Log: log})
	w.must(err)
	secret, err := h.Tokens().AddAgent(machineID)
	w.must(err)
	lis := bufconn.Listen(1 << 20)
	server := run(ctx, func(ctx context.Context) error { return h.Run(ctx, lis, w.scrape) })
	operator := connect(t, lis)
	w.replays, w.fleet = reprisev1.NewReplayServiceClient(operator), reprisev1.NewMachineServiceClient(operator)
	w.evidence = reprisev1.NewEvidenceServiceClient(operator)
	w.ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+operatorToken(t, s.DataDir))

	onward := connect(t, lis)
	w.relay = &relay{server: reprisev1.NewAgentServiceClient(onward), pictures: pictures{to: reprisev1.NewEvidenceServiceClient(onward)}}
	between := bufconn.Listen(1 << 20)
	relayServer := grpc.NewServer()
	reprisev1.RegisterAgentServiceServer(relayServer, w.relay)
	reprisev1.RegisterEvidenceServiceServer(relayServer, w.relay)
	relays := run(ctx, func(context.Context) error { return relayServer.Serve(between) })
	spool := t.TempDir()
	w.start = func() *running { return w.newAgent(ctx, between, secret, spool, log, with.agent) }
	w.agent = w.start()
	t.Cleanup(func() {
		w.agent.end()
		relayServer.Stop()
		relays.end()
		server.end()
	})
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func connect(t *testing.T, lis *bufconn.Listener) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:bufconn", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
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

func (w *world) stopAgent() { w.agent.end() }

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

func (w *world) newAgent(ctx context.Context, lis *bufconn.Listener, token, dir string, log *slog.Logger, change func(*agent.Config)) *running {
	w.t.Helper()
	cfg := agent.Config{
		Server: "localhost:1", MachineID: machineID, Driver: w.desktop, StateDir: dir, Version: "test", Log: log,
		Token:  func() (string, error) { return token, nil },
		Dial:   func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) },
		Random: func() float64 { return 0.5 },
	}
	if change != nil {
		change(&cfg)
	}
	a, err := agent.New(cfg)
	w.must(err)
	return run(ctx, a.Run)
}
