package main

import (
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/reprise-rpa/reprise/agent/doctor"
	"github.com/reprise-rpa/reprise/internal/buildinfo"
)

// selfTestIdle is how long a self test leaves a stream idle: longer than the usual
// limit of a minute of what lies between.
const selfTestIdle = 90 * time.Second

// exitFault is the exit code of a doctor that found a fault.
const exitFault = 1

// examination is one call of doctor.
type examination struct {
	machine  machine
	loader   *loader
	asJSON   bool
	selfTest bool
	idle     time.Duration
	window   string
	env      func(string) (string, bool)
}

func doctorCommand(m machine) *cobra.Command { return doctorCommandWith(m, os.LookupEnv) }

func doctorCommandWith(m machine, env func(string) (string, bool)) *cobra.Command {
	e := &examination{machine: m, env: env}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what keeps the agent from working here, and what to do",
		Long: "Look at this machine, its desktop and the way to the server, and say what keeps the agent from\n" +
			"working and what to do about it. It takes the flags of run; without any of them it looks by the\n" +
			"settings of the installed service. It does not disturb an agent that runs.\n\n" +
			"Run it in the session of the user whose desktop is driven; an administrator's console sees more.\n\n" +
			"Exit codes:\n  0  no fault; there may be warnings\n  1  a fault was found, or doctor itself failed\n",
		Args: cobra.NoArgs,
	}
	own := pflag.NewFlagSet("doctor", pflag.ContinueOnError)
	own.BoolVar(&e.asJSON, "json", false, "Print one JSON object.")
	own.BoolVar(&e.selfTest, "selftest", false, "Also send input, into a window of its own, and leave a stream idle for 90s.")
	own.DurationVar(&e.idle, "idle", 0, "Also leave a stream idle for so long, such as 90s.")
	own.StringVar(&e.window, "window", "", "Part of a title: compare the rights of this window's program with the agent's.")
	e.loader = bind(cmd.Flags())
	cmd.Flags().AddFlagSet(own)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if e.selfTest && !cmd.Flags().Changed("idle") {
			e.idle = selfTestIdle
		}
		given := false
		cmd.Flags().Visit(func(f *pflag.Flag) { given = given || own.Lookup(f.Name) == nil })
		return e.run(cmd, given)
	}
	return cmd
}

// run examines, and writes what is found. Given says that settings were given as flags.
func (e *examination) run(cmd *cobra.Command, given bool) error {
	s := e.settings(given)
	if e.selfTest {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "the self test moves the pointer by one pixel and types a line into a window of its own: "+
			"leave mouse and keyboard alone. It then leaves a stream idle for %v.\n", e.idle)
	}
	local, err := doctor.NewLocal(s)
	if err != nil {
		return err
	}
	return errors.Join(e.examine(cmd, local, s), local.Close())
}

func (e *examination) examine(cmd *cobra.Command, f doctor.Facts, s doctor.Settings) error {
	out := cmd.OutOrStdout()
	report := doctor.Report{Version: buildinfo.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, At: time.Now().UTC().Round(time.Second)}
	var told func(doctor.Finding)
	var failed error
	if !e.asJSON {
		colour := colourful(out, e.env)
		told = func(f doctor.Finding) { failed = errors.Join(failed, doctor.WriteFinding(out, f, colour)) }
	}
	var err error
	if report.Checks, err = doctor.Examine(cmd.Context(), f, s, told); err != nil {
		return err
	}
	report.Result = doctor.Worst(report.Checks)
	if e.asJSON {
		failed = doctor.WriteJSON(out, report)
	} else {
		failed = errors.Join(failed, doctor.WriteSummary(out, report.Checks))
	}
	if failed == nil && report.Result == doctor.Fault {
		return statusError{exitFault}
	}
	return failed
}

// settings are those that the agent would have. Faults of theirs are no reason not to
// look: what can't be read keeps its default.
func (e *examination) settings(given bool) doctor.Settings {
	l, source := e.loader, ""
	if path := e.machine.config(); !given && e.serviceHasOne(path) {
		l = bindWith(pflag.NewFlagSet("service", pflag.ContinueOnError), e.machine.defaults())
		l.config, source = path, path+", the service's"
	} else if named := e.named(); named != "" {
		source = named + ", flags and environment"
	}
	_, _, err := l.load(e.env)
	s := e.inspected(l.settings)
	s.Source = source
	s.Faults = append(faultsOf(err), s.Faults...)
	return s
}

// serviceHasOne says whether the service has a configuration file, and nobody names
// another one. One that can't be read is the service's all the same, and a fault.
func (e *examination) serviceHasOne(path string) bool {
	if _, named := e.env(configEnv); named {
		return false
	}
	_, err := os.Stat(path)
	return err == nil || errors.Is(err, os.ErrPermission)
}

// named is the configuration file that somebody names; empty: nobody names one.
func (e *examination) named() string {
	if path, found := e.env(configEnv); found && !e.loader.flags.Changed("config") {
		return path
	}
	return e.loader.config
}

// inspected is what of the settings concerns the checks.
func (e *examination) inspected(s settings) doctor.Settings {
	return doctor.Settings{
		Server: s.Server, CAFile: s.CAFile, TokenFile: s.TokenFile, StateDir: s.StateDir, LogFile: s.LogFile, SecretsDir: s.SecretsDir,
		Driver: s.Driver, Display: s.Display, User: s.User, TypeMode: s.TypeMode, MinDisplay: image.Pt(s.MinDisplay.Width, s.MinDisplay.Height),
		KeepaliveTime: s.KeepaliveTime, KeepaliveTimeout: s.KeepaliveTimeout,
		Window: e.window, Idle: e.idle, SelfTest: e.selfTest,
	}
}

// faultsOf are the faults that an error of settings names, one a line.
func faultsOf(err error) []string {
	if err == nil {
		return nil
	}
	var faults []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && line != errSettings.Error() {
			faults = append(faults, line)
		}
	}
	return faults
}

// colourful says whether colours are understood and wanted: on a terminal, unless
// NO_COLOR (no-color.org) or TERM=dumb says no. Consoles of Windows understand them for
// certain only in Windows Terminal, which sets WT_SESSION.
func colourful(out io.Writer, env func(string) (string, bool)) bool {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return false
	}
	if no, _ := env("NO_COLOR"); no != "" {
		return false
	}
	if runtime.GOOS == "windows" {
		session, _ := env("WT_SESSION")
		return session != ""
	}
	kind, _ := env("TERM")
	return kind != "dumb"
}
