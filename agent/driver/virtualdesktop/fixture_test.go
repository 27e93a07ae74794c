package virtualdesktop_test

import (
	"context"
	"errors"
	"image"
	"net"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	driving "github.com/reprise-rpa/reprise/agent/driver/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/serve"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

func TestVirtualDesktopKeepsEveryPromise(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) drivertest.Fixture { return start(t, "simple", "127.0.0.1:0") })
}

var errTestEnds = errors.New("the test ends")

// rig is a desktop on the network with a driver on it.
type rig struct {
	driver  *driving.Driver
	control wire.ControlClient
	input   string
	stop    func()
}

func start(t *testing.T, scene, inputAddress string) *rig {
	t.Helper()
	s, ok := virtualdesktop.BuiltIn(scene)
	if !ok {
		t.Fatalf("no scene %q", scene)
	}
	in, ctl := listen(t, inputAddress), listen(t, "127.0.0.1:0")
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- serve.New(s, nil).Run(ctx, in, ctl) }()
	stopped := false
	r := &rig{input: in.Addr().String(), driver: driving.New(in.Addr().String())}
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel(errTestEnds)
		if err := <-ended; !errors.Is(err, errTestEnds) {
			t.Errorf("the desktop ended with %v", err)
		}
	}
	t.Cleanup(r.stop)
	t.Cleanup(func() { _ = r.driver.Close() })
	control, err := wire.DialControl(t.Context(), ctl.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = control.Close() })
	r.control = control
	return r
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func (r *rig) Driver() driver.Driver                     { return r.driver }
func (r *rig) OffScreen() image.Point                    { return image.Pt(-400, 50) } // above the second monitor
func (r *rig) Exceptions() map[drivertest.Promise]string { return nil }
func (r *rig) Lock(t *testing.T, locked bool)            { must(t, r.control.Lock(t.Context(), locked)) }

func (r *rig) Down(t *testing.T) []string {
	t.Helper()
	down, err := r.control.Down(t.Context())
	must(t, err)
	return down
}

func (r *rig) LeaveDown(t *testing.T, keys ...string) {
	t.Helper()
	other, err := wire.DialInput(t.Context(), r.input)
	must(t, err)
	for _, key := range keys {
		must(t, other.Send(t.Context(), wire.Event{Kind: wire.KeyDown, Key: key}))
	}
	must(t, other.Send(t.Context(), wire.Event{Kind: wire.ButtonDown, Button: wire.Left}))
	must(t, other.Close())
}

func (r *rig) OpenWindow(t *testing.T, title string) drivertest.Window {
	t.Helper()
	recording, err := r.control.Recorder(t.Context(), title)
	must(t, err)
	return recorder{r.control, recording}
}

type recorder struct {
	control wire.ControlClient
	wire.Recording
}

func (r recorder) Area() image.Rectangle { return r.Recording.Area }

// Await asks once: a reply says that the desktop has done all it will do.
func (r recorder) Await(t *testing.T, done func(drivertest.Seen) bool) drivertest.Seen {
	t.Helper()
	ledger, err := r.control.Ledger(t.Context())
	must(t, err)
	text, err := r.control.Text(t.Context(), r.Widget)
	must(t, err)
	seen := drivertest.Seen{Text: text}
	for _, entry := range ledger {
		if entry.Widget == r.Widget && entry.Effect == wire.Told {
			seen.Events = append(seen.Events, event(*entry.Input))
		}
	}
	done(seen)
	return seen
}

func event(in wire.Input) drivertest.Event {
	kinds := map[wire.Kind]drivertest.Kind{
		wire.ButtonDown: drivertest.Press, wire.ButtonUp: drivertest.Release, wire.Move: drivertest.Move,
		wire.Wheel: drivertest.Wheel, wire.KeyDown: drivertest.KeyDown, wire.KeyUp: drivertest.KeyUp,
	}
	e := drivertest.Event{Kind: kinds[in.Kind], Clicks: in.Clicks, Key: in.Key}
	if in.Key == "" {
		e.At = in.At
	}
	switch in.Kind {
	case wire.ButtonDown:
		e.Modifiers = in.Modifiers
		fallthrough
	case wire.ButtonUp:
		e.Button = map[string]driver.Button{wire.Left: driver.Left, wire.Right: driver.Right, wire.Middle: driver.Middle}[in.Button]
	case wire.Wheel:
		e.Notches, e.Modifiers = image.Pt(in.X, in.Y), in.Modifiers
	}
	return e
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
