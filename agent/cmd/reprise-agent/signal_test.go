package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/agent/service"
)

// asked is the environment variable with which this program is started once more, to
// run one command that gets a signal.
const asked = "RPA_TEST_SIGNALLED"

// A logoff of any user reaches a service as SIGTERM, as far as it listens for that. One
// that does not is left to the system, which here ends it, and on Windows lets it run.
func TestB11_ALogoffDoesNotEndTheService(t *testing.T) {
	if command := os.Getenv(asked); command != "" {
		signalled(t, command)
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows sends no signals to a process of its choice")
	}
	for command, listens := range map[string]bool{"run": false, "install --machine=m": true} {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), asked+"="+command)
		out, err := child.CombinedOutput()
		if child.ProcessState == nil {
			t.Fatal(err)
		}
		if listened := child.ProcessState.Exited(); listened != listens || listens && err != nil {
			t.Errorf("`service %s` listens for signals: %v, want %v; %v\n%s", command, listened, listens, err, out)
		}
	}
}

// signalled runs a command of the service that gets a SIGTERM, and fails unless that
// ends it in order.
func signalled(t *testing.T, args string) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	terminated := func(ctx context.Context) error {
		if err := self.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	m, _ := fakeMachine(t)
	m.run = func(ctx context.Context, _ service.Program) error { return terminated(ctx) }
	m.protect = func(ctx context.Context, _ service.Folder) error { return terminated(ctx) }
	ctx, stop := context.WithCancelCause(t.Context())
	root := &cobra.Command{SilenceUsage: true}
	root.AddCommand(serviceCommand(m))
	endBySignal(root, stop)
	root.SetArgs(append([]string{"service"}, strings.Fields(args)...))
	if err := root.ExecuteContext(ctx); !errors.Is(err, errSignal) {
		t.Errorf("%s = %v, want %v", args, err, errSignal)
	}
}
