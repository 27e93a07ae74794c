package helper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// ServerConfig sets up the helper's end. The zero value of each optional field means its
// default.
type ServerConfig struct {
	// Secret is that of this helper, SecretSize bytes; required.
	Secret []byte
	// Open opens the desktop; required. It is called once, when the service has proven
	// who it is; ctx is for the opening alone. A driver that has a Close is closed
	// before Serve returns. It may have driver.Elements and be driver.Attended.
	Open func(ctx context.Context, s Settings) (driver.Driver, error)
	// Log is what the service is sent to log; nil: nothing.
	Log *Log
	// Version is this program's; empty: buildinfo.Version.
	Version string
}

func (c ServerConfig) withDefaults() (ServerConfig, error) {
	var errs []error
	if len(c.Secret) != SecretSize {
		errs = append(errs, fmt.Errorf("setting Secret: %d bytes, not %d", len(c.Secret), SecretSize))
	}
	if c.Open == nil {
		errs = append(errs, errors.New("setting Open is required"))
	}
	if c.Log == nil {
		c.Log = NewLog()
	}
	if c.Version == "" {
		c.Version = buildinfo.Version()
	}
	return c, errors.Join(errs...)
}

// desk is the desktop that was opened.
type desk struct {
	driver.Driver
	elements driver.Elements // nil: it has none
	attended driver.Attended // nil: it is not
}

// server is one helper's end of the connection.
type server struct {
	helperv1.UnimplementedHelperServiceServer
	cfg    ServerConfig
	life   context.Context // ends when the helper does, with why; an error that is driver.ErrUnavailable
	finish context.CancelCauseFunc
	quiet  chan struct{} // closed when the last line was logged

	asked     atomic.Bool          // Open was called
	refusals  chan error           // holds why Open was refused
	desk      atomic.Pointer[desk] // nil: not open yet
	hands     chan struct{}        // held while something moves them
	attending chan struct{}        // held while Attend of the driver runs

	// Guarded by hands.
	last uint64 // number of the last gesture
	owed bool   // what a dead helper left down could not be let go of yet
}

// Serve serves one desktop over conn until the connection or ctx ends, and returns which:
// an error that is ErrEnded, or the cause of ctx. Before it returns, the gesture in flight
// was stopped and everything let go of; if that failed, the error says so too. It closes
// conn.
func Serve(ctx context.Context, conn net.Conn, cfg ServerConfig) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		_ = conn.Close() // err says why
		return fmt.Errorf("helper: %w", err)
	}
	if err := prove(ctx, conn, cfg.Secret, proveHelper); err != nil {
		return fmt.Errorf("helper: %w", err)
	}
	s := &server{
		cfg: cfg, quiet: make(chan struct{}), refusals: make(chan error, 1),
		hands: make(chan struct{}, 1), attending: make(chan struct{}, 1),
	}
	s.life, s.finish = context.WithCancelCause(context.WithoutCancel(ctx))
	w := newWire(conn, true)
	g, lis := s.grpc(), newListener(w)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = g.Serve(lis) // it ends when it is stopped
	}()

	var why error
	select {
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-w.over:
		why = errors.Join(fmt.Errorf("helper: %w: %w", ErrEnded, w.reason()), s.refused())
	}
	err = s.end(ctx, why)
	close(s.quiet)
	endServer(ctx, g, w)
	<-served
	return err
}

// grpc is the gRPC server of the helper.
func (s *server) grpc() *grpc.Server {
	g := grpc.NewServer(
		grpc.ForceServerCodecV2(newCodec()), grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.StaticStreamWindowSize(streamWindow), grpc.StaticConnWindowSize(connWindow),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			ctx, done := s.joined(ctx)
			defer done(nil)
			return handle(ctx, req)
		}),
	)
	helperv1.RegisterHelperServiceServer(g, s)
	return g
}

