package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/test/bufconn"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// certificate makes one that is its own authority, for loopback.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	write(t, path, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, path
}

// hostTLS runs a fake behind TLS.
func hostTLS(t *testing.T, f *fake, cert tls.Certificate) *host {
	t.Helper()
	h := &host{fake: f, lis: bufconn.Listen(1 << 20), srv: grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&cert)))}
	reprisev1.RegisterReplayServiceServer(h.srv, f)
	go func(s *grpc.Server, l net.Listener) { _ = s.Serve(l) }(h.srv, h.lis)
	t.Cleanup(h.kill)
	return h
}

func gets() *fake {
	return &fake{get: func(string) (*reprisev1.Replay, error) { return replay(runs, 1), nil }}
}

func TestTheTokenTravelsWithEachCall(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "  tok-123\n")
	f := gets()
	wantExit(t, ctl(t, f, "get", "r-1", "--token-file", token), exitOK)
	if f.token != "Bearer tok-123" {
		t.Errorf("authorization: %q", f.token)
	}
	wantExit(t, ctl(t, f, "get", "r-1"), exitOK)
	if f.token != "" {
		t.Errorf("authorization without a token: %q", f.token)
	}
}

// A script that is told 9 has one thing to look at, whether the server or the file
// says that there is no token.
func TestATokenThatIsMissingIsDenied(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	gone := filepath.Join(t.TempDir(), "gone")
	write(t, token, "two tokens\n")
	for file, want := range map[string]string{token: "one token is needed", gone: "open " + gone} {
		var stderr strings.Builder
		exit := Main(t.Context(), Env{Args: []string{"list"}, Stdout: io.Discard, Stderr: &stderr, Getenv: func(k string) string {
			return map[string]string{"REPRISE_TOKEN_FILE": file}[k]
		}})
		if said := stderr.String(); exit != exitDenied || !strings.Contains(said, want) || !strings.Contains(said, "REPRISE_TOKEN_FILE") {
			t.Errorf("exit code %d, %s", exit, said)
		}
	}
}

func TestTLSIsUsedWhenAnAuthorityIsGiven(t *testing.T) {
	cert, ca := certificate(t)
	_, otherCA := certificate(t)
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "tok-123")
	f := gets()
	h := hostTLS(t, f, cert)
	wantExit(t, ctlAt(t, h, "get", "r-1", "--ca-file", ca, "--token-file", token), exitOK)
	if f.token != "Bearer tok-123" {
		t.Errorf("authorization: %q", f.token)
	}
	wantExit(t, ctlAt(t, h, "get", "r-1", "--ca-file", otherCA), exitUnreachable)
	wantExit(t, ctlAt(t, h, "get", "r-1", "--ca-file", token), exitUsage)
}

func TestNothingTravelsInPlainTextBeyondLoopback(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "tok-123")
	f := gets()
	h := &host{fake: f}
	h.start()
	defer h.kill()
	wantExit(t, ctlAt(t, h, "get", "r-1", "--server", "192.0.2.1:7443", "--token-file", token), exitUnreachable)
	if f.token != "" {
		t.Errorf("the token travelled: %q", f.token)
	}
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "localhost": true,
		"192.0.2.1": false, "localhost.example.org": false, "0.0.0.0": false, "": false,
	} {
		if loopback(host) != want {
			t.Errorf("loopback(%q) = %t", host, !want)
		}
	}
}

func TestTheEnvironmentNamesServerAndToken(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "tok-9")
	f := gets()
	f.get = func(string) (*reprisev1.Replay, error) {
		r := replay(paused, 1)
		r.Pause = &reprisev1.PauseInfo{PauseId: "p", Reason: reprisev1.PauseReason_PAUSE_REASON_OPERATOR}
		return r, nil
	}
	h := &host{fake: f}
	h.start()
	defer h.kill()
	env := map[string]string{"REPRISE_SERVER": "127.0.0.1:99", "REPRISE_TOKEN_FILE": token}
	var stdout strings.Builder
	exit := Main(t.Context(), Env{
		Args: []string{"get", "r-1"}, Stdout: &stdout, Stderr: io.Discard, Getenv: func(k string) string { return env[k] },
		Dial: []grpc.DialOption{grpc.WithContextDialer(h.dial)},
	})
	if exit != exitOK || f.token != "Bearer tok-9" {
		t.Errorf("exit code %d, authorization %q", exit, f.token)
	}
	if !strings.Contains(stdout.String(), " reprisectl resume r-1\n") {
		t.Errorf("the command names what the environment says already: %s", stdout.String())
	}
	var other strings.Builder
	Main(t.Context(), Env{
		Args: []string{"get", "r-1", "--server", "127.0.0.1:7"}, Stdout: &other, Stderr: io.Discard, Getenv: func(k string) string { return env[k] },
		Dial: []grpc.DialOption{grpc.WithContextDialer(h.dial)},
	})
	if !strings.Contains(other.String(), " reprisectl --server 127.0.0.1:7 resume r-1\n") {
		t.Errorf("the command would ask another server: %s", other.String())
	}
}
