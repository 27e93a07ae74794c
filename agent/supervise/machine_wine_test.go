//go:build windows && wine

package supervise

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

// patience is how long the tests wait for what processes do.
const patience = 2 * time.Minute

// helper starts one that plays a role, in the session of this machine.
func helper(t *testing.T, role string) (Process, []byte) {
	t.Helper()
	m, err := NewMachine([]string{os.Args[0], role})
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := m.Sessions()
	if err != nil || len(sessions) == 0 {
		t.Fatalf("sessions %+v, %v", sessions, err)
	}
	at, found := choose(sessions, account{}, 0)
	if !found {
		t.Fatalf("nobody is logged on in %+v", sessions)
	}
	secret := []byte(strings.Repeat("s", SecretSize))
	p, err := m.Start(at.ID, secret)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p, secret
}

func accept(t *testing.T, p Process) net.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := p.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func ends(t *testing.T, p Process) Exit {
	t.Helper()
	exit := make(chan Exit, 1)
	go func() { exit <- p.Wait() }()
	select {
	case e := <-exit:
		return e
	case <-time.After(patience):
		t.Fatal("the helper does not end")
		return Exit{}
	}
}

func TestB11_AHelperHasASecretThatNoOtherProcessSees(t *testing.T) {
	p, secret := helper(t, "greet")
	line, err := bufio.NewReader(accept(t, p)).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	said, rest, _ := strings.Cut(line, " ")
	if want := fmt.Sprintf("%x", secret); said != want || strings.Contains(rest, want) || strings.Contains(rest, "reprise-helper") {
		t.Errorf("the helper said %q", line)
	}
}

func TestBothWaysAtOnceNothingIsLost(t *testing.T) {
	const size = 100 << 20
	p, _ := helper(t, "echo")
	conn := accept(t, p)
	sent := make(chan [32]byte, 1)
	go func() {
		sum, source := sha256.New(), rand.NewChaCha8([32]byte{1})
		_, _ = io.CopyN(io.MultiWriter(sum, conn), source, size)
		sent <- [32]byte(sum.Sum(nil))
	}()
	began := time.Now()
	sum := sha256.New()
	n, err := io.CopyN(sum, conn, size)
	if err != nil {
		t.Fatalf("after %d bytes: %v", n, err)
	}
	if <-sent != [32]byte(sum.Sum(nil)) {
		t.Error("what came back is not what was sent")
	}
	t.Logf("%d MiB there and back in %v", size>>20, time.Since(began))
	_ = conn.Close()
	if exit := ends(t, p); exit.Code != 0 {
		t.Errorf("the helper ended with %v: %s", exit, exit.Said)
	}
}

func TestAPipeHasDeadlinesAndACloseThatEndsWaiting(t *testing.T) {
	p, _ := helper(t, "deaf")
	conn := accept(t, p)
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		var timeout net.Error
		if _, err := conn.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Fatalf("after the deadline: %v", err)
		}
	}
	_ = conn.SetDeadline(time.Time{})
	_ = conn.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	var timeout net.Error
	n, err := conn.Write(make([]byte, 64<<20)) // nobody reads it
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("%d bytes written, %v", n, err)
	}
	_ = conn.SetDeadline(time.Time{})
	errs := make(chan error, 2)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		errs <- err
	}()
	go func() {
		_, err := conn.Write(make([]byte, 64<<20))
		errs <- err
	}()
	time.AfterFunc(100*time.Millisecond, func() { _ = conn.Close() })
	for range 2 {
		select {
		case err := <-errs:
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("closed while it waited: %v", err)
			}
		case <-time.After(patience):
			t.Fatal("a call waits on after Close")
		}
	}
}

func TestB11_WaitingForACallEndsWithItsContext(t *testing.T) {
	p, _ := helper(t, "mute")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errStopped) })
	if _, err := p.Accept(ctx); !errors.Is(err, errStopped) {
		t.Errorf("Accept = %v", err)
	}
}

func TestB11_AProcessThatIsNotTheHelperIsThrownOut(t *testing.T) {
	p, _ := helper(t, "call")
	conn := accept(t, p)
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	said := make([]byte, 64)
	n, err := conn.Read(said)
	if string(said[:n]) != "it is me" {
		t.Errorf("the one that is served says %q, %v", said[:n], err)
	}
}

func TestB11_WhatAHelperSaysAtItsEndIsKept(t *testing.T) {
	p, _ := helper(t, "crash")
	accept(t, p)
	exit := ends(t, p)
	if exit.Code != 2 || !strings.Contains(exit.Said, "panic: out of luck") {
		t.Errorf("%v: %q", exit, exit.Said)
	}
}

func TestB11_AKilledHelperEnds(t *testing.T) {
	p, _ := helper(t, "deaf")
	accept(t, p)
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if exit := ends(t, p); exit.Code != 1 || exit.Err != nil {
		t.Errorf("ended with %v", exit)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("killed twice: %v", err)
	}
}

// endsWithin says whether a process ends within a time.
func endsWithin(t *testing.T, pid int, within time.Duration) bool {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer func() { _ = p.Release() }()
	ended := make(chan struct{})
	go func() {
		_, _ = p.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(within):
		return false
	}
}

func TestB11_AfterThreeKilledServicesThereIsOneHelper(t *testing.T) {
	var helpers []int
	var service *exec.Cmd
	for range 4 {
		if service != nil {
			_ = service.Process.Kill()
			_ = service.Wait()
		}
		service = exec.Command(os.Args[0], "serve")
		service.Stderr = os.Stderr
		out, err := service.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err = service.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		helpers = append(helpers, pid)
	}
	last := helpers[len(helpers)-1]
	for _, pid := range helpers[:len(helpers)-1] {
		if !endsWithin(t, pid, patience) {
			t.Errorf("helper %d of %v lives", pid, helpers)
		}
	}
	if endsWithin(t, last, 5*time.Second) {
		t.Errorf("the last helper of %v has ended", helpers)
	}
	_ = service.Process.Kill()
	_ = service.Wait()
	if !endsWithin(t, last, patience) {
		t.Error("the last helper outlives its service")
	}
}

func TestB11_AServiceThatEndsLeavesNoHelper(t *testing.T) {
	m, err := NewMachine([]string{os.Args[0], "deaf"})
	if err != nil {
		t.Fatal(err)
	}
	up := make(chan struct{}, 8)
	s, err := New(Config{Machine: m, Desk: countingDesk{up}, EndWithin: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-up
	cancel(errStopped)
	if err = <-done; !errors.Is(err, errStopped) || errors.Is(err, ErrNotEnded) {
		t.Errorf("Run = %v", err)
	}
}

type countingDesk struct{ up chan struct{} }

func (countingDesk) Absent(desktop.State) {}

func (d countingDesk) Connect(context.Context, net.Conn, []byte) error {
	d.up <- struct{}{}
	return nil
}

func TestThisMachineTellsItsSessions(t *testing.T) {
	list, err := winapi.System{}.LogonSessions()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("sessions %+v", list)
	if len(list) == 0 || list[0].User == "" || list[0].ID == 0 {
		t.Errorf("sessions %+v", list)
	}
}
