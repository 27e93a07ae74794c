package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-rpa/reprise/agent/doctor"
)

// examined runs `reprise-agent doctor` on a machine whose service has its settings in
// folder, with an environment, and returns what it prints.
func examined(t *testing.T, folder string, env map[string]string, args ...string) (out, said string, err error) {
	t.Helper()
	cmd := doctorCommandWith(machine{folder: folder}, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	var stdout, stderr bytes.Buffer
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SetArgs(args)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// reported is the finding of a check in a report of JSON.
func reported(t *testing.T, out, id string) doctor.Finding {
	t.Helper()
	var r doctor.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if strings.Count(out, "\n") != 1 || r.Version == "" || r.System == "" || r.At.IsZero() || r.Result == "" {
		t.Errorf("%s", out)
	}
	i := slices.IndexFunc(r.Checks, func(f doctor.Finding) bool { return f.ID == id })
	if i < 0 {
		t.Fatalf("no check %s in %s", id, out)
	}
	return r.Checks[i]
}

func TestDoctorEndsWith1WhenItFoundAFault(t *testing.T) {
	p := newPlane(t)
	args := []string{"--machine", "m", "--state-dir", t.TempDir(), "--server", p.address, "--driver", "virtual", "--desktop", "h:1", "--min-display", "1x1", "--json"}
	out, _, err := examined(t, t.TempDir(), nil, args...)
	if got := reported(t, out, "server"); err != nil || got.Result != doctor.Warning {
		t.Errorf("of a server that has no health: %v, %+v", err, got)
	}
	out, _, err = examined(t, t.TempDir(), nil, append(args, "--token-file", filepath.Join(t.TempDir(), "none"))...)
	if got := reported(t, out, "token"); exitCode(err) != exitFault || !errors.As(err, new(statusError)) || got.Result != doctor.Fault {
		t.Errorf("of a token that is not there: %v, %+v", err, got)
	}
}

// Each of them keeps the agent from working.
func TestDoctorLooksAtTheLogAndTheDisplayThatAreGiven(t *testing.T) {
	dir := t.TempDir()
	p := newPlane(t)
	args := []string{"--json", "--machine", "m", "--state-dir", dir, "--server", p.address}
	for id, more := range map[string][]string{
		"log-file": {"--driver", "virtual", "--desktop", "h:1", "--log-file", filepath.Join(write(t, dir, "file", ""), "agent.log")},
		"desktop":  {"--driver", "x11", "--display", ":9077"},
	} {
		if id == "desktop" && defaultDriver != driverX11 {
			continue // there are no X displays on this system
		}
		out, _, err := examined(t, dir, nil, append(args, more...)...)
		if got := reported(t, out, id); exitCode(err) != exitFault || got.Result != doctor.Fault {
			t.Errorf("%v, %+v", err, got)
		}
	}
}

func TestDoctorPrintsALineForEachCheckAndCountsThem(t *testing.T) {
	out, said, err := examined(t, t.TempDir(), nil, "--machine", "m", "--state-dir", t.TempDir(), "--server", "127.0.0.1:1", "--driver", "virtual", "--desktop", "h:1", "--min-display", "1x1")
	if exitCode(err) != exitFault || said != "" {
		t.Errorf("%v, %q", err, said)
	}
	for _, want := range []string{"ok        version      ", "fault     server       nothing answers at 127.0.0.1:1", "to do: start the server", "19 checks, 1 fault"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("there are colours, and no terminal")
	}
}

func TestDoctorNamesFaultsOfSettingsAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	rules := write(t, dir, "rules.yaml", "colour: blue\n")
	out, _, _ := examined(t, dir, nil, "--json", "--server", "127.0.0.1:1", "--dedup-size", "none", "--popups-file", rules, "--limits-file", rules)
	got := reported(t, out, "settings")
	for _, want := range []string{"machine is required", "dedup-size", "popups-file", "limits-file"} {
		if got.Result != doctor.Fault || !strings.Contains(got.Found, want) {
			t.Errorf("%+v does not name %q", got, want)
		}
	}
	if strings.Contains(got.Found, errSettings.Error()) {
		t.Errorf("%+v", got)
	}
	if got := reported(t, out, "server"); got.Result != doctor.Fault || !strings.Contains(got.Found, "127.0.0.1:1") {
		t.Errorf("%+v", got)
	}
}

func TestDoctorLooksByTheServicesSettingsWhereNoneAreGiven(t *testing.T) {
	dir := t.TempDir()
	services := write(t, dir, "agent.yaml", "machine: m\nserver: 127.0.0.1:2\n")
	another := write(t, t.TempDir(), "another.yaml", "machine: m\nstate-dir: s\nserver: 127.0.0.1:3\ndriver: virtual\ndesktop: h:1\n")
	for _, c := range []struct {
		name   string
		folder string
		env    map[string]string
		args   []string
		want   string
	}{
		{"the service's", dir, nil, nil, "driver session, server 127.0.0.1:2, from " + services + ", the service's"},
		{"with doctor's own flags", dir, nil, []string{"--window", "x"}, "driver session, server 127.0.0.1:2, from " + services + ", the service's"},
		{"flags", dir, nil, []string{"--machine", "m", "--state-dir", "s", "--server", "127.0.0.1:4", "--driver", "session"}, "driver session, server 127.0.0.1:4, from flags and environment"},
		{"another file", dir, nil, []string{"--config", another}, "driver virtual, server 127.0.0.1:3, from " + another + ", flags and environment"},
		{"another file of the environment", dir, map[string]string{configEnv: another}, nil, "driver virtual, server 127.0.0.1:3, from " + another + ", flags and environment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _, _ := examined(t, c.folder, c.env, append([]string{"--json"}, c.args...)...)
			if got := reported(t, out, "settings"); got.Found != c.want || got.Result != doctor.OK {
				t.Errorf("%+v\nwant %q", got, c.want)
			}
		})
	}
}

func TestDoctorSaysWhatTheSelfTestDoesBeforeItDoesIt(t *testing.T) {
	args := []string{"--json", "--machine", "m", "--state-dir", t.TempDir(), "--server", "127.0.0.1:1", "--driver", "virtual", "--desktop", "h:1", "--min-display", "1x1", "--selftest"}
	out, said, _ := examined(t, t.TempDir(), nil, args...)
	if !strings.Contains(said, "moves the pointer") || !strings.Contains(said, "1m30s") {
		t.Errorf("it says %q", said)
	}
	if got := reported(t, out, "idle"); got.Result != doctor.Unknown {
		t.Errorf("%+v", got)
	}
	if got := reported(t, out, "input"); got.Result == doctor.Fault {
		t.Errorf("%+v", got)
	}
}

func TestDoctorTakesEveryFlagOfRun(t *testing.T) {
	names := func(cmd *cobra.Command) (list []string) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { list = append(list, f.Name) })
		return list
	}
	own := []string{"idle", "json", "selftest", "window"}
	want := append(names(runCommand()), own...)
	slices.Sort(want)
	if diff := cmp.Diff(want, names(doctorCommand(machine{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestColoursAreForTerminalsThatWantThem(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if colourful(file, os.LookupEnv) {
		t.Error("a file is no terminal")
	}
	if colourful(&bytes.Buffer{}, os.LookupEnv) {
		t.Error("a buffer is no terminal")
	}
}
