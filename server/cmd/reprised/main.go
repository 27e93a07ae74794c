// Reprised is the server: it keeps the replays and drives the agents.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/internal/logs"
	"github.com/reprise-rpa/reprise/server/host"
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
	return cmd
}

func serve(ctx context.Context, s settings.Settings, warnings []string, out io.Writer) error {
	log, err := logs.New(out, s.LogLevel, s.LogFormat)
	if err != nil {
		return err
	}
	slog.SetDefault(log)
	for _, w := range warnings {
		log.Warn(w)
	}
	// The addresses first: a port that is taken leaves no data folder behind.
	lis, metricsOn, err := listen(s)
	if err != nil {
		return err
	}
	if metricsOn != nil {
		log.Info("serving metrics", logkeys.Path, "http://"+metricsOn.Addr().String()+"/metrics")
	}
	err = host.Serve(ctx, host.Config{Settings: s, Version: buildinfo.Version(), Log: log}, lis, metricsOn, func(*host.Host) {
		log.Info("serving", "address", lis.Addr().String(), "data", s.DataDir, "version", buildinfo.Version())
	})
	if err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// listen opens the addresses of the server and, when asked for, of its metrics.
func listen(s settings.Settings) (lis, metricsOn net.Listener, err error) {
	if lis, err = net.Listen("tcp", s.Listen); err != nil {
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	if s.MetricsListen == "" {
		return lis, nil, nil
	}
	if metricsOn, err = net.Listen("tcp", s.MetricsListen); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("listen for metrics: %w", err), lis.Close())
	}
	return lis, metricsOn, nil
}
