package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/reprise-rpa/reprise/internal/testkit"
)

// certify makes a certificate for 127.0.0.1 that vouches for itself.
func certify(t *testing.T) (c tls.Certificate, certPEM, keyPEM []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	if c, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return c, certPEM, keyPEM
}

func pool(c tls.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(c.Leaf)
	return p
}

// A renewed certificate is taken at the next handshake. Between the replacement
// of its two files the old one serves.
func TestARenewedCertificateNeedsNoRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, cert, key := certify(t)
	write(certFile, cert)
	write(keyFile, key)
	s := start(t, t.TempDir(), "--tls-cert-file", certFile, "--tls-key-file", keyFile)
	served := func(c tls.Certificate) error {
		_, err := healthpb.NewHealthClient(s.dial(trusting(c))).Check(t.Context(), &healthpb.HealthCheckRequest{})
		return err
	}
	if err := served(first); err != nil {
		t.Fatal(err)
	}
	if _, err := healthpb.NewHealthClient(s.dial(insecure.NewCredentials())).Check(t.Context(), &healthpb.HealthCheckRequest{}); err == nil {
		t.Error("plain text is served")
	}
	second, cert, key := certify(t)
	write(certFile, cert)
	if err := served(first); err != nil {
		t.Errorf("in the middle of the renewal: %v", err)
	}
	write(keyFile, key)
	if err := served(second); err != nil {
		t.Errorf("after the renewal: %v", err)
	}
	if err := served(first); err == nil {
		t.Error("the old certificate still serves")
	}
}

func TestAServerWithoutItsCertificateDoesNotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := testkit.Start(t.Context(), "reprised", nil, nil, program, "--data-dir", dir, "--listen", "127.0.0.1:0",
		"--tls-cert-file", filepath.Join(dir, "none.pem"), "--tls-key-file", filepath.Join(dir, "none.pem"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if err := p.Wait(t.Context()); err == nil || !strings.Contains(p.Output(), "none.pem") {
		t.Errorf("%v: %s", err, p.Output())
	}
}
