package client_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-rpa/reprise/server/host"
	"github.com/reprise-rpa/reprise/server/settings"
)

// startServer starts a server with one registered machine and returns its address
// and the operator's token. It stands for a reprised that runs somewhere.
func startServer(ctx context.Context, machine string) (address, token string, end func()) {
	dir, err := os.MkdirTemp("", "reprise-client-*")
	must(err)
	s := settings.Default()
	s.DataDir = dir
	h, err := host.New(ctx, host.Config{Settings: s, Version: "example"})
	must(err)
	_, err = h.Tokens().AddAgent(machine)
	must(err)
	operator, err := os.ReadFile(filepath.Join(dir, "operator.token"))
	must(err)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	serving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- h.Run(serving, lis, nil) }()
	return lis.Addr().String(), strings.TrimSpace(string(operator)), func() {
		stop()
		if err := <-done; err != nil {
			fmt.Println("the server ended with", err)
		}
		_ = os.RemoveAll(dir) // a temporary folder
	}
}

// must ends the example's set-up; an example has no test to fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
