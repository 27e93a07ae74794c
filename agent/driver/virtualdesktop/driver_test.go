package virtualdesktop_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	driving "github.com/reprise-rpa/reprise/agent/driver/virtualdesktop"
)

func TestADesktopThatComesBackIsDrivenAgain(t *testing.T) {
	r := start(t, "simple", "127.0.0.1:0")
	must(t, r.driver.Do(t.Context(), driver.Type{Text: "x"}))
	r.stop()

	state, err := r.driver.State(t.Context())
	if err != nil || state.Kind != desktop.Disconnected || state.Detail == "" {
		t.Errorf("state = %+v, %v; want disconnected, and why", state, err)
	}
	err = r.driver.Do(t.Context(), driver.Type{Text: "x"})
	if !errors.Is(err, driver.ErrUnavailable) || !driver.NothingSent(err) {
		t.Errorf("Do = %v; want unavailable, and proof that nothing was sent", err)
	}
	if _, err := r.driver.Capture(t.Context()); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("Capture = %v; want unavailable", err)
	}

	again := start(t, "simple", r.input)
	w := again.OpenWindow(t, "back")
	must(t, r.driver.Do(t.Context(), driver.Type{Text: "back"}))
	if text := w.(recorder).text(t); text != "back" {
		t.Errorf("text = %q", text)
	}
}

func TestADisconnectedDisplayIsUnavailable(t *testing.T) {
	r := start(t, "simple", "127.0.0.1:0")
	must(t, r.control.Disconnect(t.Context(), true))
	if state, err := r.driver.State(t.Context()); err != nil || state.Kind != desktop.Disconnected {
		t.Errorf("state = %+v, %v", state, err)
	}
	err := r.driver.Do(t.Context(), driver.Combo{Keys: []string{"f2"}})
	if !errors.Is(err, driver.ErrUnavailable) || !driver.NothingSent(err) {
		t.Errorf("Do = %v", err)
	}
}

func TestFocusThatIsSwallowedIsNotBelieved(t *testing.T) {
	r := start(t, "simple", "127.0.0.1:0")
	must(t, r.control.Swallow(t.Context(), true))
	err := r.driver.Do(t.Context(), driver.Focus{WindowID: "notes"})
	if !errors.Is(err, driver.ErrNotInFront) {
		t.Errorf("Do = %v; want not in front", err)
	}
}

// A desktop that is locked in the middle of a gesture is not ErrUnavailable,
// which would prove that nothing was sent.
func TestALockInTheMiddleOfAGestureIsNoProofThatNothingWasSent(t *testing.T) {
	r := start(t, "simple", "127.0.0.1:0")
	w := r.OpenWindow(t, "locked midway")
	front := throughProxy(t, r.input, func(line string) bool {
		if strings.Contains(line, `"key":"f11"`) {
			if err := r.control.Lock(t.Context(), true); err != nil {
				t.Error(err)
			}
		}
		return true
	})
	defer func() { _ = front.Close() }()
	err := front.Do(t.Context(), driver.Combo{Keys: []string{"ctrl", "f11"}})
	if !errors.Is(err, driver.ErrBlocked) || errors.Is(err, driver.ErrUnavailable) || driver.NothingSent(err) {
		t.Errorf("Do = %v; want blocked after one event", err)
	}
	if down := r.Down(t); len(down) != 0 {
		t.Errorf("still down: %v", down)
	}
	must(t, r.control.Lock(t.Context(), false))
	if text := w.(recorder).text(t); text != "" {
		t.Errorf("text = %q", text)
	}
}

// The line breaks after the desktop took the event and before it said so.
func TestAnEventWhoseReplyIsLostCountsAsSentAndIsLetGo(t *testing.T) {
	r := start(t, "simple", "127.0.0.1:0")
	front := throughProxy(t, r.input, func(line string) bool { return !strings.Contains(line, `"key":"ctrl"`) })
	defer func() { _ = front.Close() }()
	err := front.Do(t.Context(), driver.Combo{Keys: []string{"ctrl", "f2"}})
	var partly *driver.InputError
	if !errors.As(err, &partly) || partly.Sent != 1 {
		t.Errorf("Do = %v; want one event that may have been taken", err)
	}
	// The proxy withholds the reply to letting go as well; the driver says so.
	if err == nil || !strings.Contains(err.Error(), "letting go") {
		t.Errorf("Do = %v; want it to say that letting go is unknown too", err)
	}
	if down := r.Down(t); len(down) != 0 {
		t.Errorf("still down: %v", down)
	}
}

func TestAnErrorNeverQuotesWhatWasTyped(t *testing.T) {
	r := start(t, "simple", "127.0.0.1:0")
	must(t, r.control.Lock(t.Context(), true))
	for _, in := range []driver.Input{driver.Type{Text: "secret"}, driver.Type{Text: "secret\x00"}, driver.Paste{Text: "secret"}} {
		if err := r.driver.Do(t.Context(), in); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%T: %v", in, err)
		}
	}
}

// throughProxy is a driver whose line runs through a proxy that asks before it
// passes a reply on: false cuts the line, after the desktop has answered.
func throughProxy(t *testing.T, to string, pass func(request string) bool) *driving.Driver {
	t.Helper()
	ln := listen(t, "127.0.0.1:0")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			relay(near, to, pass)
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-ended })
	return driving.New(ln.Addr().String())
}

func relay(near net.Conn, to string, pass func(string) bool) {
	defer func() { _ = near.Close() }()
	far, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	requests, replies := bufio.NewReader(near), bufio.NewReader(far)
	for {
		request, err := requests.ReadString('\n')
		if err != nil {
			return
		}
		passes := pass(request)
		if _, err := io.WriteString(far, request); err != nil {
			return
		}
		reply, err := replies.ReadString('\n')
		if err != nil || !passes {
			return
		}
		if _, err := io.WriteString(near, reply); err != nil {
			return
		}
	}
}

func (r recorder) text(t *testing.T) string {
	t.Helper()
	text, err := r.control.Text(t.Context(), r.Widget)
	must(t, err)
	return text
}
