package interceptors

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/interceptors/metrics"
)

const (
	operator = "operator-token"
	agent    = "agent-token" // of machine desk-1
)

// verifier knows the two tokens until they are revoked.
type verifier struct {
	mu     sync.Mutex
	known  map[string]auth.Identity
	broken error
}

func newVerifier() *verifier {
	return &verifier{known: map[string]auth.Identity{
		operator: {Role: auth.RoleOperator, Name: "operator"},
		agent:    {Role: auth.RoleAgent, Machine: "desk-1", Name: "desk-1"},
	}}
}

func (v *verifier) Authenticate(token string) (auth.Identity, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.broken != nil {
		return auth.Identity{}, v.broken
	}
	id, ok := v.known[token]
	if !ok {
		return id, auth.ErrUnknownToken
	}
	return id, nil
}

func (v *verifier) change(f func(*verifier)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f(v)
}

// services stand in for the server's: they answer, or do what the test says.
type services struct {
	reprisev1.UnimplementedAgentServiceServer
	reprisev1.UnimplementedEvidenceServiceServer
	reprisev1.UnimplementedReplayServiceServer
	reprisev1.UnimplementedMachineServiceServer
	list    func(context.Context) error
	connect func(grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]) error
}

func (s *services) ListMachines(ctx context.Context, _ *reprisev1.ListMachinesRequest) (*reprisev1.ListMachinesResponse, error) {
	if s.list != nil {
		return nil, s.list(ctx)
	}
	return &reprisev1.ListMachinesResponse{}, nil
}

func (s *services) FindMissing(context.Context, *reprisev1.FindMissingRequest) (*reprisev1.FindMissingResponse, error) {
	return &reprisev1.FindMissingResponse{}, nil
}

func (s *services) CancelReplay(context.Context, *reprisev1.CancelReplayRequest) (*reprisev1.CancelReplayResponse, error) {
	return &reprisev1.CancelReplayResponse{}, nil
}

// Connect answers each message with a Pong, unless the test says something else.
func (s *services) Connect(stream grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]) error {
	if s.connect != nil {
		return s.connect(stream)
	}
	for {
		if _, err := stream.Recv(); err != nil {
			return err
		}
		if err := stream.Send(&reprisev1.ConnectResponse{Message: &reprisev1.ConnectResponse_Pong{Pong: &reprisev1.Pong{}}}); err != nil {
			return err
		}
	}
}

// bench is a server with the whole chain, and a connection to it.
type bench struct {
	*services
	verifier *verifier
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	log      *lines
	server   *grpc.Server
	conn     *grpc.ClientConn
}

func (b *bench) machines() reprisev1.MachineServiceClient {
	return reprisev1.NewMachineServiceClient(b.conn)
}

func (b *bench) connect(ctx context.Context, t *testing.T) grpc.BidiStreamingClient[reprisev1.ConnectRequest, reprisev1.ConnectResponse] {
	t.Helper()
	stream, err := reprisev1.NewAgentServiceClient(b.conn).Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// lines is a log that the test reads.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// within runs test with a bench inside a bubble.
func within(t *testing.T, test func(*testing.T, *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{services: &services{}, verifier: newVerifier(), registry: prometheus.NewRegistry(), log: &lines{}}
		log := slog.New(slog.NewTextHandler(b.log, nil))
		guard := auth.New(b.verifier, log)
		var err error
		if b.metrics, err = metrics.New(b.registry); err != nil {
			t.Fatal(err)
		}
		options, err := Server(Config{Auth: guard, Metrics: b.metrics, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- guard.Run(ctx) }()
		listener := bufconn.Listen(1 << 20)
		b.server = grpc.NewServer(options...)
		register(b)
		go func() { ended <- b.server.Serve(listener) }()
		b.conn, err = grpc.NewClient("passthrough:bufconn", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
		if err != nil {
			t.Fatal(err)
		}
		test(t, b)
		_ = b.conn.Close()
		b.server.Stop()
		stop()
		for range 2 {
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}

func register(b *bench) {
	reprisev1.RegisterAgentServiceServer(b.server, b.services)
	reprisev1.RegisterEvidenceServiceServer(b.server, b.services)
	reprisev1.RegisterReplayServiceServer(b.server, b.services)
	reprisev1.RegisterMachineServiceServer(b.server, b.services)
	healthpb.RegisterHealthServer(b.server, health.NewServer())
	reflection.Register(b.server)
}

func with(t *testing.T, token string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
}

func wantCode(t *testing.T, what string, err error, want codes.Code) {
	t.Helper()
	if status.Code(err) != want {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestTheChainNeedsAuthentication(t *testing.T) {
	if _, err := Server(Config{}); err == nil {
		t.Error("a chain without authentication")
	}
}
