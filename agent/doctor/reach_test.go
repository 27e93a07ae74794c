package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/internal/testkit"
)

// plane is a server as far as doctor meets one.
type plane struct {
	*health.Server
	watched chan struct{} // gets one for each watch of its health
	date    func() string // header of its answers; nil: none
}

func (p *plane) Check(ctx context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	if p.date != nil {
		_ = grpc.SetHeader(ctx, metadata.Pairs("date", p.date()))
	}
	return p.Server.Check(ctx, r)
}

func (p *plane) Watch(r *healthpb.HealthCheckRequest, st grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	p.watched <- struct{}{}
	return p.Server.Watch(r, st)
}

// connect answers an agent's stream by its token, as the real one does: first by the
// token, and then for want of a hello.
func (p *plane) connect(_ any, st grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(st)
	if method != connectMethod {
		return status.Errorf(codes.Unimplemented, "no method %s", method)
	}
	md, _ := metadata.FromIncomingContext(st.Context())
	reasons := map[string]string{"Bearer agent": "HELLO_EXPECTED", "Bearer operator": "ROLE_FORBIDDEN"}
	reason := "TOKEN_NEEDED"
	if shown := md.Get("authorization"); len(shown) == 1 {
		if reason = reasons[shown[0]]; reason == "" {
			reason = "TOKEN_INVALID"
		}
	}
	if reason == "HELLO_EXPECTED" {
		var first []byte
		if err := st.RecvMsg(&first); !errors.Is(err, io.EOF) {
			return status.Errorf(codes.Internal, "doctor said something on the stream: %v", err)
		}
	}
	refused, err := status.New(codes.Unauthenticated, "refused").WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: errorDomain})
	if err != nil {
		return err
	}
	return refused.Err()
}

// serve serves a plane on loopback until the test ends.
func serve(t *testing.T, p *plane, creds credentials.TransportCredentials) string {
	t.Helper()
	p.Server, p.watched = health.NewServer(), make(chan struct{}, 10)
	g := grpc.NewServer(grpc.Creds(creds), grpc.UnknownServiceHandler(p.connect))
	healthpb.RegisterHealthServer(g, p)
	return served(t, g.Serve, g.Stop)
}

// served listens on loopback until the test ends.
func served(t *testing.T, serve func(net.Listener) error, stop func()) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = serve(lis) }()
	t.Cleanup(func() { stop(); <-ended })
	return lis.Addr().String()
}

// closedPort is an address at which nothing listens until the test ends: its port is
// taken by the near end of a connection.
func closedPort(t *testing.T) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lis.Close() })
	conn, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.LocalAddr().String()
}

// certify makes a certificate for some addresses that vouches for itself, and a file
// with it as a CA.
func certify(t *testing.T, of string, addresses ...net.IP) (credentials.TransportCredentials, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: of}, IPAddresses: addresses,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), of+".pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}), file
}

func tokenFile(t *testing.T, token string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTheServerIsCalledAsAnAgentDoesAndNoSessionBegins(t *testing.T) {
	creds, ca := certify(t, "server", net.IPv4(127, 0, 0, 1))
	address := serve(t, &plane{}, creds)
	for token, want := range map[string]string{"agent": "HELLO_EXPECTED", "operator": "ROLE_FORBIDDEN", "mistyped": "TOKEN_INVALID", "": "TOKEN_NEEDED"} {
		s := Settings{Server: address, CAFile: ca}
		if token != "" {
			s.TokenFile = tokenFile(t, token)
		}
		r := reach(t.Context(), s)
		if r.Stage != answered || !r.Secure || !r.Serving || r.Err != nil || r.Clock != nil || len(r.Chain) != 1 || r.Chain[0].Subject.CommonName != "server" {
			t.Errorf("%q: %+v", token, r)
		}
		if r.Reason != want || (r.Access == nil) != (token == "agent") {
			t.Errorf("%q: access %v, %q", token, r.Access, r.Reason)
		}
	}
	r := reach(t.Context(), Settings{Server: address, CAFile: ca, TokenFile: tokenFile(t, "")})
	if !errors.Is(r.Access, errNoToken) {
		t.Errorf("an empty file: %v", r.Access)
	}
}

func TestHowFarACallComesIsTold(t *testing.T) {
	creds, ca := certify(t, "server", net.IPv4(127, 0, 0, 1))
	_, foreign := certify(t, "another", net.IPv4(127, 0, 0, 1))
	elsewhere, itsCA := certify(t, "elsewhere", net.IPv4(127, 0, 0, 9))
	secure, plain, other := serve(t, &plane{}, creds), serve(t, &plane{}, insecure.NewCredentials()), serve(t, &plane{}, elsewhere)
	web := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Second}
	site := served(t, web.Serve, func() { _ = web.Close() })
	modern := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Second, Protocols: new(http.Protocols)}
	modern.Protocols.SetUnencryptedHTTP2(true)
	newer := served(t, modern.Serve, func() { _ = modern.Close() })
	bare := grpc.NewServer()
	shut := closedPort(t)
	var unknownCA x509.UnknownAuthorityError
	var otherName x509.HostnameError
	var noTLS tls.RecordHeaderError
	for _, c := range []struct {
		name   string
		s      Settings
		stage  stage
		target any // of errors.As; nil: any error
	}{
		{"no port", Settings{Server: "reprise"}, atSettings, nil},
		{"no CA file", Settings{Server: secure, CAFile: ca + "x"}, atSettings, nil},
		{"a CA file without one", Settings{Server: secure, CAFile: tokenFile(t, "x")}, atSettings, nil},
		{"nothing listens", Settings{Server: shut}, atPort, nil},
		{"a CA that is not ours", Settings{Server: secure, CAFile: foreign}, atTLS, &unknownCA},
		{"another's name", Settings{Server: other, CAFile: itsCA}, atTLS, &otherName},
		{"a server in plain text", Settings{Server: site, CAFile: ca}, atTLS, &noTLS},
		{"TLS where plain text is spoken", Settings{Server: secure}, atCall, nil},
		{"a site of the web", Settings{Server: site}, atCall, nil},
		{"a site of the web by HTTP/2", Settings{Server: newer}, atCall, nil},
		{"a server without health", Settings{Server: served(t, bare.Serve, bare.Stop)}, answered, nil},
		{"plain text", Settings{Server: plain}, answered, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reach(t.Context(), c.s)
			if r.Stage != c.stage || (r.Err == nil) != (c.stage == answered) || c.target != nil && !errors.As(r.Err, c.target) {
				t.Errorf("%+v", r)
			}
			if c.target == &unknownCA && (len(r.Chain) == 0 || r.Chain[0].Subject.CommonName != "server") {
				t.Errorf("who answered is not told: %+v", r.Chain)
			}
		})
	}
}

