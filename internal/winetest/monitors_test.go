package winetest

import (
	"bytes"
	"image"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMonitorsAreReadAsXWritesThem(t *testing.T) {
	got, err := ParseMonitor("1024x768+1280+0")
	if err != nil || got != image.Rect(1280, 0, 2304, 768) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []string{"", "1024x768", "1024x768+1", "0x768+0+0", "1024x768+0+0 x", "1024x768+0+0+0", "70000x1+0+0", "1024x768-1280+0"} {
		if got, err := ParseMonitor(bad); err == nil {
			t.Errorf("%q read as %v", bad, got)
		}
	}
}

var twoMonitors = []image.Rectangle{image.Rect(0, 0, 1280, 800), image.Rect(1280, 0, 2304, 768)}

// layoutWish is the message for twoMonitors, byte for byte as the protocol has it.
var layoutWish = []byte{
	251, 0, 9, 0, 3, 0x20, 2, 0,
	0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 3, 0x20, 0, 0, 0, 0,
	0, 0, 0, 2, 5, 0, 0, 0, 4, 0, 3, 0, 0, 0, 0, 0,
}

func TestMonitorsAreAskedForAndTheAnswerIsAwaited(t *testing.T) {
	// The layout as it was (reason 0), a rectangle of pixels and a bell come first.
	before := []byte{
		0, 0, 0, 2, 0, 0, 0, 0, 5, 0, 3, 0x20, 0xff, 0xff, 0xfe, 0xcc, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 3, 0x20, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 9, 9, 9, 9,
		2,
	}
	for status, want := range map[byte]string{0: "", 1: "prohibited", 3: "invalid", 7: "refused with 7"} {
		answer := []byte{0, 0, 0, 1, 0, 1, 0, status, 9, 0, 3, 0x20, 0xff, 0xff, 0xfe, 0xcc, 0, 0, 0, 0}
		asked, err := conversation(t, append(bytes.Clone(before), answer...))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("status %d: %v, want %q", status, err, want)
		}
		if diff := cmp.Diff(layoutWish, asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	}
}

func TestAServerThatEndsOrTalksNonsenseIsAnError(t *testing.T) {
	for name, answer := range map[string][]byte{"it ends": {}, "unknown message": {77}, "unknown encoding": {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99}} {
		if _, err := conversation(t, answer); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := SetMonitors(nil, nil); err == nil {
		t.Error("no monitors: no error")
	}
}

// conversation plays the server: it greets, takes the wish and says answer.
func conversation(t *testing.T, answer []byte) ([]byte, error) {
	t.Helper()
	client, server := net.Pipe()
	asked := make([]byte, 2*len(layoutWish))
	played := make(chan struct{})
	go func() {
		defer close(played)
		defer func() { _ = server.Close() }()
		say := func(b ...byte) { _, _ = server.Write(b) }
		hear := func(b []byte) { _, _ = io.ReadFull(server, b) }
		say([]byte("RFB 003.008\n")...)
		hear(make([]byte, 12))
		say(2, 2, 1) // two kinds of security: a password, and none
		hear(make([]byte, 1))
		say(0, 0, 0, 0)
		hear(make([]byte, 1))
		say(5, 0, 3, 0x20, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0, 0, 0, 0, 1, 'x')
		hear(make([]byte, 12))     // encodings
		n, _ := server.Read(asked) // one piece, as it was written
		asked = asked[:n]
		go func() { _, _ = io.Copy(io.Discard, server) }() // requests for updates
		say(answer...)
	}()
	err := SetMonitors(client, twoMonitors)
	_ = client.Close()
	<-played
	return asked, err
}
