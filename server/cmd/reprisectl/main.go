// Command reprisectl runs workflow files on machines, and watches and steers
// replays. All of it is in package cli; this is the process around it.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/server/cmd/reprisectl/cli"
	"github.com/reprise-rpa/reprise/server/journal"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Main(ctx, cli.Env{
		Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Terminal: terminal, Journal: onDisk{}, Location: time.Local, Version: buildinfo.Version(),
	})
}

func terminal() (columns, rows int, ok bool) {
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	return columns, rows, err == nil
}

// onDisk is the journal of this machine's server.
type onDisk struct{}

func (onDisk) Dump(ctx context.Context, data string, w io.Writer) error {
	return journal.Dump(ctx, data, w)
}

func (onDisk) Verify(ctx context.Context, data string, w io.Writer) error {
	return journal.Verify(ctx, data, w)
}