// endServer lets answers that are ready leave, and ends. A call that the desktop does not
// give back is not waited for for ever: the process ends next.
func endServer(ctx context.Context, g *grpc.Server, w *wire) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer done()
	left := make(chan struct{})
	go func() { g.GracefulStop(); close(left) }()
	select {
	case <-left:
	case <-w.over:
	case <-ctx.Done():
	}
	_ = w.Close() // nothing is said on it any more
	g.Stop()
	select {
	case <-left:
	case <-ctx.Done():
	}
}

// end stops what is under way and lets go of everything. The hands are not given back:
// nothing moves them any more. It returns why, and what went wrong.
func (s *server) end(ctx context.Context, why error) error {
	s.finish(fmt.Errorf("%w: the helper ends: %w", driver.ErrUnavailable, why))
	ctx, done := context.WithTimeoutCause(context.WithoutCancel(ctx), endTime, errors.New("it took too long"))
	defer done()
	if err := take(ctx, s.hands); err != nil {
		return errors.Join(why, fmt.Errorf("the last gesture did not return: %w", err))
	}
	d := s.desk.Load()
	if d == nil {
		return why
	}
	errs := []error{why}
	if err := d.Release(ctx); err != nil {
		errs = append(errs, fmt.Errorf("let go of everything: %w", err))
	}
	if c, ok := d.Driver.(io.Closer); ok {
		if err := c.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close the desktop: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Open opens the desktop, once, and lets go of what is down before anything else is
// answered: a helper that was killed may have left it.
func (s *server) Open(ctx context.Context, req *helperv1.OpenRequest) (*helperv1.OpenResponse, error) {
	if !s.asked.CompareAndSwap(false, true) {
		return nil, status.Error(codes.FailedPrecondition, "the desktop was opened before")
	}
	answer := &helperv1.OpenResponse{Version: s.cfg.Version}
	if req.GetVersion() != s.cfg.Version {
		s.refuse(answer, fmt.Errorf("%w: %s, %s", ErrVersion, s.cfg.Version, req.GetVersion()))
		return answer, nil
	}
	if err := take(ctx, s.hands); err != nil {
		return nil, status.FromContextError(err).Err()
	}
	defer give(s.hands)
	settings := decodeSettings(req.GetSettings())
	s.cfg.Log.level.Set(settings.LogLevel)
	opened, err := s.cfg.Open(ctx, settings)
	if err != nil {
		s.refuse(answer, fmt.Errorf("open the desktop: %w", err))
		return answer, nil
	}
	d := &desk{Driver: opened}
	d.elements, answer.Elements = opened.(driver.Elements)
	d.attended, answer.Attended = opened.(driver.Attended)
	s.owed = true
	if err := s.settle(ctx, d); err != nil { // a locked desktop, say: gestures wait for it
		s.cfg.Log.Logger().Warn("what is down could not be let go of yet", logkeys.Error, err)
	}
	s.desk.Store(d)
	return answer, nil
}

// refuse answers that there is no desktop, and keeps why for Serve to say.
func (s *server) refuse(answer *helperv1.OpenResponse, why error) {
	answer.Fault = encodeFault(why)
	s.refusals <- why
}

// refused is why the desktop was not opened; nil: it was, or nobody asked.
func (s *server) refused() error {
	select {
	case why := <-s.refusals:
		return why
	default:
		return nil
	}
}

// settle lets go of what a dead helper may have left down. The caller holds the hands.
func (s *server) settle(ctx context.Context, d *desk) error {
	if !s.owed {
		return nil
	}
	if err := d.Release(ctx); err != nil {
		return fmt.Errorf("let go of what was left down: %w", err)
	}
	s.owed = false
	return nil
}

// opened returns the desktop, or refuses.
func (s *server) opened() (*desk, error) {
	if d := s.desk.Load(); d != nil {
		return d, nil
	}
	return nil, status.Error(codes.FailedPrecondition, "the desktop is not open")
}

// joined is ctx that ends with the helper as well.
func (s *server) joined(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })
	return ctx, func(why error) { stop(); cancel(why) }
}

// take takes a place that one may hold, or returns the cause of ctx.
func take(ctx context.Context, place chan struct{}) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func give(place chan struct{}) { <-place }
