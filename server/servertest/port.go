package servertest

import (
	"net"
	"sync"
)

// port is an address that is kept while the server is away, so that nobody else is
// given it meanwhile. Who connects then is let go of at once.
type port struct {
	lis   net.Listener
	ended chan struct{} // closed when accepting has failed, with err
	err   error

	mu   sync.Mutex
	side *side // whose connections come; nil: nobody serves
}

// openPort listens on an address until close.
func openPort(address string) (*port, error) {
	lis, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &port{lis: lis, ended: make(chan struct{})}
	go p.accept()
	return p, nil
}

func (p *port) accept() {
	defer close(p.ended)
	for {
		conn, err := p.lis.Accept()
		if err != nil {
			p.err = err
			return
		}
		if s := p.serving(nil, nil); s == nil || !s.take(conn) {
			_ = conn.Close() // nobody serves
		}
	}
}

// serving says who serves, once next does in the place of before; when both are the
// same nothing changes.
func (p *port) serving(before, next *side) *side {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.side == before {
		p.side = next
	}
	return p.side
}

// listen returns a listener that gets what connects from now on. Closing it leaves
// the port.
func (p *port) listen() net.Listener {
	s := &side{of: p, conns: make(chan net.Conn), closed: make(chan struct{})}
	p.serving(nil, s)
	return s
}

// close gives the port back.
func (p *port) close() error {
	err := p.lis.Close()
	<-p.ended
	return err
}

// side is a port's listener, for one server.
type side struct {
	of     *port
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// take hands a connection over, unless the listener is closed.
func (s *side) take(conn net.Conn) bool {
	select {
	case s.conns <- conn:
		return true
	case <-s.closed:
		return false
	}
}

// Accept implements net.Listener.
func (s *side) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	case <-s.of.ended:
		return nil, s.of.err
	}
}

// Close implements net.Listener.
func (s *side) Close() error {
	s.once.Do(func() {
		s.of.serving(s, nil)
		close(s.closed)
	})
	return nil
}

// Addr implements net.Listener.
func (s *side) Addr() net.Addr { return s.of.lis.Addr() }
