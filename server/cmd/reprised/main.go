// Reprised is the server: it keeps the replays and drives the agents.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/internal/cli"
	"github.com/reprise-rpa/reprise/server/settings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	privateFiles()
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "reprised:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "reprised",
		Short:         "Serve replays to agents, and lose none of their actions",
		Long:          "Serve replays to agents. Every setting is a flag, a line of the configuration file\n(durations such as 30s) and an environment variable (seconds).",
		Args:          cobra.NoArgs,
		Version:       buildinfo.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	loader := settings.Bind(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, warnings, err := loader.Load(os.LookupEnv)
		if err != nil {
			return err
		}
		return serve(cmd.Context(), s, warnings, cmd.ErrOrStderr())
	}
	cmd.AddCommand(tokenCommand(), &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), buildinfo.Version())
			return err
		},
	})
	cli.RefuseUnknownCommands(cmd)
	return cmd
}
