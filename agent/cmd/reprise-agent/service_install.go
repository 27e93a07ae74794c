package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-rpa/reprise/agent/service"
	"github.com/reprise-rpa/reprise/internal/setting"
)

// installation is what install is told beside the settings of the agent.
type installation struct {
	*loader
	machine               machine
	force                 bool
	account, passwordFile string
	own                   map[string]bool // the flags of install itself
}

func installCommand(m machine) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the service, or update it",
		Long: "Install the service, or update the one that is there. The settings given are checked as run\n" +
			"checks them, before anything is changed, and written to " + m.config() + ",\n" +
			"which administrators and the system alone can read. A file that is there is kept: its settings\n" +
			"are then the ones, and none may be given but with --force. The service starts with the machine;\n" +
			"`service start` starts it now.",
		Args: cobra.NoArgs,
	}
	i := &installation{machine: m, own: map[string]bool{}}
	own := pflag.NewFlagSet("install", pflag.ContinueOnError)
	own.BoolVar(&i.force, "force", false, "Write the settings given over those that are there.")
	own.StringVar(&i.account, "account", service.LocalSystem, "Account that the service runs as. Driver session needs LocalSystem.")
	own.StringVar(&i.passwordFile, "password-file", "", "File with the account's password, if it has one.")
	own.VisitAll(func(f *pflag.Flag) { i.own[f.Name] = true })
	i.loader = bindWith(cmd.Flags(), m.defaults())
	cmd.Flags().AddFlagSet(own)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return i.install(cmd) }
	return cmd
}

func (i *installation) install(cmd *cobra.Command) (err error) {
	s, err := i.machine.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	keep, err := i.keeps(s)
	if err != nil {
		return err
	}
	content, err := i.check(keep)
	if err != nil {
		return err
	}
	definition, err := i.definition()
	if err != nil {
		return err
	}
	if err := i.machine.protect(cmd.Context(), service.Folder{Path: i.machine.folder, Account: i.account}); err != nil {
		return err
	}
	written, err := service.WriteConfig(i.machine.config(), content, i.force)
	if err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	updated, notes, err := s.Install(definition)
	if err != nil {
		return err
	}
	return i.report(cmd, written, updated, notes)
}

// keeps says whether the settings that are there stay, which then are the only ones.
func (i *installation) keeps(s *service.Service) (bool, error) {
	_, err := os.Lstat(i.machine.config())
	if i.force || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := i.trusted(s); err != nil {
		return false, err
	}
	var given []string
	i.flags.Visit(func(f *pflag.Flag) {
		if !i.own[f.Name] {
			given = append(given, "--"+f.Name)
		}
	})
	if len(given) > 0 {
		return false, fmt.Errorf("%s is there and is kept, so %s would have no effect: without flags all stays as it is there, "+
			"with --force what is given replaces all of it", i.machine.config(), strings.Join(given, ", "))
	}
	return true, nil
}

// trusted fails for settings that are there and that anybody may have put there: any user
// may make a folder beside the program's before the service is installed.
func (i *installation) trusted(s *service.Service) error {
	info, err := s.Status()
	if err != nil || info.Installed {
		return err // they are kept from others since it was installed
	}
	for _, path := range []string{i.machine.folder, i.machine.config()} {
		owned, err := i.machine.owned(path)
		if err != nil {
			return err
		}
		if !owned {
			return fmt.Errorf("%s is there, the service is not installed, and %s is no administrator's: anybody may have made it. "+
				"Look at it and remove it, or give all settings as flags with --force", i.machine.config(), path)
		}
	}
	return nil
}

// check checks the settings as run does, and returns them as a file.
func (i *installation) check(keep bool) ([]byte, error) {
	env := os.LookupEnv
	if keep {
		i.config = i.machine.config()
		env = noVariables // the service has none of this console
	}
	if _, _, err := i.load(env); err != nil {
		return nil, err
	}
	if err := i.fits(); err != nil {
		return nil, err
	}
	if err := i.absolute(); err != nil {
		return nil, err
	}
	if err := composes(i.settings); err != nil {
		return nil, err
	}
	return i.file()
}

// fits refuses what a service can't work with, and only doctor would tell later.
func (i *installation) fits() error {
	switch driver := i.settings.Driver; {
	case driver == driverWindows:
		return fmt.Errorf("%w: driver is %q from %s, and a service sees no desktop: leave it out, so that the driver is %s, or start `reprise-agent run` in the session that is driven",
			errSettings, driver, i.set.Origin("driver"), driverSession)
	case driver == driverSession && !service.IsLocalSystem(i.account):
		return fmt.Errorf("account %s: with driver %s only %s may be the service's, since nobody else may start a helper in the session of a user: leave --account out",
			i.account, driver, service.LocalSystem)
	}
	return nil
}

// absolute makes every path that was given a full one: a service starts in a folder of
// the system.
func (i *installation) absolute() error {
	s := &i.settings
	for _, path := range []*string{&s.TokenFile, &s.CAFile, &s.StateDir, &s.SecretsDir, &s.PopupsFile, &s.LimitsFile, &s.LogFile} {
		if *path == "" {
			continue
		}
		full, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = full
	}
	return nil
}

// file is the settings that were given, as a file.
func (i *installation) file() ([]byte, error) {
	var lines yaml.MapSlice
	for _, one := range i.set.All() {
		if i.set.Origin(one.Name).Source != setting.Default {
			lines = append(lines, yaml.MapItem{Key: one.Name, Value: one.Value.String()})
		}
	}
	body, err := yaml.Marshal(lines)
	if err != nil {
		return nil, fmt.Errorf("write the settings: %w", err)
	}
	return append([]byte("# Settings of the service reprise-agent; `reprise-agent service run --help` explains them all.\n"), body...), nil
}

func (i *installation) definition() (service.Definition, error) {
	exe, err := i.machine.executable()
	if err != nil {
		return service.Definition{}, err
	}
	d := service.Definition{Executable: exe, Arguments: []string{"service", "run", "--config", i.machine.config()}, Account: i.account}
	if i.passwordFile != "" {
		password, err := os.ReadFile(i.passwordFile)
		if err != nil {
			return service.Definition{}, fmt.Errorf("password-file: %w", err)
		}
		d.Password = strings.TrimRight(string(password), "\r\n")
	}
	return d, nil
}

func (i *installation) report(cmd *cobra.Command, written, updated bool, notes []string) error {
	did, kept := "installed", "kept"
	if updated {
		did = "updated"
	}
	if written {
		kept = "written"
	}
	text := fmt.Sprintf("the service %s is %s\nsettings:  %s (%s)\nstate:     %s\nlog:       %s\n",
		service.Name, did, i.machine.config(), kept, i.settings.StateDir, i.settings.LogFile)
	for _, n := range notes {
		text += "note:      " + n + "\n"
	}
	if updated {
		text += "next:      reprise-agent service stop, then reprise-agent service start, if it runs\n"
	} else {
		text += "next:      reprise-agent service start\n"
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}
