package main

import (
	"fmt"
	"image"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/virtualdesktop"
	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/internal/backoff"
	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/internal/logs"
	"github.com/reprise-rpa/reprise/internal/workflow"
)

func runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Drive the desktop until a signal ends the agent",
		Long: "Drive the desktop until a signal ends the agent. Every setting is a flag, a line of the\n" +
			"configuration file (durations such as 30s) and an environment variable (seconds).\n" +
			"On SIGTERM the action in flight comes to its end or to its next safe point, every key\n" +
			"is let go of, and the exit code is 0.",
		Args: cobra.NoArgs,
	}
	l := bind(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, warnings, err := l.load(os.LookupEnv)
		if err != nil {
			return err
		}
		return run(cmd, s, warnings)
	}
	return cmd
}

func run(cmd *cobra.Command, s settings, warnings []string) error {
	log, err := logs.New(cmd.ErrOrStderr(), s.LogLevel, s.LogFormat)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		log.Warn(w)
	}
	desktop, err := openDesktop(s, log)
	if err != nil {
		return err
	}
	defer func() {
		if err := desktop.Close(); err != nil {
			log.Warn("the desktop was not closed in order", logkeys.Error, err)
		}
	}()
	cfg := agent.Config{
		Server: s.Server, MachineID: s.Machine, Driver: desktop, StateDir: s.StateDir, CAFile: s.CAFile,
		Backoff: backoff.Policy{Steps: s.Backoff}, KeepaliveTime: s.KeepaliveTime, KeepaliveTimeout: s.KeepaliveTimeout,
		Remember: s.Remember, MinDisplay: image.Pt(s.MinDisplay.Width, s.MinDisplay.Height),
		Masks: s.Masks, Restless: s.Restless, MaxWaiting: int64(s.MaxWaiting), Version: buildinfo.Version(), Log: log,
	}
	if s.TokenFile != "" {
		cfg.Token = link.TokenFile(s.TokenFile)
	}
	if s.SecretsDir != "" {
		cfg.Secrets = agent.SecretsDir(s.SecretsDir)
	}
	if s.PopupsFile != "" {
		rules, err := workflow.LoadPopups(s.PopupsFile)
		if err != nil {
			return fmt.Errorf("popups-file: %w", err)
		}
		cfg.Popups = link.Popups(rules)
	}
	a, err := agent.New(cfg)
	if err != nil {
		return err
	}
	return a.Run(cmd.Context())
}

// openedDesktop is a driver that holds a connection.
type openedDesktop interface {
	driver.Driver
	Close() error
}

func openDesktop(s settings, log *slog.Logger) (openedDesktop, error) {
	switch s.Driver {
	case driverVirtual:
		return virtualdesktop.New(s.Desktop), nil
	case driverWindows:
		return openWindows(s, log)
	}
	return openX11(s, log)
}
