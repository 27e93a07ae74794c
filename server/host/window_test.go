package host

import (
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"github.com/reprise-rpa/reprise/server/settings"
)

// frameSettings is the type of a frame of HTTP/2 (RFC 9113, section 6.5).
const frameSettings = 4

// readFrame reads one frame and returns its type and what it carries.
func readFrame(t *testing.T, conn net.Conn) (kind byte, payload []byte) {
	t.Helper()
	head := make([]byte, 9)
	if _, err := io.ReadFull(conn, head); err != nil {
		t.Fatal(err)
	}
	payload = make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	if _, err := io.ReadFull(conn, payload); err != nil {
		t.Fatal(err)
	}
	return head[3], payload
}

// A call may send a picture's worth before it waits for the server.
func TestTheServerSaysAtOnceHowMuchACallMaySend(t *testing.T) {
	lis := bufconn.Listen(1 << 20)
	door, err := OpenDoor(lis, settings.Default(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = door.Close() }()
	conn, err := lis.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		t.Fatal(err)
	}
	kind, payload := readFrame(t, conn)
	if kind != frameSettings {
		t.Fatalf("the first frame has type %d", kind)
	}
	const initialWindowSize = 4 // section 6.5.2
	window := uint32(0)
	for ; len(payload) >= 6; payload = payload[6:] {
		if binary.BigEndian.Uint16(payload) == initialWindowSize {
			window = binary.BigEndian.Uint32(payload[2:])
		}
	}
	if window != callWindow {
		t.Errorf("a call may send %d bytes, want %d", window, callWindow)
	}
}
