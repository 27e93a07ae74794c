package servertest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/reprise-rpa/reprise/server/host"
	"github.com/reprise-rpa/reprise/server/tokens"
)

// ErrStopped says that the server is stopped: restart it first.
var ErrStopped = errors.New("servertest: the server is stopped")

// Server is one server in memory. Its methods may be called from any goroutine.
type Server struct {
	opts  Options
	log   *slog.Logger
	ctx   context.Context // never ends: the server lives until Close
	dir   string
	owned bool // dir goes with the server
	token string
	conn  *grpc.ClientConn
	fatal func(error) // what to do about an error that no caller is told

	change sync.Mutex // held by whoever starts or stops
	mu     sync.Mutex
	up     *instance // nil: stopped
	addr   string    // of Listen, once it is known
	agents map[string]*Agent
	closed bool
}

// instance is the server between a start and a stop.
type instance struct {
	host  *host.Host
	lis   net.Listener
	inner *bufconn.Listener // what is dialled; nil: lis itself, by its address
	stop  context.CancelFunc
	ended chan error
}

// Start is [New] for a test: the server ends with it, and what goes wrong fails it.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(tb.Output(), nil))
	}
	if o.Dir == "" {
		o.Dir = tb.TempDir()
	}
	s, err := New(context.WithoutCancel(tb.Context()), o)
	if err != nil {
		tb.Fatal(err)
	}
	s.fatal = func(err error) { tb.Helper(); tb.Fatal(err) }
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// New starts a server; the caller closes it. It serves when New returns.
func New(ctx context.Context, o Options) (*Server, error) {
	s := &Server{
		opts: o, log: o.Log, ctx: context.WithoutCancel(ctx), dir: o.Dir, agents: map[string]*Agent{},
		fatal: func(err error) { panic(err) },
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) open() (err error) {
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "reprise-servertest-*"); err != nil {
			return fmt.Errorf("servertest: %w", err)
		}
		s.owned = true
	}
	if err := s.Restart(); err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(s.dir, tokens.OperatorFile))
	if err != nil {
		return fmt.Errorf("servertest: the operator's token: %w", err)
	}
	s.token = strings.TrimSpace(string(token))
	s.conn, err = s.Dial()
	return err
}

// Conn returns a connection with the operator's token. It outlives restarts, and
// ends with the server.
func (s *Server) Conn() *grpc.ClientConn { return s.conn }

// Token returns the operator's token, for services that dial by themselves.
func (s *Server) Token() string { return s.token }

// Addr returns the address that the server listens on; empty unless
// [Options].Listen names one.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Stop takes the server away as its machine's power switch would, but that the
// drain timeout of its settings counts: calls fail with UNAVAILABLE, streams break,
// and agents try to come back. Stopping a stopped server changes nothing.
func (s *Server) Stop() error {
	s.change.Lock()
	defer s.change.Unlock()
	return s.stop()
}

func (s *Server) stop() error {
	s.mu.Lock()
	in := s.up
	s.up = nil
	s.mu.Unlock()
	if in == nil {
		return nil
	}
	in.stop()
	if err := <-in.ended; err != nil {
		return fmt.Errorf("servertest: the server ended with %w", err)
	}
	return nil
}

// Restart starts the server again on what lies in its folder, after stopping it if
// it runs. It serves when Restart returns.
func (s *Server) Restart() error {
	s.change.Lock()
	defer s.change.Unlock()
	if err := s.stop(); err != nil {
		return err
	}
	h, err := host.New(s.ctx, host.Config{Settings: s.opts.settings(s.dir), Version: "servertest", Log: s.log})
	if err != nil {
		return fmt.Errorf("servertest: start the server: %w", err)
	}
	in := &instance{host: h, ended: make(chan error, 1)}
	listened := s.listen(in)
	ctx, stop := context.WithCancel(s.ctx)
	in.stop = stop
	if listened != nil {
		stop() // run it all the same: that is what closes what it has opened
	}
	go func() { in.ended <- h.Run(ctx, in.lis, nil) }()
	if listened != nil {
		return errors.Join(listened, <-in.ended)
	}
	s.mu.Lock()
	if s.up = in; s.opts.Listen != "" {
		s.addr = in.lis.Addr().String()
	}
	s.mu.Unlock()
	return s.serves()
}

// serves returns when the server answers.
func (s *Server) serves() error {
	conn, err := s.dial("") // health needs no token
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	_, err = healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("servertest: the server does not serve: %w", err)
	}
	return nil
}

// listen makes what the instance accepts connections on. It is something even
// when it fails.
func (s *Server) listen(in *instance) error {
	in.inner = bufconn.Listen(1 << 20)
	in.lis = in.inner
	address := s.opts.Listen
	if address == "" {
		return nil
	}
	if known := s.Addr(); known != "" {
		address = known
	}
	lis, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("servertest: %w", err)
	}
	in.lis, in.inner = lis, nil
	return nil
}

// Close ends agents, connections and the server. A folder that [New] has made is
// removed.
func (s *Server) Close() error {
	s.mu.Lock()
	agents := s.agents
	s.agents, s.closed = nil, true
	s.mu.Unlock()
	for _, a := range agents {
		a.end()
	}
	var errs []error
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	errs = append(errs, s.Stop())
	if s.owned {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// Register registers a machine whose agent never comes.
func (s *Server) Register(machineID string) error {
	_, err := s.register(machineID)
	return err
}

func (s *Server) register(machineID string) (secret string, err error) {
	s.mu.Lock()
	in := s.up
	s.mu.Unlock()
	if in == nil {
		return "", ErrStopped
	}
	if secret, err = in.host.Tokens().AddAgent(machineID); err != nil {
		return "", fmt.Errorf("servertest: %w", err)
	}
	return secret, nil
}

// Agent is [Server.NewAgent] for a test: what goes wrong fails the test of [Start],
// and panics on a server of [New].
func (s *Server) Agent(machineID string, script Script) *Agent {
	a, err := s.NewAgent(s.ctx, machineID, script)
	if err != nil {
		s.fatal(err)
	}
	return a
}

// patience is how long a new agent may take to be taken by the server.
const patience = 30 * time.Second

// NewAgent registers a machine and connects an agent that follows a script; a nil
// script succeeds. It returns when the server has taken the agent, which lives until
// the server is closed.
func (s *Server) NewAgent(ctx context.Context, machineID string, script Script) (*Agent, error) {
	secret, err := s.register(machineID)
	if err != nil {
		return nil, err
	}
	conn, err := s.dial(secret)
	if err != nil {
		return nil, err
	}
	a := newAgent(machineID, script, conn, s.log)
	s.mu.Lock()
	if s.closed || s.agents[machineID] != nil {
		s.mu.Unlock()
		return nil, errors.Join(fmt.Errorf("servertest: %s has an agent, or the server is closed", machineID), conn.Close())
	}
	s.agents[machineID] = a
	a.run(s.ctx)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return a, a.AwaitConnected(ctx)
}
