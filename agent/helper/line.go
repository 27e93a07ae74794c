package helper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// errLeft is the cause with which the service stops a gesture in a helper that it leaves.
var errLeft = fmt.Errorf("%w: the service leaves this helper", driver.ErrUnavailable)

// line is the service's end of one connection to a helper.
type line struct {
	wire     *wire
	conn     *grpc.ClientConn
	client   helperv1.HelperServiceClient
	life     context.Context // ends when the line is left
	leave    context.CancelCauseFunc
	elements bool
	attended bool
	last     uint64        // number of the last gesture; the desktop's hands guard it
	followed chan struct{} // closed when all that the helper logged is logged
}

// newLine speaks gRPC on a connection whose other end has proven that it is the helper.
func newLine(ctx context.Context, conn net.Conn) (*line, error) {
	l := &line{wire: newWire(conn, false), followed: make(chan struct{})}
	var err error
	l.conn, err = grpc.NewClient("passthrough:///helper",
		grpc.WithContextDialer(l.wire.dial), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(), grpc.WithIdleTimeout(0),
		grpc.WithStaticStreamWindowSize(streamWindow), grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newCodec()), grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingAfter, Timeout: pingTime, PermitWithoutStream: true}),
	)
	if err != nil {
		_ = l.wire.Close() // err says why
		return nil, err
	}
	l.client = helperv1.NewHelperServiceClient(l.conn)
	l.life, l.leave = context.WithCancelCause(context.WithoutCancel(ctx))
	return l, nil
}

// close ends the line, and may be called again.
func (l *line) close() {
	l.leave(errLeft)
	_ = l.wire.Close() // first, so that gRPC does not wait for a helper that reads no more
	_ = l.conn.Close()
}

// ended says whether the connection is over.
func (l *line) ended() bool {
	select {
	case <-l.wire.over:
		return true
	default:
		return false
	}
}

// open has the desktop opened.
func (l *line) open(ctx context.Context, version string, s Settings) error {
	bound, done := untimed(ctx)
	defer done()
	answer, err := l.client.Open(bound, &helperv1.OpenRequest{Version: version, Settings: encodeSettings(s)})
	switch {
	case err != nil:
		return l.failed(ctx, err)
	case answer.GetVersion() != version:
		return fmt.Errorf("%w: %s, %s", ErrVersion, answer.GetVersion(), version)
	case answer.Fault != nil:
		return decodeFault(ctx, answer.Fault)
	}
	l.elements, l.attended = answer.GetElements(), answer.GetAttended()
	return nil
}

// failed is what a call that brought no answer says to its caller: the cause of ctx, a
// helper that has gone, or something that should not happen.
func (l *line) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if code := status.Code(err); errors.Is(err, io.EOF) || code == codes.Unavailable || code == codes.Canceled {
		return fmt.Errorf("%w: the helper has gone: %w", driver.ErrUnavailable, errors.Join(ErrEnded, err))
	}
	return fmt.Errorf("the helper: %w", err)
}

// do performs one gesture and returns its true outcome. The caller holds the desktop's
// hands, and ctx has not ended. If the connection breaks once the gesture was handed to
// it, nobody knows what was sent, and the error is no *driver.InputError.
func (l *line) do(ctx context.Context, in driver.Input) error {
	if l.life.Err() != nil {
		return &driver.InputError{Err: context.Cause(l.life)}
	}
	l.last++
	g, err := encodeGesture(l.last, in)
	if err != nil {
		return &driver.InputError{Err: err}
	}
	if n := proto.Size(g); n > maxMessage-partSize {
		return &driver.InputError{Err: fmt.Errorf("a gesture of %d bytes: %w", n, driver.ErrUnsupported)}
	}
	// The call outlives ctx: ended by gRPC, it would return while the hands still move.
	call, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stream, err := l.client.Do(call)
	if err != nil { // the call was not made, and the gesture is still here
		return &driver.InputError{Err: l.failed(call, err)}
	}
	if err := stream.Send(&helperv1.DoRequest{Request: &helperv1.DoRequest_Gesture{Gesture: g}}); err != nil {
		return broken(l.failed(call, err))
	}
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	defer context.AfterFunc(l.life, func() { done(context.Cause(l.life)) })()
	stop := l.stopWith(ctx, stream)
	answer, err := stream.Recv()
	stop()
	if err != nil {
		return broken(l.failed(call, err))
	}
	return decodeFault(ctx, answer.GetFault())
}

