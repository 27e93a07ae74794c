package main

import (
	"context"
	"errors"
	"image"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/agent/agent"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/driver/virtualdesktop"
	"github.com/reprise-rpa/reprise/agent/limits"
	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/internal/backoff"
	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/internal/logkeys"
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
	log, closer, err := openLog(cmd.ErrOrStderr(), s)
	if err != nil {
		return err
	}
	return errors.Join(drive(cmd.Context(), s, warnings, host{log: log}), closer.Close())
}

// host is what an agent runs in: a console, or a service.
type host struct {
	log     *slog.Logger
	ready   func()          // called when the agent is about to run; nil: nobody waits for it
	changes <-chan struct{} // the sessions of the machine changed; nil: nobody tells
}

// drive drives the desktop until ctx ends, and returns its cause.
func drive(ctx context.Context, s settings, warnings []string, h host) error {
	log := h.log
	for _, w := range warnings {
		log.Warn(w)
	}
	desktop, err := openDesktop(ctx, s, h.changes, log)
	if err != nil {
		return err
	}
	defer func() {
		if err := desktop.Close(); err != nil {
			log.Warn("the desktop was not closed in order", logkeys.Error, err)
		}
	}()
	a, err := newAgent(s, desktop, log)
	if err != nil {
		return errors.Join(errSettings, err)
	}
	if h.ready != nil {
		h.ready()
	}
	return a.Run(ctx)
}

// newAgent puts an agent together, or says everything that is wrong with its settings.
func newAgent(s settings, desktop driver.Driver, log *slog.Logger) (*agent.Agent, error) {
	cfg := agent.Config{
		Server: s.Server, MachineID: s.Machine, StateDir: s.StateDir, CAFile: s.CAFile,
		Backoff: backoff.Policy{Steps: s.Backoff}, KeepaliveTime: s.KeepaliveTime, KeepaliveTimeout: s.KeepaliveTimeout,
		Remember: s.Remember, MinDisplay: image.Pt(s.MinDisplay.Width, s.MinDisplay.Height),
		Announce: s.Announce, Masks: s.Masks, Restless: s.Restless, MaxWaiting: int64(s.MaxWaiting), Version: buildinfo.Version(), Log: log,
	}
	if s.TokenFile != "" {
		cfg.Token = link.TokenFile(s.TokenFile)
	}
	if s.SecretsDir != "" {
		cfg.Secrets = agent.SecretsDir(s.SecretsDir)
	}
	cfg.Popups, cfg.Driver = link.Popups(s.popups), desktop
	if s.LimitsFile != "" {
		cfg.Driver = limits.Wrap(desktop, s.limits)
	}
	return agent.New(cfg)
}

// composes says what is wrong with the settings of an agent whose desktop is not opened.
func composes(s settings) error {
	if _, err := newAgent(s, virtualdesktop.New(""), slog.New(slog.DiscardHandler)); err != nil {
		return errors.Join(errSettings, err)
	}
	return nil
}

// openedDesktop is a driver that holds a connection.
type openedDesktop interface {
	driver.Driver
	Close() error
}

func openDesktop(ctx context.Context, s settings, changed <-chan struct{}, log *slog.Logger) (openedDesktop, error) {
	if err := checkDriver(s); err != nil {
		return nil, err
	}
	switch s.Driver {
	case driverVirtual:
		return virtualdesktop.New(s.Desktop), nil
	case driverWindows:
		return openInSession(s.inSession(), log)
	case driverSession:
		return openSession(ctx, s, changed, log)
	}
	return openX11(s, log)
}
