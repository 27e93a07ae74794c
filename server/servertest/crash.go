package servertest

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// errCrashed is what a server meets that is to end as if it were killed.
var errCrashed = errors.New("the server has crashed")

// Crash ends the server as if its process were killed: all connections break in the
// middle of what they carry, nobody is told why, and nothing in flight is waited
// for, whatever the drain timeout says. A call that was not answered was carried out
// or was not; what was acknowledged is there after [Server.Restart]. It is a process
// that is lost and not a machine: what the operating system has been given reaches
// the disk. Crashing a stopped server changes nothing.
func (s *Server) Crash() error {
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	in := s.up
	s.up = nil
	s.mu.Unlock()
	if in == nil {
		return nil
	}
	in.lis.crash()
	defer in.stop()
	if err := <-in.ended; !errors.Is(err, errCrashed) {
		return fmt.Errorf("servertest: the server had ended with %w", err)
	}
	return s.noticed()
}

// listener accepts connections until it is closed, or until it crashes and takes
// them with it.
type listener struct {
	net.Listener
	mu      sync.Mutex
	crashed bool
	open    map[*connection]struct{}
}

func listenOn(inner net.Listener) *listener {
	return &listener{Listener: inner, open: map[*connection]struct{}{}}
}

// Accept implements net.Listener. Without a listener a server ends at once.
func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.crashed && err == nil:
		return nil, errors.Join(errCrashed, inner.Close())
	case l.crashed:
		return nil, errCrashed
	case err != nil:
		return nil, err
	}
	c := &connection{Conn: inner, of: l}
	l.open[c] = struct{}{}
	return c, nil
}

// crash breaks all connections, and then the listener: who looks sees no order in
// it.
func (l *listener) crash() {
	l.mu.Lock()
	l.crashed = true
	open := l.open
	l.open = map[*connection]struct{}{}
	l.mu.Unlock()
	for c := range open {
		_ = c.Conn.Close() // it breaks either way
	}
	_ = l.Close()
}

// connection is one that a listener has accepted and that is not closed.
type connection struct {
	net.Conn
	of *listener
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