func broken(err error) error {
	return fmt.Errorf("in the middle of a gesture, nobody knows what was sent: %w", err)
}

// stopWith asks the helper to stop the gesture when ctx ends. What it returns says that
// the gesture has returned, and waits until nothing is asked any more.
func (l *line) stopWith(ctx context.Context, stream grpc.BidiStreamingClient[helperv1.DoRequest, helperv1.DoResponse]) func() {
	asked := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(asked)
		// A request that can't leave is no loss: the connection has ended, and with it
		// the gesture.
		_ = stream.Send(&helperv1.DoRequest{Request: &helperv1.DoRequest_Stop{Stop: &helperv1.Stop{}}})
	})
	return func() {
		if !stop() {
			<-asked
		}
	}
}

// answer is what every answer has.
type answer interface{ GetFault() *helperv1.Fault }

// ask makes one call. It ends with ctx, at once: what it asked for changes nothing that
// its caller must know of. A deadline is this side's alone, so that its cause is.
func ask[Req any, Resp answer](
	ctx context.Context, l *line,
	call func(helperv1.HelperServiceClient, context.Context, *Req, ...grpc.CallOption) (Resp, error), req *Req,
) (Resp, error) {
	if ctx.Err() != nil {
		var none Resp
		return none, context.Cause(ctx)
	}
	bound, done := untimed(ctx)
	defer done()
	got, err := call(l.client, bound, req)
	if err != nil {
		return got, l.failed(ctx, err)
	}
	return got, decodeFault(ctx, got.GetFault())
}

// untimed is a context that ends with ctx and has no deadline.
func untimed(ctx context.Context) (context.Context, func()) {
	bound, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return bound, func() { stop(); cancel(nil) }
}

// capture gathers a picture.
func (l *line) capture(ctx context.Context, req *helperv1.CaptureRequest) (driver.Picture, error) {
	bound, done := untimed(ctx)
	defer done()
	stream, err := l.client.Capture(bound, req)
	if err != nil {
		return driver.Picture{}, l.failed(ctx, err)
	}
	var first part
	if err := stream.RecvMsg(&first); err != nil {
		return driver.Picture{}, l.failed(ctx, err)
	}
	if f := first.what.GetFault(); f != nil {
		return driver.Picture{}, decodeFault(ctx, f)
	}
	var g gathering
	if err := g.begin(first.what.GetPicture()); err != nil {
		return driver.Picture{}, fmt.Errorf("the helper: %w", err)
	}
	for {
		next := part{into: &g}
		switch err := stream.RecvMsg(&next); {
		case errors.Is(err, io.EOF):
			p, err := g.end()
			if err != nil {
				return p, fmt.Errorf("the helper: %w", err)
			}
			return p, nil
		case err != nil:
			return driver.Picture{}, l.failed(ctx, err)
		case next.what != nil:
			return driver.Picture{}, errors.New("the helper: something else than pixels in a picture")
		}
	}
}

// follow logs what the helper logs, until the line ends.
func (l *line) follow(log *slog.Logger) {
	defer close(l.followed)
	handler := log.With(logkeys.Peer, "helper").Handler()
	stream, err := l.client.Log(l.life, &helperv1.LogRequest{})
	for err == nil {
		var said *helperv1.LogResponse
		if said, err = stream.Recv(); err == nil {
			if r := decodeRecord(said); handler.Enabled(l.life, r.Level) {
				_ = handler.Handle(l.life, r) // a log that can't be written can't say so
			}
		}
	}
}
