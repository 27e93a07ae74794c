// Package agenttest is a control plane in memory that does what a test tells it:
// it takes an agent's stream, says what the test says, withholds what the test
// withholds, and cuts the line. It decides nothing by itself but the answers to
// pings.
package agenttest

import (
	"context"
	"errors"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Address is what an agent is told to dial; the dialer ignores it.
const Address = "localhost:1"

// ErrEnded says that the stream is over.
var ErrEnded = errors.New("agenttest: the stream has ended")

// Server is the control plane.
type Server struct {
	reprisev1.UnimplementedAgentServiceServer
	reprisev1.UnimplementedEvidenceServiceServer

	grpc     *grpc.Server
	listener *bufconn.Listener
	served   chan error
	streams  chan *Conn

	mu      sync.Mutex
	refusal error
	lines   []*line
	gallery
}

// New serves until Close.
func New() *Server {
	s := &Server{
		listener: bufconn.Listen(1 << 20), served: make(chan error, 1), streams: make(chan *Conn),
		gallery: newGallery(),
	}
	s.grpc = grpc.NewServer(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 1, PermitWithoutStream: true}))
	reprisev1.RegisterAgentServiceServer(s.grpc, s)
	reprisev1.RegisterEvidenceServiceServer(s.grpc, s)
	go func() { s.served <- s.grpc.Serve(s.listener) }()
	return s
}

// Close ends all streams and the server.
func (s *Server) Close() error {
	s.grpc.Stop()
	if err := <-s.served; !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// Dial is the agent's dialer.
func (s *Server) Dial(ctx context.Context, _ string) (net.Conn, error) {
	conn, err := s.listener.DialContext(ctx)
	if err != nil {
		return nil, err
	}
	l := newLine(conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, l)
	return l, nil
}

// Cut breaks every line at once, as a reset does.
func (s *Server) Cut() { s.each((*line).cut) }

// Silence makes every line that is there swallow all that is written, in both
// directions, and say nothing of it, as a black hole does.
func (s *Server) Silence() { s.each((*line).silence) }

func (s *Server) each(do func(*line)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		do(l)
	}
}

// Refuse ends every new stream with err; nil takes them again.
func (s *Server) Refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = err
}

// Accept returns the next stream, after its hello.
func (s *Server) Accept(ctx context.Context) (*Conn, error) {
	select {
	case c := <-s.streams:
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Connect is the agent's stream.
func (s *Server) Connect(stream grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]) error {
	s.mu.Lock()
	refusal := s.refusal
	s.mu.Unlock()
	if refusal != nil {
		return refusal
	}
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if first.GetHello() == nil {
		return status.Error(codes.InvalidArgument, "no hello")
	}
	md, _ := metadata.FromIncomingContext(stream.Context())
	c := newConn(first.GetHello(), md)
	select {
	case s.streams <- c:
	case <-stream.Context().Done():
		return context.Cause(stream.Context())
	}
	return c.serve(stream)
}
