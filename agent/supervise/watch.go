package supervise

import (
	"errors"
	"net"
	"os"
	"sync"
)

// watched is a connection that says when it is over, whoever finds out: a helper whose
// process lives on after that serves nobody, and has to be replaced too.
type watched struct {
	net.Conn
	once sync.Once
	over chan struct{}
}

func watch(conn net.Conn) *watched { return &watched{Conn: conn, over: make(chan struct{})} }

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	return n, w.seen(err)
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	return n, w.seen(err)
}

// Close closes the connection, once.
func (w *watched) Close() error {
	err := net.ErrClosed
	w.once.Do(func() {
		close(w.over)
		err = w.Conn.Close()
	})
	return err
}

// seen closes the connection for good on any error but a deadline.
func (w *watched) seen(err error) error {
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		_ = w.Close() // err says why already
	}
	return err
}
