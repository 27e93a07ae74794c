package testkit

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// ends returns both ends of one connection through a link, after the preface.
func ends(t *testing.T) (*Link, net.Conn, net.Conn) {
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
	agent, err := new(net.Dialer).DialContext(t.Context(), "tcp", link.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close() })
	server, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	if _, err := io.WriteString(agent, preface); err != nil {
		t.Fatal(err)
	}
	read(t, server, len(preface))
	return link, agent, server
}

func read(t *testing.T, c net.Conn, n int) {
	t.Helper()
	if _, err := io.ReadFull(c, make([]byte, n)); err != nil {
		t.Fatalf("read %d bytes: %v", n, err)
	}
}

func dataFrame(n int) []byte {
	f := make([]byte, frameHeader+n)
	binary.BigEndian.PutUint32(f, uint32(n)<<8)
	f[3] = 0
	return f
}

func TestACutFallsInsideADataFrame(t *testing.T) {
	link, agent, server := ends(t)
	link.CutInsideFrame(Up)
	if _, err := agent.Write(dataFrame(100)); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(server)
	if err != nil || len(got) != frameHeader+50 {
		t.Errorf("%d bytes arrived, %v; want the header and half of the frame", len(got), err)
	}
}

func TestAResetIsSeenByBothEnds(t *testing.T) {
	link, agent, server := ends(t)
	link.Reset()
	for _, c := range []net.Conn{agent, server} {
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("read = %v, want a reset", err)
		}
	}
}

func TestABlackHoleGivesNoSignAndLetsLaterConnectionsPass(t *testing.T) {
	link, agent, server := ends(t)
	link.BlackHole()
	if _, err := agent.Write(dataFrame(10)); err != nil {
		t.Fatal(err)
	}
	_ = server.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	var timeout net.Error
	if _, err := server.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("read = %v, want silence", err)
	}
}

func TestAStalledLinkDeliversInTheEnd(t *testing.T) {
	link, agent, server := ends(t)
	link.Stall(100 * time.Millisecond)
	start := time.Now()
	if _, err := agent.Write(dataFrame(10)); err != nil {
		t.Fatal(err)
	}
	read(t, server, frameHeader+10)
	if took := time.Since(start); took < 90*time.Millisecond {
		t.Errorf("the frame arrived after %v", took)
	}
}
