// Package agenttest is a control plane in memory that does what a test tells it:
// it takes an agent's stream, says what the test says, withholds what the test
// withholds, and cuts the line. It decides nothing by itself but the answers to
// pings.
package agenttest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
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

	mu       sync.Mutex
	refusal  error
	lines    []*line
	pictures map[string][]byte
	asked    int // downloads and uploads
	stored   chan string
}

// New serves until Close.
func New() *Server {
	s := &Server{
		listener: bufconn.Listen(1 << 20), served: make(chan error, 1), streams: make(chan *Conn),
		pictures: map[string][]byte{}, stored: make(chan string, 64),
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

// Put stores a picture and returns its digest.
func (s *Server) Put(data []byte) string {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	s.PutAs(digest, data)
	return digest
}

// PutAs stores a picture under a digest, be it its own or not.
func (s *Server) PutAs(digest string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pictures[digest] = data
}

// Stored delivers the digest of each picture that was uploaded.
func (s *Server) Stored() <-chan string { return s.stored }

// Transfers says how many pictures were asked for or brought.
func (s *Server) Transfers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// FindMissing says which pictures are not there.
func (s *Server) FindMissing(_ context.Context, in *reprisev1.FindMissingRequest) (*reprisev1.FindMissingResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &reprisev1.FindMissingResponse{}
	for _, digest := range in.GetSha256() {
		if _, ok := s.pictures[digest]; !ok {
			out.Sha256 = append(out.Sha256, digest)
		}
	}
	return out, nil
}

// Upload takes a picture.
func (s *Server) Upload(stream grpc.ClientStreamingServer[reprisev1.UploadRequest, reprisev1.UploadResponse]) error {
	var data bytes.Buffer
	digest := ""
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if digest == "" {
			digest = m.GetSha256()
		}
		data.Write(m.GetData())
	}
	if sum := sha256.Sum256(data.Bytes()); hex.EncodeToString(sum[:]) != digest {
		return status.Error(codes.InvalidArgument, "the content has another digest")
	}
	s.PutAs(digest, data.Bytes())
	s.mu.Lock()
	s.asked++
	s.mu.Unlock()
	s.stored <- digest
	return stream.SendAndClose(&reprisev1.UploadResponse{Size: int64(data.Len())})
}

// Download brings a picture, in pieces.
func (s *Server) Download(in *reprisev1.DownloadRequest, stream grpc.ServerStreamingServer[reprisev1.DownloadResponse]) error {
	s.mu.Lock()
	s.asked++
	data, ok := s.pictures[in.GetSha256()]
	s.mu.Unlock()
	if !ok {
		return status.Error(codes.NotFound, "no such picture")
	}
	const piece = 1 << 10
	for len(data) > 0 {
		n := min(piece, len(data))
		if err := stream.Send(&reprisev1.DownloadResponse{Data: data[:n]}); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
