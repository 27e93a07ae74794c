package agenttest

import (
	"io"
	"net"
	"sync"
)

// line is the agent's end of a connection that a test can break.
type line struct {
	net.Conn
	incoming chan []byte   // what the server's end wrote
	rest     []byte        // of the last piece
	silent   chan struct{} // closed by silence
	gone     chan struct{} // closed by Close and cut
	once     sync.Once
	hush     sync.Once
}

func newLine(conn net.Conn) *line {
	l := &line{Conn: conn, incoming: make(chan []byte), silent: make(chan struct{}), gone: make(chan struct{})}
	go l.pump()
	return l
}

// pump brings what the server writes; on a silent line it goes nowhere.
func (l *line) pump() {
	defer close(l.incoming)
	for {
		buffer := make([]byte, 32<<10)
		n, err := l.Conn.Read(buffer)
		if n > 0 {
			select {
			case <-l.silent:
			default:
				select {
				case l.incoming <- buffer[:n]:
				case <-l.silent:
				case <-l.gone:
					return
				}
			}
		}
		if err != nil {
			select {
			case <-l.silent:
				<-l.gone // nothing is heard of the end either
			default:
			}
			return
		}
	}
}

func (l *line) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		select {
		case piece, ok := <-l.incoming:
			if !ok {
				return 0, io.EOF
			}
			l.rest = piece
		case <-l.gone:
			return 0, net.ErrClosed
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *line) Write(p []byte) (int, error) {
	select {
	case <-l.gone:
		return 0, net.ErrClosed
	case <-l.silent:
		return len(p), nil
	default:
		return l.Conn.Write(p)
	}
}

func (l *line) Close() error {
	l.once.Do(func() { close(l.gone) })
	return l.Conn.Close()
}

func (l *line) cut() { _ = l.Close() }

func (l *line) silence() { l.hush.Do(func() { close(l.silent) }) }
