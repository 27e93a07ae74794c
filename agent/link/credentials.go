package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// bearer shows the token with every call.
type bearer struct {
	token  string
	secure bool
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.secure }

// Transport is how the connection to a server (host:port) is secured: by TLS with the CAs
// of caFile, a file in PEM, else with the system's. Without a CA file a loopback address
// is spoken to in plain text; then secure is false.
func Transport(server, caFile string) (_ credentials.TransportCredentials, secure bool, err error) {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		return nil, false, fmt.Errorf("server address %q: host:port is needed", server)
	}
	if caFile == "" && IsLoopback(host) {
		return insecure.NewCredentials(), false, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13, ServerName: host}
	if caFile != "" {
		if config.RootCAs, err = CAs(caFile); err != nil {
			return nil, false, err
		}
	}
	return credentials.NewTLS(config), true, nil
}

// CAs are the certificates in a file in PEM; one without any is an error.
func CAs(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("CA file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CA file %s holds no certificate", path)
	}
	return pool, nil
}

// IsLoopback says whether a host is this machine, by its name or address.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// TokenFile returns a source of the token in a file. It is read anew for each
// connection, so that a rotated token is used without a restart.
func TokenFile(path string) func() (string, error) {
	return func() (string, error) {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("token file: %w", err)
		}
		token := strings.TrimSpace(string(data))
		if token == "" || strings.ContainsAny(token, "\r\n") {
			return "", errors.New("token file " + path + " must hold one token")
		}
		return token, nil
	}
}
