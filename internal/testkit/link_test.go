package testkit

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// door is a link and the listener behind it.
type door struct {
	link   *Link
	behind net.Listener
}

func open(t *testing.T) door {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	link, err := NewLink(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = link.Close() })
	return door{link, ln}
}

// ends returns both ends of one more connection through the link, after the preface.
func (d door) ends(t *testing.T) (agent, server net.Conn) {
	t.Helper()
	agent, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.link.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close() })
	if server, err = d.behind.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	send(t, agent, []byte(preface))
	read(t, server, len(preface))
	return agent, server
}

func send(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, c net.Conn, n int) {
	t.Helper()
	if _, err := io.ReadFull(c, make([]byte, n)); err != nil {
		t.Fatalf("read %d bytes: %v", n, err)
	}
}

// silence checks that nothing arrives for a moment.
func silence(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read = %d, %v; want silence", n, err)
	}
	_ = c.SetReadDeadline(time.Time{})
}

func dataFrame(n int) []byte {
	f := make([]byte, frameHeader+n)
	binary.BigEndian.PutUint32(f, uint32(n)<<8)
	f[3] = 0
	return f
}

func TestACutFallsInsideADataFrame(t *testing.T) {
	d := open(t)
	agent, server := d.ends(t)
	d.link.CutInsideFrame(Up)
	send(t, agent, dataFrame(100))
	got, err := io.ReadAll(server)
	if err != nil || len(got) != frameHeader+50 {
		t.Errorf("%d bytes arrived, %v; want the header and half of the frame", len(got), err)
	}
}

func TestAResetIsSeenByBothEnds(t *testing.T) {
	d := open(t)
	agent, server := d.ends(t)
	d.link.Reset()
	for _, c := range []net.Conn{agent, server} {
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("read = %v, want a reset", err)
		}
	}
}

func TestABlackHoleGivesNoSignAndLetsLaterConnectionsPass(t *testing.T) {
	d := open(t)
	agent, server := d.ends(t)
	d.link.BlackHole()
	send(t, agent, dataFrame(10))
	silence(t, server)
	agent, later := d.ends(t)
	send(t, agent, dataFrame(10))
	read(t, later, frameHeader+10)
	silence(t, server)
}

func TestAStalledLinkDeliversInTheEnd(t *testing.T) {
	const stall = 100 * time.Millisecond
	d := open(t)
	agent, server := d.ends(t)
	start := time.Now() // before the stall begins: the link may be first to go on
	d.link.Stall(stall)
	send(t, agent, dataFrame(10))
	read(t, server, frameHeader+10)
	if took := time.Since(start); took < stall {
		t.Errorf("the frame arrived after %v", took)
	}
}

func TestAHeldLinkDeliversOnceItIsReleased(t *testing.T) {
	d := open(t)
	agent, server := d.ends(t)
	release := d.link.Hold()
	send(t, agent, dataFrame(10))
	silence(t, server)
	release()
	read(t, server, frameHeader+10)
}

// A test that fails does not release what it holds.
func TestAHeldLinkCanBeClosed(t *testing.T) {
	d := open(t)
	agent, server := d.ends(t)
	d.link.Hold()
	send(t, agent, dataFrame(10))
	silence(t, server)
	if err := d.link.Close(); err != nil {
		t.Error(err)
	}
}
