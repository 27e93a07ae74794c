package supervise

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAnInvitationIsReadAsItWasWritten(t *testing.T) {
	want := invitation{Pipe: pipePrefix + strings.Repeat("0f", pipeRandom), Server: 812, Owner: "S-1-5-18", Secret: bytes.Repeat([]byte{7}, SecretSize)}
	text, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := readInvitation(bytes.NewReader(text))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if len(text) > maxInvitation/2 {
		t.Errorf("%d bytes", len(text))
	}
}

func TestWithoutAnInvitationThereIsNoHelperAndNoSecretIsTold(t *testing.T) {
	secret := bytes.Repeat([]byte{0xa5}, SecretSize)
	whole := func(change func(*invitation)) string {
		i := invitation{Pipe: pipePrefix + strings.Repeat("0f", pipeRandom), Server: 812, Owner: "S-1-5-18", Secret: secret}
		change(&i)
		text, _ := i.encode()
		return string(text)
	}
	for name, text := range map[string]string{
		"nothing":      "",
		"no JSON":      "hello",
		"cut off":      whole(func(*invitation) {})[:60],
		"two of them":  whole(func(*invitation) {}) + whole(func(*invitation) {}),
		"another pipe": whole(func(i *invitation) { i.Pipe = `\\server\pipe\x` }),
		"short name":   whole(func(i *invitation) { i.Pipe = pipePrefix + "00" }),
		"no server":    whole(func(i *invitation) { i.Server = 0 }),
		"no owner":     whole(func(i *invitation) { i.Owner = "" }),
		"short secret": whole(func(i *invitation) { i.Secret = secret[1:] }),
		"too long":     strings.Repeat(" ", maxInvitation) + whole(func(*invitation) {}),
	} {
		conn, _, err := Dial(t.Context(), strings.NewReader(text))
		if !errors.Is(err, ErrNotInvited) || conn != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), base64.StdEncoding.EncodeToString(secret)[:20]) {
			t.Errorf("%s: the error tells the secret", name)
		}
	}
}

func TestWaitingForAnInvitationEndsWithItsContext(t *testing.T) {
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStopped)
	if _, _, err := Dial(ctx, r); !errors.Is(err, errStopped) {
		t.Errorf("got %v", err)
	}
}

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

func TestAWatchedConnectionIsOverOnceAndNotByADeadline(t *testing.T) {
	from, _ := pipeConns(t)
	w := watch(from)
	_ = w.SetReadDeadline(time.Now().Add(-time.Second))
	if _, err := w.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	select {
	case <-w.over:
		t.Fatal("a deadline ended it")
	default:
	}
	if err := w.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	<-w.over
	if err := w.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

func TestAllFaultsOfAConfigurationAreToldTogether(t *testing.T) {
	_, err := New(Config{User: "a@b", StartWithin: -1})
	for _, want := range []string{"Machine", "Desk", "a@b", "StartWithin"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}
