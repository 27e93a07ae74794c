package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// A dead path is noticed after keepaliveTime and keepaliveTimeout at most. The
// server allows no shorter time than 5 s.
const (
	keepaliveTime    = 10 * time.Second
	keepaliveTimeout = 5 * time.Second
	maxReply         = 16 << 20 // bytes; a page of actions with the largest reports that people meet
)

// client holds the services of one server.
type client struct {
	replays  reprisev1.ReplayServiceClient
	machines reprisev1.MachineServiceClient
	evidence reprisev1.EvidenceServiceClient
	// met says that a connection has been made: from then on a failure is a cut
	// and not a wrong address.
	met *contact
	// close ends the connection.
	close func()
}

// connect prepares the connection that the flags describe; the first call makes it.
func (a *app) connect() (*client, error) {
	host, _, err := net.SplitHostPort(a.server)
	if err != nil {
		return nil, usage(fmt.Errorf("--server %q: host:port is needed", a.server))
	}
	transport, secure, err := a.transport(host)
	if err != nil {
		return nil, err
	}
	met := &contact{}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithStatsHandler(met),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           grpcbackoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReply)),
	}
	if a.tokenFile != "" {
		token, err := readToken(a.tokenFile)
		if err != nil {
			return nil, &exitError{exitDenied, err} // as the server would say without one
		}
		options = append(options, grpc.WithPerRPCCredentials(bearer{token, secure}))
	}
	conn, err := grpc.NewClient(a.server, append(options, a.env.Dial...)...)
	if err != nil {
		return nil, usage(fmt.Errorf("--server %q: %w", a.server, err))
	}
	return &client{
		replays: reprisev1.NewReplayServiceClient(conn), machines: reprisev1.NewMachineServiceClient(conn),
		evidence: reprisev1.NewEvidenceServiceClient(conn), met: met,
		close: func() { _ = conn.Close() }, // nothing is buffered in it
	}, nil
}

// transport is TLS, or plain text on loopback while no CA is given.
func (a *app) transport(host string) (_ credentials.TransportCredentials, secure bool, err error) {
	if a.caFile == "" && loopback(host) {
		return insecure.NewCredentials(), false, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13, ServerName: host}
	if a.caFile != "" {
		pem, err := os.ReadFile(a.caFile)
		if err != nil {
			return nil, false, usage(fmt.Errorf("--ca-file: %w", err))
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, false, usage(fmt.Errorf("--ca-file %s holds no certificate", a.caFile))
		}
	}
	return credentials.NewTLS(config), true, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func readToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--token-file (REPRISE_TOKEN_FILE): %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("--token-file (REPRISE_TOKEN_FILE): %s: one token is needed", path)
	}
	return token, nil
}

// bearer shows a token with each call. Over plain text it does so on loopback
// only, since there is no other plain text.
type bearer struct {
	token  string
	secure bool
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.secure }

// contact notes whether a connection was ever made.
type contact struct{ made atomic.Bool }

// TagConn implements stats.Handler.
func (*contact) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (c *contact) HandleConn(_ context.Context, s stats.ConnStats) {
	if _, begun := s.(*stats.ConnBegin); begun {
		c.made.Store(true)
	}
}

// TagRPC implements stats.Handler.
func (*contact) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (*contact) HandleRPC(context.Context, stats.RPCStats) {}

// call limits one call by --timeout.
func (a *app) call(ctx context.Context, what string, do func(context.Context) error) error {
	ctx, stop := context.WithTimeout(ctx, a.timeout)
	defer stop()
	return failed(what, do(ctx))
}

// with connects, and closes the connection when do is done.
func (a *app) with(do func(*client) error) error {
	c, err := a.connect()
	if err != nil {
		return err
	}
	defer c.close()
	return do(c)
}