func TestANameThatIsNotKnownIsToldFromAPort(t *testing.T) {
	c, err := dial(Settings{Server: "reprise.example:7443"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.conn.Close() }()
	refused := errors.New("refused")
	unresolved := func(_ context.Context, host string) ([]string, error) {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	resolved := func(context.Context, string) ([]string, error) { return []string{"192.0.2.1"}, nil }
	if at, err := c.unreached(t.Context(), refused, unresolved); at != atName || errors.Is(err, refused) {
		t.Errorf("%v, %v", at, err)
	}
	if at, err := c.unreached(t.Context(), refused, resolved); at != atPort || !errors.Is(err, refused) {
		t.Errorf("%v, %v", at, err)
	}
}

func TestB23_TheTimeOfAnAnswerIsReadWhereItHasOne(t *testing.T) {
	behind := func() string { return time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat) }
	address := serve(t, &plane{date: behind}, insecure.NewCredentials())
	r := reach(t.Context(), Settings{Server: address})
	if r.Clock == nil || (*r.Clock+time.Hour).Abs() > r.Precision+time.Second || r.Precision < time.Second/2 {
		t.Errorf("%v, give or take %v", r.Clock, r.Precision)
	}
	address = serve(t, &plane{date: func() string { return "yesterday" }}, insecure.NewCredentials())
	if r = reach(t.Context(), Settings{Server: address}); r.Clock != nil || r.Stage != answered {
		t.Errorf("%+v", r)
	}
}

func TestB02_AStreamThatIsCutWhileNobodySaysAnythingIsSeen(t *testing.T) {
	p := &plane{}
	link, err := testkit.NewLink(serve(t, p, insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = link.Close() }()
	s := Settings{Server: link.Address(), Idle: 50 * time.Millisecond}
	if i := idle(t.Context(), s); i.Err != nil || i.Lived < s.Idle {
		t.Errorf("nobody cut it: %+v", i)
	}
	<-p.watched
	s.Idle = time.Minute
	go func() {
		<-p.watched
		link.Reset()
	}()
	if i := idle(t.Context(), s); i.Err == nil || i.Lived >= s.Idle {
		t.Errorf("it was cut: %+v", i)
	}
	over := errors.New("over")
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		<-p.watched
		stop(over)
	}()
	if i := idle(ctx, s); i.Err == nil || i.Lived >= s.Idle {
		t.Errorf("the examination was ended: %+v", i)
	}
}

func TestTheServerIsCalledOncePerExamination(t *testing.T) {
	p := &plane{}
	s := Settings{Server: serve(t, p, insecure.NewCredentials())}
	l := local(t)
	if r := l.Reach(t.Context(), s); r.Stage != answered {
		t.Fatalf("%+v", r)
	}
	p.Shutdown()
	if r := l.Reach(t.Context(), s); !r.Serving {
		t.Errorf("it was called again: %+v", r)
	}
}
