package helper

import (
	"cmp"
	"context"
	"net"
	"sync"
)

// wire is one connection that is used once: as a listener it accepts it, as a dialer it
// dials it, and over is closed when it is over.
type wire struct {
	net.Conn
	strict bool // a read that fails is the end; else only Close is
	used   chan struct{}
	over   chan struct{}
	once   sync.Once
	mu     sync.Mutex
	why    error // of the read that failed first
}

// newWire wraps conn. A helper is strict, and stops as soon as a read fails. A service is
// not: gRPC closes the connection when what was read before is taken.
func newWire(conn net.Conn, strict bool) *wire {
	w := &wire{Conn: conn, strict: strict, used: make(chan struct{}, 1), over: make(chan struct{})}
	w.used <- struct{}{}
	return w
}

// Read reads, and knows why it can't.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err != nil {
		w.mu.Lock()
		if w.why == nil {
			w.why = err
		}
		w.mu.Unlock()
		if w.strict {
			w.end()
		}
	}
	return n, err
}

// Close closes the connection.
func (w *wire) Close() error {
	err := w.Conn.Close()
	w.end()
	return err
}

func (w *wire) end() { w.once.Do(func() { close(w.over) }) }

// reason is why reading failed first, or net.ErrClosed: the connection was closed here.
func (w *wire) reason() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.why, net.ErrClosed)
}

// dial returns the connection, once.
func (w *wire) dial(context.Context, string) (net.Conn, error) {
	select {
	case <-w.used:
		return w, nil
	default:
		return nil, ErrEnded
	}
}

// listener accepts the connection, once.
type listener struct {
	*wire
	closed chan struct{}
	stop   sync.Once
}

func newListener(w *wire) *listener { return &listener{wire: w, closed: make(chan struct{})} }

// Accept returns the connection, and then waits for Close.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.used:
		return l.wire, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept; the connection goes on.
func (l *listener) Close() error {
	l.stop.Do(func() { close(l.closed) })
	return nil
}

// Addr is the connection's.
func (l *listener) Addr() net.Addr { return l.LocalAddr() }
