package supervise

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// pipeConn is one end of a pipe as a net.Conn, with deadlines if the pipe has them. It
// is the file without what a connection does not have.
type pipeConn struct{ file *os.File }

// pipeAddr is the address of both ends: the pipe's name.
type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

// Read implements net.Conn. The other end's close is io.EOF.
func (c pipeConn) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	return n, closed(err)
}

// Write implements net.Conn. Nothing is not written: the other end would take that for
// the end.
func (c pipeConn) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := c.file.Write(p)
	return n, closed(err)
}

// Close implements net.Conn. It ends calls of Read and Write that wait.
func (c pipeConn) Close() error { return closed(c.file.Close()) }

func (c pipeConn) LocalAddr() net.Addr                { return pipeAddr(c.file.Name()) }
func (c pipeConn) RemoteAddr() net.Addr               { return pipeAddr(c.file.Name()) }
func (c pipeConn) SetDeadline(t time.Time) error      { return closed(c.file.SetDeadline(t)) }
func (c pipeConn) SetReadDeadline(t time.Time) error  { return closed(c.file.SetReadDeadline(t)) }
func (c pipeConn) SetWriteDeadline(t time.Time) error { return closed(c.file.SetWriteDeadline(t)) }

// closed makes the error of a closed file one of a closed connection as well.
func closed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("%w (%w)", net.ErrClosed, err)
	}
	return err
}
