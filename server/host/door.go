package host

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
	"github.com/reprise-rpa/reprise/server/settings"
)

// ErrRecovering is what every call is told while the server reads its journal.
var ErrRecovering = rpcstatus.New(codes.Unavailable, "RECOVERING", "the server is reading its journal")

// services are the names that health knows, beside the server as a whole.
var services = []string{
	reprisev1.AgentService_ServiceDesc.ServiceName, reprisev1.ReplayService_ServiceDesc.ServiceName,
	reprisev1.MachineService_ServiceDesc.ServiceName, reprisev1.EvidenceService_ServiceDesc.ServiceName,
}

// Door answers on the server's address before there is a server: health says
// NOT_SERVING, and every other call is told that the server is recovering. An
// agent is never told "nothing pending" by a journal that is half read.
type Door struct {
	lis    net.Listener
	conns  chan net.Conn // accepted, for whoever serves now
	closed chan struct{} // closed when nobody serves any more
	ended  chan struct{} // closed when accepting has failed, with err
	err    error
	before *grpc.Server
	served sync.WaitGroup
}

// OpenDoor begins to answer on lis. HandOver or Close must follow.
func OpenDoor(lis net.Listener, s settings.Settings, log *slog.Logger) (*Door, error) {
	options, err := transportOptions(s, log)
	if err != nil {
		return nil, err
	}
	d := &Door{lis: lis, conns: make(chan net.Conn), closed: make(chan struct{}), ended: make(chan struct{})}
	d.before = grpc.NewServer(append(options, grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error {
		return rpcstatus.Error(ErrRecovering)
	}))...)
	state := health.NewServer()
	for _, name := range append([]string{""}, services...) {
		state.SetServingStatus(name, healthpb.HealthCheckResponse_NOT_SERVING)
	}
	healthpb.RegisterHealthServer(d.before, state)
	go d.accept()
	d.served.Go(func() { _ = d.before.Serve(d.side()) }) // it ends by Stop alone
	return d, nil
}

// accept passes connections on until the listener is closed.
func (d *Door) accept() {
	for {
		conn, err := d.lis.Accept()
		if err != nil {
			d.err = err
			close(d.ended)
			return
		}
		select {
		case d.conns <- conn:
		case <-d.closed:
			_ = conn.Close() // nobody will take it
		}
	}
}

// HandOver ends the calls that wait, closes their connections, and returns the
// listener that the next ones come from. Closing that one closes the address.
func (d *Door) HandOver() net.Listener {
	d.stop()
	next := d.side()
	next.last = true
	return next
}

// Close ends everything, the address included.
func (d *Door) Close() error {
	d.stop()
	return d.shut()
}

// shut closes the address, and what was accepted and never taken.
func (d *Door) shut() error {
	close(d.closed)
	err := d.lis.Close()
	<-d.ended
	return err
}

// lingerTime is how long who waits at the door may take to leave by itself, such
// as a watch of its health.
const lingerTime = 100 * time.Millisecond

func (d *Door) stop() {
	late := time.AfterFunc(lingerTime, d.before.Stop)
	defer late.Stop()
	d.before.GracefulStop()
	d.served.Wait()
}

func (d *Door) side() *side { return &side{door: d, closed: make(chan struct{})} }

// side is the listener of one of the servers behind a door.
type side struct {
	door   *Door
	last   bool // closing it closes the address
	once   sync.Once
	closed chan struct{}
}

// Accept implements net.Listener.
func (s *side) Accept() (net.Conn, error) {
	select {
	case <-s.closed:
		return nil, net.ErrClosed
	default:
	}
	select {
	case conn := <-s.door.conns:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	case <-s.door.ended:
		return nil, s.door.err
	}
}

// Close implements net.Listener.
func (s *side) Close() error {
	first := false
	s.once.Do(func() { close(s.closed); first = true })
	if first && s.last {
		return s.door.shut()
	}
	return nil
}

// Addr implements net.Listener.
func (s *side) Addr() net.Addr { return s.door.lis.Addr() }

// Serve answers on lis at once, and with metrics on metricsOn if that is not nil,
// makes a server of what c says and runs it until ctx ends. It closes both. ready,
// which may be nil, is told when the server serves.
func Serve(ctx context.Context, c Config, lis, metricsOn net.Listener, ready func(*Host)) error {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.metrics = newMetrics()
	serving, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	counting, stop := context.WithCancelCause(context.WithoutCancel(ctx)) // the drain is counted as well
	var g errgroup.Group
	if metricsOn != nil {
		g.Go(func() error {
			err := serveMetrics(counting, c.metrics, metricsOn)
			if errors.Is(err, dispatch.ErrStopped) {
				return nil
			}
			fail(err) // a server that cannot be watched is not one to go on with
			return err
		})
	}
	err := serveBehindDoor(serving, c, lis, ready)
	stop(dispatch.ErrStopped)
	return errors.Join(err, g.Wait())
}

func serveBehindDoor(ctx context.Context, c Config, lis net.Listener, ready func(*Host)) error {
	door, err := OpenDoor(lis, c.Settings, c.Log)
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	h, err := New(ctx, c)
	if err != nil {
		return errors.Join(err, door.Close())
	}
	next := door.HandOver()
	if ready != nil {
		ready(h)
	}
	return h.Run(ctx, next, nil)
}
