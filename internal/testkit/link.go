// Package testkit holds what tests of whole processes share: a link that breaks
// on demand, and programs that are started, watched and killed. It knows nothing
// of server or agent.
package testkit

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// Direction is one way through a Link.
type Direction int

// The directions; Up is from the agent to the server.
const (
	Up Direction = iota
	Down
)

// Link is a TCP proxy between an agent and its server that breaks when it is
// told to. It reads the HTTP/2 frames that pass, so that a cut can fall inside
// one.
type Link struct {
	target   string
	listener net.Listener

	mu    sync.Mutex
	pairs map[*pair]struct{}
	wg    sync.WaitGroup
}

// NewLink listens on a free loopback port and forwards to target.
func NewLink(target string) (*Link, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{target: target, listener: ln, pairs: map[*pair]struct{}{}}
	l.wg.Go(l.accept)
	return l, nil
}

// Address is where agents connect.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Close ends the link and all that passes.
func (l *Link) Close() error {
	err := l.listener.Close()
	l.each(func(p *pair) { p.close() })
	l.wg.Wait()
	return err
}

// Reset ends every connection with a TCP reset: what was in buffers is lost.
func (l *Link) Reset() {
	l.each(func(p *pair) {
		for _, c := range []net.Conn{p.agent, p.server} {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
		}
		p.close()
	})
}

// BlackHole swallows everything on the connections that exist now, both ways,
// without a sign to either end. Later connections pass.
func (l *Link) BlackHole() { l.each(func(p *pair) { p.set(func() { p.swallow = true }) }) }

// Stall holds everything back for a time.
func (l *Link) Stall(d time.Duration) { time.AfterFunc(d, l.Hold()) }

// Hold holds back everything on the connections that exist now, both ways, until
// release is called; then it all arrives in order.
func (l *Link) Hold() (release func()) {
	open := make(chan struct{})
	l.each(func(p *pair) { p.set(func() { p.gate = open }) })
	return sync.OnceFunc(func() { close(open) })
}

// CutInsideFrame ends each connection that exists now in the middle of the next
// data frame in one direction: its first half has been delivered.
func (l *Link) CutInsideFrame(d Direction) {
	l.each(func(p *pair) { p.set(func() { p.cut[d] = true }) })
}

func (l *Link) each(f func(*pair)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.pairs {
		f(p)
	}
}

func (l *Link) accept() {
	for {
		agent, err := l.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.DialTimeout("tcp", l.target, time.Second)
		if err != nil { // the server is down: the agent sees that
			_ = agent.Close()
			continue
		}
		p := &pair{agent: agent, server: server, gone: make(chan struct{})}
		l.mu.Lock()
		l.pairs[p] = struct{}{}
		l.mu.Unlock()
		l.wg.Go(func() {
			var both sync.WaitGroup
			both.Go(func() { p.pump(server, agent, Up) })
			both.Go(func() { p.pump(agent, server, Down) })
			both.Wait()
			l.mu.Lock()
			delete(l.pairs, p)
			l.mu.Unlock()
		})
	}
}

// pair is one connection through the link.
type pair struct {
	agent, server net.Conn
	gone          chan struct{} // closed with the connection
	once          sync.Once

	mu      sync.Mutex
	swallow bool
	gate    chan struct{} // closed: open; nil: there was none
	cut     [2]bool
}

func (p *pair) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *pair) close() {
	p.once.Do(func() { close(p.gone) })
	_ = p.agent.Close()
	_ = p.server.Close()
}

// preface is what an HTTP/2 client sends before its first frame.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frameHeader is the length of an HTTP/2 frame's header (RFC 9113, 4.1).
const frameHeader = 9

// pump forwards frame by frame in one direction until either end is gone.
func (p *pair) pump(to io.Writer, from io.Reader, d Direction) {
	defer p.close()
	if d == Up {
		if !p.forward(to, from, len(preface), d, false) {
			return
		}
	}
	var header [frameHeader]byte
	for {
		if _, err := io.ReadFull(from, header[:]); err != nil {
			return
		}
		length := int(binary.BigEndian.Uint32(append([]byte{0}, header[:3]...)))
		isData := header[3] == 0
		frame := io.MultiReader(bytes.NewReader(header[:]), io.LimitReader(from, int64(length)))
		if !p.forward(to, frame, len(header)+length, d, isData && length > 0) {
			return
		}
	}
}

// forward passes n bytes on, unless the link has been told to break.
func (p *pair) forward(to io.Writer, from io.Reader, n int, d Direction, mayCut bool) bool {
	buf := make([]byte, n)
	if _, err := io.ReadFull(from, buf); err != nil {
		return false
	}
	p.mu.Lock()
	gate := p.gate
	p.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-p.gone:
			return false
		}
	}
	p.mu.Lock()
	swallow, cut := p.swallow, p.cut[d] && mayCut
	p.mu.Unlock()
	switch {
	case swallow:
		return true
	case cut:
		_, _ = to.Write(buf[:frameHeader+(n-frameHeader)/2])
		return false
	}
	_, err := to.Write(buf)
	return err == nil
}
