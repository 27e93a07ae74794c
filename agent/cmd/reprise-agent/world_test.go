package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/agenttest"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/serve"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// patience is how long a test waits for what the program does.
const patience = 5 * time.Minute

// plane is a control plane that a test plays, on a port.
type plane struct {
	*agenttest.Server
	t       *testing.T
	address string
}

// newPlane serves on loopback; over TLS when a certificate is given.
func newPlane(t *testing.T, certificates ...tls.Certificate) *plane {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &plane{Server: agenttest.New(), t: t, address: lis.Addr().String()}
	if len(certificates) > 0 {
		lis = tls.NewListener(lis, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: certificates, NextProtos: []string{"h2"}})
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			served.Go(func() { p.carry(conn) })
		}
	})
	t.Cleanup(func() {
		if err := errors.Join(lis.Close(), p.Close()); err != nil {
			t.Error(err)
		}
		served.Wait()
	})
	return p
}

// carry joins a connection to one of the control plane in memory.
func (p *plane) carry(conn net.Conn) {
	defer conn.Close()
	if secured, ok := conn.(*tls.Conn); ok && secured.HandshakeContext(p.t.Context()) != nil {
		return
	}
	inner, err := p.Dial(context.WithoutCancel(p.t.Context()), "")
	if err != nil {
		return
	}
	defer inner.Close()
	var both sync.WaitGroup
	for _, ends := range [][2]net.Conn{{conn, inner}, {inner, conn}} {
		both.Go(func() {
			_, _ = io.Copy(ends[0], ends[1])
			_, _ = ends[0].Close(), ends[1].Close()
		})
	}
	both.Wait()
}

// accept returns the agent's next stream, before its welcome.
func (p *plane) accept() *agenttest.Conn {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	c, err := p.Accept(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// open takes the agent's next stream and welcomes it.
func (p *plane) open() *agenttest.Conn {
	p.t.Helper()
	c := p.accept()
	must(p.t, c.Welcome(&reprisev1.Welcome{SessionId: "s"}))
	return c
}

// do dispatches an action and returns its report, acknowledged.
func (p *plane) do(c *agenttest.Conn, id string, attempt int, a *reprisev1.Action) *reprisev1.Report {
	p.t.Helper()
	must(p.t, c.Dispatch(&reprisev1.Dispatch{
		ReplayId: "r", SessionId: "s", MachineId: c.Hello.GetMachineId(), ActionId: id, AttemptId: fmt.Sprintf("%s.%d", id, attempt), Action: a,
	}))
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	r, err := c.Report(ctx)
	must(p.t, err)
	must(p.t, c.Ack(r))
	return r
}

// running is the program while it runs.
type running struct {
	out  *watched
	stop func()
}

// start runs `reprise-agent run` until the test ends, or stop is called.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	r := &running{out: &watched{}}
	ended := make(chan error, 1)
	go func() { ended <- execute(ctx, r.out, append([]string{"run"}, args...)...) }()
	r.stop = sync.OnceFunc(func() {
		cancel(errSignal)
		if err := <-ended; !errors.Is(err, errSignal) {
			t.Errorf("run = %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// said returns the lines that the program has printed so far.
func (r *running) said() []string {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	return slices.Collect(strings.Lines(r.out.all.String()))
}

// desk is a virtual desktop on a port.
type desk struct {
	t       *testing.T
	input   string
	control wire.ControlClient
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	scene, _ := virtualdesktop.BuiltIn("simple")
	var doors [2]net.Listener
	for i := range doors {
		var err error
		doors[i], err = net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- serve.New(scene, nil).Run(ctx, doors[0], doors[1]) }()
	t.Cleanup(func() {
		cancel(errSignal)
		if err := <-ended; !errors.Is(err, errSignal) {
			t.Errorf("the desktop ended with %v", err)
		}
	})
	control, err := wire.DialControl(t.Context(), doors[1].Addr().String())
	must(t, err)
	t.Cleanup(func() { _ = control.Close() })
	return &desk{t: t, input: doors[0].Addr().String(), control: control}
}

// saved says how often the button Save was clicked.
func (d *desk) saved() int {
	d.t.Helper()
	ledger, err := d.control.Ledger(d.t.Context())
	must(d.t, err)
	n := 0
	for _, e := range ledger {
		if e.Widget == "save" && e.Effect == wire.Clicked {
			n++
		}
	}
	return n
}

// save is a click on that button, which changes nothing on the screen.
func save() *reprisev1.Action {
	return &reprisev1.Action{
		Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, ExpectedEffect: reprisev1.ExpectedEffect_EXPECTED_EFFECT_NONE,
		Target: &reprisev1.Target{WindowTitle: "Tools", Point: &reprisev1.Point{X: 0.33, Y: 0.31}},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
