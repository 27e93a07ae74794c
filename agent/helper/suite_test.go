package helper_test

import (
	"context"
	"errors"
	"image"
	"log/slog"
	"net"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/drivertest"
	"github.com/reprise-rpa/reprise/agent/driver/virtualdesktop"
	"github.com/reprise-rpa/reprise/agent/helper"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// The desktop through a helper is a driver like any other.
func TestADesktopThroughAHelperKeepsTheDriversPromises(t *testing.T) {
	for name, link := range links {
		t.Run(name, func(t *testing.T) {
			drivertest.Run(t, func(t *testing.T) drivertest.Fixture {
				rig := startDesktop(t)
				seen := &looking{caller: make(chan context.Context, 1)}
				d := newDesktop(t)
				serve(t, d, link, func(context.Context, helper.Settings) (driver.Driver, error) {
					seen.Driver = virtualdesktop.New(rig.input)
					return seen, nil
				})
				return &fixture{rig, &hinting{d, seen}}
			})
		})
	}
}

// looking is the helper's driver. Each look at the context of a gesture is a look at that
// of the service's caller as well, so that the suite can stop a gesture between two given
// events: a look that ends the caller's waits until the stop has come across.
type looking struct {
	driver.Driver
	caller chan context.Context // of the gesture that comes
}

func (l *looking) Do(ctx context.Context, in driver.Input) error {
	return l.Driver.Do(&twoLooks{ctx, <-l.caller}, in)
}

func (l *looking) Close() error { return l.Driver.(*virtualdesktop.Driver).Close() }

type twoLooks struct {
	context.Context
	caller context.Context
}

func (c *twoLooks) Err() error {
	if c.caller.Err() != nil {
		<-c.Done()
	}
	return c.Context.Err()
}

// hinting is the service's desktop, and hands the contexts over.
type hinting struct {
	*helper.Desktop
	seen *looking
}

func (h *hinting) Do(ctx context.Context, in driver.Input) error {
	h.seen.caller <- ctx
	err := h.Desktop.Do(ctx, in)
	select {
	case <-h.seen.caller: // the gesture did not come across
	default:
	}
	return err
}

type fixture struct {
	*rig
	driver driver.Driver
}

func (f *fixture) Driver() driver.Driver                     { return f.driver }
func (f *fixture) OffScreen() image.Point                    { return image.Pt(-400, 50) } // above the second monitor
func (f *fixture) Exceptions() map[drivertest.Promise]string { return nil }

func TestMain(m *testing.M) {
	if runAsHelper() {
		return
	}
	goleak.VerifyTestMain(m)
}

// links make the two ends of a connection.
var links = map[string]func(*testing.T) (service, helper net.Conn){
	"pipe": pipe,
	"tcp":  func(t *testing.T) (net.Conn, net.Conn) { return tcp(t) },
}

func pipe(*testing.T) (net.Conn, net.Conn) { return net.Pipe() }

func tcp(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = lis.Close() }()
	far, err := net.Dial("tcp", lis.Addr().String())
	must(t, err)
	near, err := lis.Accept()
	must(t, err)
	return near, far
}

var secret = []byte("0123456789abcdef0123456789abcdef")

func newDesktop(t testing.TB) *helper.Desktop {
	t.Helper()
	d := helper.New(helper.Config{Version: "v1", Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

type open = func(context.Context, helper.Settings) (driver.Driver, error)

// served is a helper that runs in this process.
type served struct {
	conn net.Conn // its end
	far  net.Conn // the service's
	end  context.CancelCauseFunc
	err  chan error // of Serve
	wait func() error
}

// begin runs a helper, and ends it with the test.
func begin(t testing.TB, near, far net.Conn, cfg helper.ServerConfig) *served {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	s := &served{conn: far, far: near, end: cancel, err: make(chan error, 1)}
	go func() { s.err <- helper.Serve(ctx, far, cfg) }()
	s.wait = sync.OnceValue(func() error { return <-s.err })
	t.Cleanup(func() { cancel(errTestEnds); _ = s.wait() })
	return s
}

// serve connects a new helper to the desktop.
func serve(t *testing.T, d *helper.Desktop, link func(*testing.T) (net.Conn, net.Conn), open open) *served {
	t.Helper()
	near, far := link(t)
	s := begin(t, near, far, helper.ServerConfig{Secret: secret, Version: "v1", Open: open})
	must(t, d.Connect(t.Context(), near, secret))
	return s
}

var errTestEnds = errors.New("the test ends")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// press leaves keys and the left button down, as a process that dies.
func press(t *testing.T, input string, keys ...string) {
	t.Helper()
	other, err := wire.DialInput(t.Context(), input)
	must(t, err)
	for _, key := range keys {
		must(t, other.Send(t.Context(), wire.Event{Kind: wire.KeyDown, Key: key}))
	}
	must(t, other.Send(t.Context(), wire.Event{Kind: wire.ButtonDown, Button: wire.Left}))
	must(t, other.Close())
}
