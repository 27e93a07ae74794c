package control_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/host"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
	"github.com/reprise-rpa/reprise/server/settings"
	"github.com/reprise-rpa/reprise/server/tokens"
)

const machine = "desk-1"

// server is a whole server on a data folder, over a connection in memory.
type server struct {
	t        *testing.T
	dir      string
	listener *bufconn.Listener
	conn     *grpc.ClientConn
	replays  reprisev1.ReplayServiceClient
	machines reprisev1.MachineServiceClient
	tokens   *tokens.Store
	agents   context.Context // with the agent's token
	ctx      context.Context // with the operator's token
	log      *logBuffer
	shutdown func() // as on SIGTERM; returns when the server is gone
	stop     func()
}

// logBuffer is a log that a test reads while others write.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// withServer runs f in a bubble, with a server on an empty data folder.
func withServer(t *testing.T, f func(t *testing.T, s *server)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { f(t, start(t, dir)) })
}

func start(t *testing.T, dir string, change ...func(*settings.Settings)) *server {
	t.Helper()
	s := &server{t: t, dir: dir, listener: bufconn.Listen(1 << 20), log: &logBuffer{}}
	set := settings.Default()
	set.DataDir = dir
	for _, c := range change {
		c(&set)
	}
	ctx, stop := context.WithCancel(t.Context())
	h, err := host.New(ctx, host.Config{Settings: set, Version: "test", Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := h.Tokens().AddAgent(machine)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := os.ReadFile(filepath.Join(dir, tokens.OperatorFile))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx, s.listener, nil) }()
	s.conn, err = grpc.NewClient("passthrough:server", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStaticStreamWindowSize(1<<16), // so that a test knows how much fits
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return s.listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	s.tokens = h.Tokens()
	s.replays, s.machines = reprisev1.NewReplayServiceClient(s.conn), reprisev1.NewMachineServiceClient(s.conn)
	s.ctx, s.agents = bearer(t.Context(), string(operator)), bearer(t.Context(), agent)
	s.shutdown = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	s.stop = func() {
		_ = s.conn.Close()
		s.shutdown()
	}
	t.Cleanup(s.stop)
	return s
}

// register makes a machine known and returns the context of its agent.
func (s *server) register(machineID string) context.Context {
	s.t.Helper()
	token, err := s.tokens.AddAgent(machineID)
	if err != nil {
		s.t.Fatal(err)
	}
	return bearer(s.t.Context(), token)
}

func bearer(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+strings.TrimSpace(token))
}

// killed returns a server on what a kill -9 would have left of this one at this
// moment.
func (s *server) killed() *server {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, name := range []string{"journal.db", "journal.db-wal", tokens.File, tokens.OperatorFile} {
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return start(s.t, dir)
}

func (s *server) agent(spool string) *sessiontest.Agent {
	s.t.Helper()
	a, _ := sessiontest.Welcomed(s.t, s.agents, s.conn, sessiontest.Hello(machine, spool))
	return a
}

func (s *server) create(w *reprisev1.Workflow) *reprisev1.Replay {
	s.t.Helper()
	return s.submit(&reprisev1.CreateReplayRequest{MachineId: machine, Workflow: w})
}

func (s *server) submit(req *reprisev1.CreateReplayRequest) *reprisev1.Replay {
	s.t.Helper()
	res, err := s.replays.CreateReplay(s.ctx, req)
	if err != nil {
		s.t.Fatalf("create: %v", err)
	}
	return res.GetReplay()
}

func (s *server) get(id string) *reprisev1.Replay {
	s.t.Helper()
	res, err := s.replays.GetReplay(s.ctx, &reprisev1.GetReplayRequest{ReplayId: id})
	if err != nil {
		s.t.Fatalf("get: %v", err)
	}
	return res.GetReplay()
}

func (s *server) list() []*reprisev1.Replay {
	s.t.Helper()
	res, err := s.replays.ListReplays(s.ctx, &reprisev1.ListReplaysRequest{})
	if err != nil {
		s.t.Fatalf("list: %v", err)
	}
	return res.GetReplays()
}

func (s *server) pause(id string) {
	s.t.Helper()
	if _, err := s.replays.PauseReplay(s.ctx, &reprisev1.PauseReplayRequest{ReplayId: id}); err != nil {
		s.t.Fatalf("pause: %v", err)
	}
}

// clicks is a workflow of clicks with these names.
func clicks(names ...string) *reprisev1.Workflow {
	w := &reprisev1.Workflow{Name: "clicks"}
	for _, n := range names {
		w.Actions = append(w.Actions, click(n))
	}
	return w
}

func click(name string) *reprisev1.Action {
	return &reprisev1.Action{
		Name: name, Intention: "to " + name, Target: &reprisev1.Target{Point: &reprisev1.Point{X: .5, Y: .5}},
		Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}},
	}
}

// picture is a small PNG and its digest.
func picture(t *testing.T) (data []byte, digest string) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 3))); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(sum[:])
}

// refused checks an error's code and its reason.
func refused(t *testing.T, err error, code codes.Code, reason string) {
	t.Helper()
	if got := detail[*errdetails.ErrorInfo](err).GetReason(); status.Code(err) != code || got != reason {
		t.Errorf("%v with reason %q; want %v, %q", err, got, code, reason)
	}
}

// detail returns the first detail of a kind; nil: there is none.
func detail[T any](err error) T {
	for _, d := range status.Convert(err).Details() {
		if t, ok := d.(T); ok {
			return t
		}
	}
	var none T
	return none
}

func settled() { time.Sleep(time.Millisecond); synctest.Wait() }
