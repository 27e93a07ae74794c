package host

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"

	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// certificate is a certificate and its key on disk. They are read again at each
// handshake, so that a renewed one needs no restart. While they cannot be read,
// such as in the middle of a renewal, the last good ones serve.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu   sync.Mutex
	good *tls.Certificate
}

// load reads the files.
func (c *certificate) load() (*tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return &cert, nil
}

// get is for tls.Config.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, err := c.load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.log.Warn("the certificate cannot be read; the one before serves", logkeys.Error, err)
		return c.good, nil
	}
	c.good = cert
	return cert, nil
}
