package servertest

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
)

// Dial makes another connection with the operator's token, for example with the
// interceptors of the service under test. The caller closes it before the server.
func (s *Server) Dial(opts ...grpc.DialOption) (*grpc.ClientConn, error) {
	return s.dial(s.token, opts...)
}

func (s *Server) dial(token string, opts ...grpc.DialOption) (*grpc.ClientConn, error) {
	own := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(bearer(token)),
		grpc.WithContextDialer(s.connect),
		// The server is near, and gone for moments: look for it often.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 5 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 50 * time.Millisecond},
			MinConnectTimeout: 5 * time.Second,
		}),
	}
	conn, err := grpc.NewClient("passthrough:servertest", append(own, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("servertest: %w", err)
	}
	return conn, nil
}

// connect reaches the server as it is now.
func (s *Server) connect(ctx context.Context, _ string) (net.Conn, error) {
	in, err := s.current()
	if err != nil {
		return nil, err
	}
	if in.inner != nil {
		return in.inner.DialContext(ctx)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", in.lis.Addr().String())
}

// bearer is a token that is shown with each call.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials: memory and
// loopback need none.
func (bearer) RequireTransportSecurity() bool { return false }
