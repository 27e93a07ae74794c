// Reprise-agent drives one machine's desktop for a reprise server.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/internal/cli"
)

// errSignal says that the process was asked to end; it does so in order.
var errSignal = errors.New("asked to end by a signal")

func main() {
	ctx, stop := context.WithCancelCause(context.Background())
	root := command()
	endBySignal(root, stop)
	err := root.ExecuteContext(ctx)
	if err == nil || errors.Is(err, errSignal) {
		return
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(os.Stderr, "reprise-agent:", text)
	}
	os.Exit(exitCode(err))
}

// endBySignal has the first signal stop a command, and a second one kill the process.
// A command with a PersistentPreRun of its own has none of that.
func endBySignal(root *cobra.Command, stop context.CancelCauseFunc) {
	root.PersistentPreRun = func(*cobra.Command, []string) {
		signals := make(chan os.Signal, 2)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		go func() {
			<-signals
			signal.Stop(signals)
			stop(errSignal)
		}()
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "reprise-agent",
		Short:         "Replay UI actions on this machine's desktop, each exactly once",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCommand(), serviceCommand(thisMachine()), doctorCommand(thisMachine()), helperCommand(), &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), buildinfo.Version())
			return err
		},
	})
	cli.RefuseUnknownCommands(root)
	return root
}
