//go:build !windows

package supervise

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// On Windows an anonymous pipe has no deadlines; the tests with real named ones are in
// machine_wine_test.go.

// pipeConns are the ends of a pipe in one direction, as connections.
func pipeConns(t *testing.T) (from, to pipeConn) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return pipeConn{r}, pipeConn{w}
}

func TestAPipeAnswersAsAConnectionDoes(t *testing.T) {
	from, to := pipeConns(t)
	var conn net.Conn = to
	if n, err := conn.Write(nil); n != 0 || err != nil {
		t.Errorf("nothing written: %d, %v", n, err)
	}
	if conn.RemoteAddr().Network() != "pipe" || conn.LocalAddr().String() == "" {
		t.Errorf("addresses %v, %v", conn.LocalAddr(), conn.RemoteAddr())
	}
	if err := from.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := from.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("after the deadline: %v", err)
	}
	if err := from.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := from.Read(make([]byte, 1))
		ended <- err
	}()
	if err := from.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("read of a closed one: %v", err)
	}
	if err := from.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}
