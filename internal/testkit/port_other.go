//go:build !linux

package testkit

import (
	"fmt"
	"net"
)

// ReservePort finds a free loopback port for programs that listen there later. This
// system holds none for somebody else: it may be taken meanwhile.
func ReservePort() (address string, release func() error, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("reserve a port: %w", err)
	}
	return ln.Addr().String(), func() error { return nil }, ln.Close()
}
