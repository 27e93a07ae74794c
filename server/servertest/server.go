package servertest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/reprise-rpa/reprise/server/host"
	"github.com/reprise-rpa/reprise/server/tokens"
)

// Why there is no server.
var (
	ErrStopped = errors.New("servertest: the server is stopped") // Restart it first
	ErrClosed  = errors.New("servertest: the server is closed")  // for good
)

// Server is one server in memory. Its methods may be called from any goroutine,
// but for [Server.Agent].
type Server struct {
	opts  Options
	log   *slog.Logger
	ctx   context.Context // never ends: the server lives until Close
	dir   string
	owned bool // dir goes with the server
	token string
	conn  *grpc.ClientConn
	fatal func(error)  // what to do about an error that no caller is told
	close func() error // once

	change sync.Mutex // held by whoever starts or stops
	port   *port      // of Listen, once it is open; of who holds change
	mu     sync.Mutex
	up     *instance // nil: stopped
	addr   string    // of Listen, once it is known
	agents map[string]*Agent
	closed bool
}

// instance is the server between a start and a stop.
type instance struct {
	host  *host.Host
	lis   *listener
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
	s.close = sync.OnceValue(s.end)
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

// Stop takes the server away as its operator would: it is given the drain timeout
// of its settings, by default none, for what is in flight, and tells agents and
// callers that it is going away. From then on calls fail with UNAVAILABLE, and
// agents try to come back. Stopping a stopped server changes nothing.
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
	return s.noticed()
}

// noticed returns when the server's own connection knows that the server is away: a
// call on it must not go to the one that has ended, and fail, when there is another.
func (s *Server) noticed() error {
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	for s.conn.GetState() == connectivity.Ready {
		if !s.conn.WaitForStateChange(ctx, connectivity.Ready) {
			return errors.New("servertest: the connection does not notice that the server has ended")
		}
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
	if _, err := s.current(); errors.Is(err, ErrClosed) {
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

func (s *Server) closePort() error {
	s.change.Lock()
	defer s.change.Unlock()
	if s.port == nil {
		return nil
	}
	return s.port.close()
}

// current returns the server as it is now, or why there is none.
func (s *Server) current() (*instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.up == nil:
		return nil, ErrStopped
	}
	return s.up, nil
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
	in.lis = listenOn(in.inner)
	if s.opts.Listen == "" {
		return nil
	}
	if s.port == nil {
		var err error
		if s.port, err = openPort(s.opts.Listen); err != nil {
			return fmt.Errorf("servertest: %w", err)
		}
	}
	in.lis, in.inner = listenOn(s.port.listen()), nil
	return nil
}

// Close ends agents, connections and the server for good. A folder that [New] has
// made is removed. Closing again changes nothing and returns what the first did.
func (s *Server) Close() error { return s.close() }

func (s *Server) end() error {
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
	errs = append(errs, s.Stop(), s.closePort())
	if s.owned {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
