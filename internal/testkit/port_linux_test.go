package testkit

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
)

func TestAReservedPortIsForThoseWhoAskForItAlone(t *testing.T) {
	address, release, err := ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a program that is started again
		ln, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := takes(t, address); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("to one who shares nothing the port is given: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := takes(t, address); err != nil {
		t.Errorf("it is still taken after its release: %v", err)
	}
}

// takes listens without SO_REUSEADDR, as when the system chooses a port.
func takes(t *testing.T, address string) error {
	t.Helper()
	alone := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var refused error
		err := raw.Control(func(fd uintptr) {
			refused = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
		})
		return errors.Join(err, refused)
	}}
	ln, err := alone.Listen(context.WithoutCancel(t.Context()), "tcp", address)
	if err != nil {
		return err
	}
	return ln.Close()
}
