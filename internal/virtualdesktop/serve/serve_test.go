package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/serve"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errTestEnds = errors.New("the test ends")

// open serves a desktop for the length of a test.
func open(t *testing.T) (input, control string) {
	t.Helper()
	scene, _ := virtualdesktop.BuiltIn("simple")
	var doors [2]net.Listener
	for i := range doors {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		doors[i] = ln
	}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- serve.New(scene, nil).Run(ctx, doors[0], doors[1]) }()
	t.Cleanup(func() {
		stop(errTestEnds)
		if err := <-ended; !errors.Is(err, errTestEnds) {
			t.Errorf("Run = %v, want the cause of its end", err)
		}
	})
	return doors[0].Addr().String(), doors[1].Addr().String()
}

func dial(t *testing.T, input, control string) (wire.InputClient, wire.ControlClient) {
	t.Helper()
	in, err := wire.DialInput(t.Context(), input)
	must(t, err)
	t.Cleanup(func() { _ = in.Close() })
	ctl, err := wire.DialControl(t.Context(), control)
	must(t, err)
	t.Cleanup(func() { _ = ctl.Close() })
	return in, ctl
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheInputDoorControlsNothing(t *testing.T) {
	input, control := open(t)
	for _, c := range []struct{ door, line string }{
		{input, `{"op":"swallow","args":true}`}, {input, `{"op":"ledger"}`}, {input, `{"op":"lock","args":true}`},
		{control, `{"op":"input","args":{"kind":"char","text":"x"}}`},
		{input, `not json`}, {input, `{"op":"input","args":7}`}, {input, `{}`}, {control, `{"op":"popup"}`},
	} {
		conn, err := net.Dial("tcp", c.door)
		must(t, err)
		_, err = fmt.Fprintln(conn, c.line)
		must(t, err)
		reply, err := bufio.NewReader(conn).ReadString('\n')
		must(t, err)
		if !strings.Contains(reply, `"code":"bad_request"`) {
			t.Errorf("%s: %s", c.line, reply)
		}
		must(t, conn.Close())
	}
	in, ctl := dial(t, input, control)
	condition, err := in.Condition(t.Context())
	if err != nil || condition != wire.Active {
		t.Errorf("condition = %v, %v", condition, err)
	}
	if ledger, err := ctl.Ledger(t.Context()); err != nil || len(ledger) != 0 {
		t.Errorf("ledger = %v, %v", ledger, err)
	}
}

func TestWhatIsDownStaysDownWhenItsHandDies(t *testing.T) {
	input, control := open(t)
	in, ctl := dial(t, input, control)
	r, err := ctl.Recorder(t.Context(), "recorder")
	must(t, err)
	for _, e := range []wire.Event{
		{Kind: wire.Move, X: r.Area.Min.X, Y: r.Area.Min.Y}, {Kind: wire.ButtonDown, Button: wire.Left},
		{Kind: wire.KeyDown, Key: "ctrl"}, {Kind: wire.Char, Text: "é"},
	} {
		must(t, in.Send(t.Context(), e))
	}
	must(t, in.Close())
	down, err := ctl.Down(t.Context())
	if diff := cmp.Diff([]string{"ctrl", "left_button"}, down); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if text, err := ctl.Text(t.Context(), r.Widget); err != nil || text != "é" {
		t.Errorf("text = %q, %v", text, err)
	}
}

func TestARefusalKeepsItsMeaningOnTheWire(t *testing.T) {
	input, control := open(t)
	in, ctl := dial(t, input, control)
	if err := in.Send(t.Context(), wire.Event{Kind: wire.Move, X: -400, Y: 50}); !errors.Is(err, wire.ErrOffScreen) {
		t.Errorf("off screen: %v", err)
	}
	must(t, ctl.Lock(t.Context(), true))
	if err := in.Send(t.Context(), wire.Event{Kind: wire.Move}); !errors.Is(err, wire.ErrLocked) {
		t.Errorf("locked: %v", err)
	}
	must(t, ctl.Lock(t.Context(), false))
	must(t, ctl.Disconnect(t.Context(), true))
	if err := in.Send(t.Context(), wire.Event{Kind: wire.Move}); !errors.Is(err, wire.ErrDisconnected) {
		t.Errorf("disconnected: %v", err)
	}
	if err := ctl.MoveWindow(t.Context(), "nobody", image.Pt(1, 1)); !errors.Is(err, wire.ErrNoWindow) {
		t.Errorf("moving no window: %v", err)
	}
	if _, err := ctl.Find(t.Context(), "nothing"); !errors.Is(err, wire.ErrBadRequest) {
		t.Errorf("finding nothing: %v", err)
	}
}

func TestControlReachesTheDesktop(t *testing.T) {
	input, control := open(t)
	in, ctl := dial(t, input, control)
	id, err := ctl.Popup(t.Context(), wire.SystemDialog())
	must(t, err)
	must(t, ctl.MoveWindow(t.Context(), id, image.Pt(-700, 200)))
	windows, err := in.Windows(t.Context())
	must(t, err)
	if windows[0].ID != id || windows[0].Bounds.Min != image.Pt(-700, 200) {
		t.Errorf("in front = %+v", windows[0])
	}
	must(t, ctl.Swallow(t.Context(), true))
	button, err := ctl.Find(t.Context(), id+"-ok")
	must(t, err)
	for _, e := range []wire.Event{
		{Kind: wire.Move, X: button.Min.X, Y: button.Min.Y}, {Kind: wire.ButtonDown, Button: wire.Left}, {Kind: wire.ButtonUp, Button: wire.Left},
	} {
		must(t, in.Send(t.Context(), e))
	}
	if windows, err := in.Windows(t.Context()); err != nil || windows[0].ID != id {
		t.Errorf("a swallowed click closed the dialog: %v, %v", windows, err)
	}
	picture, err := ctl.Capture(t.Context())
	if err != nil || picture.Bounds() != image.Rect(-800, 0, 1280, 800) {
		t.Errorf("picture: %v, %v", picture, err)
	}
}

func TestACallThatEndsEarlyIsNotMistakenForTheNext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = silent.Close() }()
	in, err := wire.DialInput(t.Context(), silent.Addr().String())
	must(t, err)
	defer func() { _ = in.Close() }()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTestEnds)
	if _, err := in.Condition(ctx); !errors.Is(err, errTestEnds) {
		t.Errorf("err = %v, want the cause", err)
	}
	if _, err := in.Condition(t.Context()); !errors.Is(err, errTestEnds) {
		t.Errorf("the next call: %v, want the same end", err)
	}
}
