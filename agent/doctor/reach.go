package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/reprise-rpa/reprise/agent/link"
)

// connectMethod is the call with which an agent opens its stream. It is opened here
// and closed without a hello, so that no session begins: the server looks at the token
// first, and then answers that it misses the hello.
const connectMethod = "/reprise.v1.AgentService/Connect"

// errorDomain is whose the reasons of docs/errors.md are.
const errorDomain = "reprise.v1"

// errNoToken says that there is no token to show, though one is to be shown.
var errNoToken = errors.New("there is no token to show")

// callTime is how long the server may take for one call, the connection included.
const callTime = 8 * time.Second

// calls is what a call to the server is made of, in the agent's own way.
type calls struct {
	conn  *grpc.ClientConn
	seen  *observer
	proxy string
}

// dial gets ready to call the server. It connects with the first call.
func dial(s Settings) (*calls, error) {
	secured, _, err := link.Transport(s.Server, s.CAFile)
	if err != nil {
		return nil, err
	}
	c := &calls{seen: &observer{TransportCredentials: secured}}
	// grpc-go asks the same function for the same address.
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: s.Server}}); err == nil && proxy != nil {
		c.proxy = proxy.Host
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(c.seen),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: s.KeepaliveTime, Timeout: s.KeepaliveTimeout, PermitWithoutStream: true}),
	}
	if c.conn, err = grpc.NewClient(s.Server, options...); err != nil {
		return nil, fmt.Errorf("server address %q: %w", s.Server, err)
	}
	return c, nil
}

// observer remembers what came of securing connections, which gRPC turns into a text.
type observer struct {
	credentials.TransportCredentials
	mu      sync.Mutex
	reached bool
	err     error
	chain   []*x509.Certificate
}

// ClientHandshake implements credentials.TransportCredentials.
func (o *observer) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := o.TransportCredentials.ClientHandshake(ctx, authority, raw)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reached, o.err = true, err
	if secured, ok := info.(credentials.TLSInfo); ok {
		o.chain = secured.State.PeerCertificates
	}
	var unverified *tls.CertificateVerificationError
	if errors.As(err, &unverified) {
		o.chain = unverified.UnverifiedCertificates
	}
	return conn, info, err
}

// Clone implements credentials.TransportCredentials.
func (o *observer) Clone() credentials.TransportCredentials { return o }

func (o *observer) saw() (reached bool, chain []*x509.Certificate, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reached, o.chain, o.err
}

// reach calls the server and says how far that came.
func reach(ctx context.Context, s Settings) Reached {
	c, err := dial(s)
	if err != nil {
		return Reached{Stage: atSettings, Err: err}
	}
	defer func() { _ = c.conn.Close() }()
	r := Reached{Proxy: c.proxy, Secure: c.seen.Info().SecurityProtocol == "tls"}
	c.health(ctx, &r)
	if r.Stage == answered {
		c.access(ctx, s, &r)
	}
	return r
}

// health asks whether the server serves.
func (c *calls) health(parent context.Context, r *Reached) {
	ctx, stop := context.WithTimeout(parent, callTime)
	defer stop()
	var header metadata.MD
	began := time.Now()
	answer, err := healthpb.NewHealthClient(c.conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.Header(&header))
	r.Elapsed = time.Since(began)
	reached, chain, broken := c.seen.saw()
	r.Chain = chain
	switch code := status.Code(err); {
	case code == codes.OK:
		r.Stage, r.Serving = answered, answer.GetStatus() == healthpb.HealthCheckResponse_SERVING
	case unknownToGRPC(err):
		r.Stage, r.HealthUnknown = answered, true
	case broken != nil:
		r.Stage, r.Err = atTLS, broken
	case reached:
		r.Stage, r.Err = atCall, err
	default:
		r.Stage, r.Err = c.unreached(parent, err, net.DefaultResolver.LookupHost)
	}
	r.clock(header, began)
}

// unknownToGRPC says whether a server of gRPC does not know what it is asked. One of the
// web says so too, in its own words, which gRPC then quotes.
func unknownToGRPC(err error) bool {
	s := status.Convert(err)
	return s.Code() == codes.Unimplemented && !strings.Contains(s.Message(), "HTTP status code")
}

// unreached tells a name that is not known from a port where nothing answers.
func (c *calls) unreached(ctx context.Context, err error, lookup func(context.Context, string) ([]string, error)) (stage, error) {
	address := c.conn.Target()
	if c.proxy != "" {
		address = c.proxy
	}
	host, _, split := net.SplitHostPort(address)
	if split != nil {
		return atPort, err
	}
	var unresolved *net.DNSError
	if _, named := lookup(ctx, host); errors.As(named, &unresolved) {
		return atName, named
	}
	return atPort, err
}

// clock reads the time that an answer was made at, if its header says so, as those of
// many proxies do. HTTP dates have seconds.
func (r *Reached) clock(header metadata.MD, began time.Time) {
	values := header.Get("date")
	if len(values) == 0 {
		return
	}
	at, err := http.ParseTime(values[0])
	if err != nil {
		return
	}
	skew := at.Add(time.Second / 2).Sub(began.Add(r.Elapsed / 2))
	r.Clock, r.Precision = &skew, r.Elapsed/2+time.Second/2
}

// access opens an agent's stream with its token and closes it without a hello.
func (c *calls) access(parent context.Context, s Settings, r *Reached) {
	ctx, stop := context.WithTimeout(parent, callTime)
	defer stop()
	if s.TokenFile != "" {
		token, err := link.TokenFile(s.TokenFile)()
		if err != nil {
			r.Access = fmt.Errorf("%w: %w", errNoToken, err)
			return
		}
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	stream, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, connectMethod)
	if err == nil {
		err = stream.CloseSend()
	}
	if err == nil {
		err = stream.RecvMsg(&emptypb.Empty{})
	}
	r.Reason = reasonOf(err)
	if r.Reason != reasonHelloExpected && r.Reason != reasonNoHello {
		r.Access = err
	}
}

// reasonOf is the reason that a refusal names; empty: it names none.
func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			return info.GetReason()
		}
	}
	return ""
}

// idle watches the server's health, which says something only when it changes, for a
// time.
func idle(parent context.Context, s Settings) Idled {
	c, err := dial(s)
	if err != nil {
		return Idled{Err: err}
	}
	defer func() { _ = c.conn.Close() }()
	// Without a deadline, as the agent's stream: what lies between may keep to one that
	// it is told.
	ctx, stop := context.WithCancel(context.WithoutCancel(parent))
	defer stop()
	defer context.AfterFunc(parent, stop)()
	stream, err := healthpb.NewHealthClient(c.conn).Watch(ctx, &healthpb.HealthCheckRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		return Idled{Err: err}
	}
	began := time.Now()
	end := time.AfterFunc(s.Idle, stop)
	defer end.Stop()
	for err == nil {
		_, err = stream.Recv()
	}
	lived := time.Since(began)
	if ctx.Err() == nil || parent.Err() != nil {
		return Idled{Lived: lived, Err: err}
	}
	// A connection that was forgotten without a word shows only when it is used.
	ctx, stop = context.WithTimeout(parent, callTime)
	defer stop()
	_, err = healthpb.NewHealthClient(c.conn).Check(ctx, &healthpb.HealthCheckRequest{})
	return Idled{Lived: lived, Err: err}
}
