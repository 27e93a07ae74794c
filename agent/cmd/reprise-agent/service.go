package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-rpa/reprise/agent/service"
)

// machine is what the commands of the service need of the one they run on.
type machine struct {
	connect    func() (*service.Service, error) // with the rights of an administrator
	look       func() (*service.Service, error) // with those of any user, to ask for its status
	run        func(ctx context.Context, p service.Program) error
	protect    func(ctx context.Context, f service.Folder) error
	owned      func(path string) (bool, error) // by administrators or the system alone
	executable func() (string, error)
	folder     string // of the service's settings, state and logs
}

// thisMachine is the one that this process runs on.
func thisMachine() machine { return machineWith(programData()) }

// machineWith is the one whose folder for what programs keep is data. With an error
// nothing is done to its service, which may keep its own elsewhere.
func machineWith(data string, err error) machine {
	m := machine{
		connect: service.Connect, look: service.ConnectToLook, run: runService,
		protect:    func(ctx context.Context, f service.Folder) error { return f.Protect(ctx) },
		owned:      service.OwnedByAdministrators,
		executable: os.Executable, folder: filepath.Join(data, "reprise"),
	}
	if err != nil {
		fail := func() (*service.Service, error) { return nil, err }
		m.connect, m.look, m.run = fail, fail, func(context.Context, service.Program) error { return err }
	}
	return m
}

func (m machine) config() string { return filepath.Join(m.folder, "agent.yaml") }

// defaults are those of an agent that is a service.
func (m machine) defaults() defaults {
	return defaults{
		driver: driverSession, stateDir: filepath.Join(m.folder, "state"), logFile: filepath.Join(m.folder, "logs", "agent.log"),
	}
}

// statusError ends the program with the exit code of a service that does not run. What
// there is to say was said.
type statusError struct{ code int }

func (statusError) Error() string { return "" }

// exitCode is the exit code for an error of a command.
func exitCode(err error) int {
	var status statusError
	switch {
	case errors.As(err, &status):
		return status.code
	case errors.Is(err, service.ErrNotInstalled):
		return service.ExitNotInstalled
	case errors.Is(err, service.ErrNotElevated):
		return service.ExitNotElevated
	}
	return 1
}

func serviceCommand(m machine) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Run the agent as a Windows service",
		Long: "Run the agent as a Windows service, which starts with the machine, drives the desktop of the\n" +
			"user who is logged on, and is started again when it dies. All commands but status and run need a\n" +
			"console with the rights of an administrator.",
	}
	cmd.AddCommand(installCommand(m), uninstallCommand(m), startCommand(m), stopCommand(m), statusCommand(m), serviceRunCommand(m))
	return cmd
}

// withService connects to the service for one command.
func withService(connect func() (*service.Service, error), use func(cmd *cobra.Command, s *service.Service) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		s, err := connect()
		if err != nil {
			return err
		}
		return errors.Join(use(cmd, s), s.Close())
	}
}

func uninstallCommand(m machine) *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Stop and remove the service; settings, state and logs stay",
		Args:  cobra.NoArgs,
		RunE: withService(m.connect, func(cmd *cobra.Command, s *service.Service) error {
			if err := s.Uninstall(cmd.Context()); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "the service is removed; its settings, state and logs stay in %s\n", m.folder)
			return err
		}),
	}
}

func startCommand(m machine) *cobra.Command {
	return &cobra.Command{
		Use:   "start",
		Short: "Start the service and wait until it runs",
		Args:  cobra.NoArgs,
		RunE: withService(m.connect, func(cmd *cobra.Command, s *service.Service) error {
			was, err := s.Start(cmd.Context())
			err = m.explained(err)
			return said(cmd, err, was, "the service was running already", "the service runs")
		}),
	}
}

// explained is the error of a start with what is wrong with the settings, where that was
// why the service has ended. It has other variables than this console, so none is read.
func (m machine) explained(err error) error {
	var ended *service.EndedError
	if !errors.As(err, &ended) || ended.Info.LastEvent != service.EventSettings {
		return err
	}
	l := bindWith(pflag.NewFlagSet("service", pflag.ContinueOnError), m.defaults())
	l.config = cmp.Or(ended.Info.Config, m.config())
	if fault := l.fault(noVariables); fault != nil {
		return fmt.Errorf("the service has ended at once: %w", fault)
	}
	return err
}

func stopCommand(m machine) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the service in order and wait until it has stopped",
		Args:  cobra.NoArgs,
		RunE: withService(m.connect, func(cmd *cobra.Command, s *service.Service) error {
			was, err := s.Stop(cmd.Context())
			return said(cmd, err, was, "the service has stopped", "the service was stopped already")
		}),
	}
}

// said prints one of two sentences, unless there is an error.
func said(cmd *cobra.Command, err error, which bool, yes, no string) error {
	if err != nil {
		return err
	}
	text := no
	if which {
		text = yes
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}

func statusCommand(m machine) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how the service is",
		Long:  "Say how the service is, as text or as one JSON object.\n\n" + exitCodes(),
		Args:  cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object.")
	cmd.RunE = withService(m.look, func(cmd *cobra.Command, s *service.Service) error {
		info, err := s.Status()
		if err != nil {
			return err
		}
		info = info.Explained()
		if info.Installed && info.Config == "" {
			info.Config = m.config()
		}
		if asJSON {
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(info)
		} else {
			_, err = fmt.Fprint(cmd.OutOrStdout(), info.Text())
		}
		if code := info.ExitCode(); err == nil && code != 0 {
			return statusError{code}
		}
		return err
	})
	return cmd
}

// exitCodes explains the exit codes of status.
func exitCodes() string {
	text := "Exit codes:\n"
	for _, e := range service.ExitCodes() {
		text += fmt.Sprintf("  %d  %s\n", e.Code, e.Meaning)
	}
	return text
}
