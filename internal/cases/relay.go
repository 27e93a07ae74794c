package cases

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// relay stands between an agent and its server and passes every message on,
// unless a case says otherwise. It speaks the schema, so that a fault can be
// aimed at one message.
type relay struct {
	reprisev1.UnimplementedAgentServiceServer
	pictures
	server reprisev1.AgentServiceClient

	mu    sync.Mutex
	up    func(*reprisev1.ConnectRequest) fate
	down  func(*reprisev1.ConnectResponse) fate
	log   []message     // what came to the relay, in order
	links []*link       // the open streams, the newest last
	apart bool          // no stream comes through
	quiet chan struct{} // closed when the link is heard again; nil: it is
}

// fate is what becomes of a message.
type fate int

const (
	pass fate = iota
	drop
	twice
	cut    // the stream ends without it
	linger // it and what follows it on its stream arrive no more: a frozen socket
)

// message is one message that came to the relay.
type message struct {
	at   time.Time
	up   *reprisev1.ConnectRequest
	down *reprisev1.ConnectResponse
}

// onUp says what becomes of the agent's messages from now on.
func (r *relay) onUp(f func(*reprisev1.ConnectRequest) fate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.up = f
}

// onDown says what becomes of the server's messages from now on.
func (r *relay) onDown(f func(*reprisev1.ConnectResponse) fate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = f
}

// seen returns the messages that f picks, of all that came to the relay.
func seen[T any](r *relay, f func(message) (T, bool)) []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []T
	for _, m := range r.log {
		if v, ok := f(m); ok {
			out = append(out, v)
		}
	}
	return out
}

func (r *relay) dispatches() []*reprisev1.Dispatch {
	return seen(r, func(m message) (*reprisev1.Dispatch, bool) { d := m.down.GetDispatch(); return d, d != nil })
}

func (r *relay) reports() []*reprisev1.Report {
	return seen(r, func(m message) (*reprisev1.Report, bool) { d := m.up.GetReport(); return d, d != nil })
}

func (r *relay) acks() []*reprisev1.ReportAck {
	return seen(r, func(m message) (*reprisev1.ReportAck, bool) { a := m.down.GetReportAck(); return a, a != nil })
}

func (r *relay) fateUp(m *reprisev1.ConnectRequest) fate {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, message{at: time.Now(), up: m})
	if r.up == nil {
		return pass
	}
	return r.up(m)
}

func (r *relay) fateDown(m *reprisev1.ConnectResponse) fate {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, message{at: time.Now(), down: m})
	if r.down == nil {
		return pass
	}
	return r.down(m)
}

var errCut = status.Error(codes.Unavailable, "the link was cut")

// Connect implements AgentService.Connect.
func (r *relay) Connect(agent grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]) error {
	if r.isApart() {
		return errCut
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(onward(agent.Context())))
	server, err := r.server.Connect(ctx)
	l := newLink(cancel)
	if err != nil || !r.enter(l, server.Send, agent.Send) {
		cancel(errCut)
		return errCut
	}
	defer r.leave(l)
	up, down := make(chan error, 1), make(chan error, 1)
	go func() { up <- carry(ctx, agent.Recv, &l.up, r.fateUp) }()
	go func() { down <- carry(ctx, server.Recv, &l.down, r.fateDown) }()
	for {
		select {
		case err = <-up:
			if errors.Is(err, io.EOF) && server.CloseSend() == nil {
				continue // the agent has said its last; the server's end of it follows
			}
		case err = <-down:
			if !r.passesEnd(agent.Context()) {
				return errCut
			}
		case err = <-l.ended:
		case <-agent.Context().Done():
			err = context.Cause(agent.Context())
			if r.hush() != nil {
				return errCut // the server's end stays open
			}
		case <-l.left:
			return errCut // the server's end stays open
		}
		cancel(err)
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
}

func carry[T any](ctx context.Context, recv func() (*T, error), to *way[T], decide func(*T) fate) error {
	for {
		m, err := recv()
		if err != nil {
			return err
		}
		times := 1
		switch decide(m) {
		case drop:
			times = 0
		case twice:
			times = 2
		case cut:
			return errCut
		case linger:
			<-ctx.Done()
			return context.Cause(ctx)
		case pass:
		}
		for range times {
			if err := to.put(m); err != nil {
				return err
			}
		}
	}
}

// onward is a caller's context for a call to the server, with the caller's token.
func onward(ctx context.Context) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	return metadata.NewOutgoingContext(ctx, metadata.Pairs("authorization", first(md.Get("authorization"))))
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
