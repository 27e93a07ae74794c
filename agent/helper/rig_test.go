package helper_test

import (
	"context"
	"errors"
	"image"
	"net"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	doors "github.com/reprise-rpa/reprise/internal/virtualdesktop/serve"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// rig is a virtual desktop on the network.
type rig struct {
	control wire.ControlClient
	input   string
}

func startDesktop(t *testing.T) *rig {
	t.Helper()
	s, ok := virtualdesktop.BuiltIn("simple")
	if !ok {
		t.Fatal("no scene")
	}
	in, ctl := listen(t), listen(t)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- doors.New(s, nil).Run(ctx, in, ctl) }()
	t.Cleanup(func() {
		cancel(errTestEnds)
		if err := <-ended; !errors.Is(err, errTestEnds) {
			t.Errorf("the desktop ended with %v", err)
		}
	})
	control, err := wire.DialControl(t.Context(), ctl.Addr().String())
	must(t, err)
	t.Cleanup(func() { _ = control.Close() })
	return &rig{control: control, input: in.Addr().String()}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	return lis
}

func (r *rig) Lock(t *testing.T, locked bool) { must(t, r.control.Lock(t.Context(), locked)) }

func (r *rig) Down(t *testing.T) []string {
	t.Helper()
	down, err := r.control.Down(t.Context())
	must(t, err)
	return down
}

func (r *rig) LeaveDown(t *testing.T, keys ...string) { press(t, r.input, keys...) }

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
