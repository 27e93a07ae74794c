package helper_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/virtualdesktop"
	"github.com/reprise-rpa/reprise/agent/helper"
)

// serviceOf names the variable that makes this test program a helper: the address of its
// service and that of its desktop, with a comma between.
const serviceOf = "REPRISE_TEST_HELPER_OF"

// runAsHelper serves a desktop if this process is a helper.
func runAsHelper() bool {
	service, input, ok := strings.Cut(os.Getenv(serviceOf), ",")
	if !ok {
		return false
	}
	conn, err := net.Dial("tcp", service)
	if err == nil {
		err = helper.Serve(context.Background(), conn, helper.ServerConfig{
			Secret: secret, Version: "v1", Open: func(context.Context, helper.Settings) (driver.Driver, error) {
				return virtualdesktop.New(input), nil
			},
		})
	}
	if !errors.Is(err, helper.ErrEnded) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// process is a helper that is a process of its own.
type process struct {
	cmd  *exec.Cmd
	kill func() // and waits until it has ended
}

// launch starts a helper on the desktop at input and connects it.
func launch(t *testing.T, d *helper.Desktop, input string) *process {
	t.Helper()
	lis := listen(t)
	defer func() { _ = lis.Close() }()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serviceOf+"="+lis.Addr().String()+","+input)
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	p := &process{cmd: cmd, kill: sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})}
	t.Cleanup(p.kill)
	conn, err := lis.Accept()
	must(t, err)
	must(t, d.Connect(t.Context(), conn, secret))
	return p
}

// doorway passes what a driver says to its desktop on, event by event. After each event
// that the desktop has taken it asks whether to go on; if not, the driver hears nothing
// more and nothing more of it gets through.
type doorway struct {
	address string
	took    atomic.Pointer[func() bool]
}

func newDoorway(t *testing.T, input string) *doorway {
	t.Helper()
	lis := listen(t)
	d := &doorway{address: lis.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			near, err := lis.Accept()
			if err != nil {
				return
			}
			all.Go(func() { d.relay(near, input) })
		}
	})
	t.Cleanup(func() { _ = lis.Close(); all.Wait() })
	return d
}

func (d *doorway) relay(near net.Conn, input string) {
	defer func() { _ = near.Close() }()
	far, err := net.Dial("tcp", input)
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
		if _, err := io.WriteString(far, request); err != nil {
			return
		}
		reply, err := replies.ReadString('\n')
		if err != nil {
			return
		}
		if took := d.took.Load(); took != nil && strings.Contains(request, `"op":"input"`) && !(*took)() {
			return
		}
		if _, err := io.WriteString(near, reply); err != nil {
			return
		}
	}
}

// gestures are some that hold something down in between.
func gestures(area image.Rectangle) []driver.Input {
	from, to := area.Min.Add(image.Pt(20, 20)), area.Min.Add(image.Pt(120, 60))
	return []driver.Input{
		driver.Combo{Keys: []string{"ctrl", "shift", "f11"}},
		driver.Drag{From: from, To: to},
		driver.Click{At: from, Count: 1, Modifiers: []string{"ctrl", "alt"}},
		driver.Paste{Text: "pasted"},
	}
}

// A helper is killed after each input event of a gesture in turn. Nobody knows what it
// has sent, nothing is sent again, and what it left down is let go of before the next
// helper answers.
func TestB19_WhatAKilledHelperLeftDownIsLetGoOfByTheNext(t *testing.T) {
	r := startDesktop(t)
	door := newDoorway(t, r.input)
	d := newDesktop(t)
	w := r.OpenWindow(t, "killed")
	alive := launch(t, d, door.address)
	left := 0 // how often something was left down
	for _, in := range gestures(w.Area()) {
		name := fmt.Sprintf("%T", in)
		for n := int64(1); ; n++ {
			var events atomic.Int64
			victim := alive
			took := func() bool {
				if events.Add(1) != n {
					return events.Load() < n
				}
				victim.kill()
				return false
			}
			door.took.Store(&took)
			err := d.Do(t.Context(), in)
			door.took.Store(nil)
			if err == nil {
				if n <= 2 {
					t.Fatalf("%s had %d events", name, n-1)
				}
				break
			}
			nobodyKnows(t, name, err)
			if events.Load() != n {
				t.Fatalf("%s, killed at event %d: %d events came", name, n, events.Load())
			}
			if len(r.Down(t)) > 0 {
				left++
			}
			alive = launch(t, d, door.address)
			if down := r.Down(t); len(down) > 0 {
				t.Fatalf("%s, killed at event %d: still down at the next helper: %v", name, n, down)
			}
		}
	}
	if left < 8 {
		t.Errorf("something was left down %d times only: this shows nothing", left)
	}
}

func nobodyKnows(t *testing.T, what string, err error) {
	t.Helper()
	var in *driver.InputError
	if !errors.Is(err, driver.ErrUnavailable) || errors.As(err, &in) || driver.NothingSent(err) {
		t.Fatalf("%s: %v; want that the helper has gone, and that nobody knows what was sent", what, err)
	}
}
