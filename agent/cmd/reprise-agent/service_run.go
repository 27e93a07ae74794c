package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/agent/service"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

func serviceRunCommand(m machine) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "What Windows starts as the service; in a console use `reprise-agent run`",
		Args:  cobra.NoArgs,
		// The service control manager alone ends the service, so it listens for no signals.
		// Go makes one of CTRL_LOGOFF_EVENT, which Windows sends to services whoever logs
		// off, and of CTRL_SHUTDOWN_EVENT. Where nobody listens Go leaves both to the handler
		// that Windows gives services, which lets them run; where somebody does, it holds the
		// event, and Windows ends the process after some seconds (HandlerRoutine in
		// Microsoft's reference; ctrlHandler in Go's runtime).
		PersistentPreRun: func(*cobra.Command, []string) {},
	}
	l := bindWith(cmd.Flags(), m.defaults())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return m.run(cmd.Context(), l.serve) }
	return cmd
}

// runService runs a program as the service. Without an event log it runs all the same.
func runService(ctx context.Context, p service.Program) error {
	events, err := service.OpenEvents()
	if err != nil {
		return service.Run(ctx, p, nil)
	}
	return errors.Join(service.Run(ctx, p, events), events.Close())
}

// noVariables is an environment without any.
func noVariables(string) (string, bool) { return "", false }

// fault is all for which serve would end with service.ErrSettings.
func (l *loader) fault(env func(string) (string, bool)) error {
	s, _, err := l.load(env)
	if err != nil {
		return err
	}
	if err := composes(s); err != nil {
		return err
	}
	_, closer, err := openLog(io.Discard, s)
	if err != nil {
		return errors.Join(errSettings, err)
	}
	return closer.Close()
}

// serve is the service's program: the agent, with its log in a file and what matters of
// it in the event log. The settings are read each time that it is started.
func (l *loader) serve(ctx context.Context, h service.Host) error {
	s, warnings, err := l.load(os.LookupEnv)
	if err != nil {
		return errors.Join(service.ErrSettings, err)
	}
	file, closer, err := openLog(os.Stderr, s)
	if err != nil {
		return errors.Join(service.ErrSettings, err)
	}
	log := file
	if h.Events != nil {
		log = slog.New(fanOut{file.Handler(), service.NewEventHandler(h.Events)})
	}
	err = drive(ctx, s, warnings, host{log: log, ready: h.Ready, changes: h.Changes})
	if errors.Is(err, errSettings) {
		err = errors.Join(service.ErrSettings, err)
	}
	if err != nil && !errors.Is(err, context.Cause(ctx)) {
		file.Error("the agent failed", logkeys.Error, err) // the service itself tells the event log
	}
	return errors.Join(err, closer.Close())
}
