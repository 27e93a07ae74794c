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

func TestAWatchedConnectionIsOverOnceAndNotByADeadline(t *testing.T) {
	from, to := net.Pipe()
	defer func() { _ = to.Close() }()
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
