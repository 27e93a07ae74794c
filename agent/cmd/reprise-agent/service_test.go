package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/reprise-rpa/reprise/agent/service"
)

// fakeManager is a service control manager that remembers, and whose services come to
// their states at once.
type fakeManager struct {
	info    service.Info
	defined service.Definition
	asked   []string
}

func (m *fakeManager) define(what string, d service.Definition) ([]string, error) {
	m.asked, m.defined = append(m.asked, what), d
	if !m.info.Installed {
		m.info = service.Info{Installed: true, State: "stopped"}
	}
	return []string{"what this Windows can't"}, nil
}

func (m *fakeManager) Create(_ string, d service.Definition) ([]string, error) {
	return m.define("create", d)
}

func (m *fakeManager) Update(_ string, d service.Definition) ([]string, error) {
	return m.define("update", d)
}

func (m *fakeManager) Query(string) (service.Info, error) { return m.info, nil }
func (m *fakeManager) Start(string) error                 { m.info.State = "running"; return nil }
func (m *fakeManager) Stop(string) error                  { m.info.State = "stopped"; return nil }
func (m *fakeManager) Follow(uint32) func(context.Context) error {
	return func(context.Context) error { return nil }
}
func (m *fakeManager) Delete(string) error { m.info = service.Info{}; return nil }
func (m *fakeManager) Close() error        { return nil }

// fakeMachine is one with a service control manager, where nothing is there yet.
func fakeMachine(t *testing.T) (machine, *fakeManager) {
	t.Helper()
	manager := &fakeManager{}
	folder := filepath.Join(t.TempDir(), "reprise")
	return machine{
		connect:    func() (*service.Service, error) { return service.With(manager), nil },
		look:       func() (*service.Service, error) { return service.With(manager), nil },
		protect:    func(_ context.Context, f service.Folder) error { return os.MkdirAll(f.Path, 0o700) },
		owned:      func(string) (bool, error) { return true, nil },
		executable: func() (string, error) { return `C:\Program Files\reprise\reprise-agent.exe`, nil },
		folder:     folder,
	}, manager
}

// serviceRun runs one of the service's commands.
func serviceRun(t *testing.T, m machine, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := serviceCommand(m)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestInstallWritesWhatItWasGivenAndRunReadsIt(t *testing.T) {
	m, manager := fakeMachine(t)
	t.Chdir(t.TempDir())
	write(t, ".", "token", "t0k\n")
	out, err := serviceRun(t, m, "install", "--machine=desk-7", "--server=reprise.example:7443", "--token-file=token", "--masks=0:0,0,1,0.05", "--keepalive-time=20s")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"service", "run", "--config", m.config()}
	if !slices.Equal(manager.defined.Arguments, want) || manager.defined.Executable != `C:\Program Files\reprise\reprise-agent.exe` {
		t.Errorf("the service is started by %+v", manager.defined)
	}
	if !strings.Contains(out, "note:      what this Windows can't") || !strings.Contains(out, m.config()+" (written)") {
		t.Errorf("install says\n%s", out)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(m.config())
	if err != nil || strings.Contains(string(content), "dedup-size") {
		t.Errorf("%v; what was not given stands in\n%s", err, content)
	}
	l := bindWith(pflag.NewFlagSet("run", pflag.ContinueOnError), m.defaults())
	l.config = m.config()
	got, _, err := l.load(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range [][2]any{
		{got.Machine, "desk-7"}, {got.Server, "reprise.example:7443"}, {got.TokenFile, filepath.Join(here, "token")}, {len(got.Masks), 1},
		{got.KeepaliveTime.String(), "20s"}, {got.Driver, driverSession},
		{got.StateDir, filepath.Join(m.folder, "state")}, {got.LogFile, filepath.Join(m.folder, "logs", "agent.log")},
	} {
		if one[0] != one[1] {
			t.Errorf("the service has %v, want %v", one[0], one[1])
		}
	}
}

func TestWrongSettingsInstallNothing(t *testing.T) {
	for name, args := range map[string][]string{
		"no machine":    {},
		"bad value":     {"--machine=m", "--dedup-size=none"},
		"bad server":    {"--machine=m", "--server=nowhere"},
		"bad name":      {"--machine=-"},
		"missing rules": {"--machine=m", "--popups-file=none.yaml"},
		"no limits":     {"--machine=m", "--limits-file=none.yaml"},
		"no token":      {"--machine=m", "--token-file=none"},
		"no CA":         {"--machine=m", "--ca-file=testdata/token"},
	} {
		m, manager := fakeMachine(t)
		_, err := serviceRun(t, m, append([]string{"install"}, args...)...)
		if !errors.Is(err, errSettings) {
			t.Errorf("%s: %v", name, err)
		}
		if _, there := os.Stat(m.folder); !os.IsNotExist(there) || len(manager.asked) != 0 {
			t.Errorf("%s: installed all the same", name)
		}
	}
}

func TestSettingsThatAreThereAreKeptAndChecked(t *testing.T) {
	m, manager := fakeMachine(t)
	if out, err := serviceRun(t, m, "install", "--machine=first"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := serviceRun(t, m, "install", "--machine=second"); err == nil || !strings.Contains(err.Error(), "--machine would have no effect") {
		t.Errorf("flags without effect: %v", err)
	}
	t.Setenv("RPA_DEDUP_SIZE", "none") // of this console, and not of the service
	out, err := serviceRun(t, m, "install")
	if err != nil || !strings.Contains(out, "(kept)") || !strings.Contains(out, "is updated") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Setenv("RPA_DEDUP_SIZE", "")
	if out, err = serviceRun(t, m, "install", "--machine=second", "--force"); err != nil || !strings.Contains(out, "(written)") {
		t.Errorf("%v\n%s", err, out)
	}
	if content, err := os.ReadFile(m.config()); err != nil || !strings.Contains(string(content), "machine: second") {
		t.Errorf("%v\n%s", err, content)
	}
	if err := os.WriteFile(m.config(), []byte("colour: red\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = serviceRun(t, m, "install"); !errors.Is(err, errSettings) {
		t.Errorf("kept settings that are wrong: %v", err)
	}
	if diff := cmp.Diff([]string{"create", "update", "update"}, manager.asked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Any user may make the folder and put settings into it, before the first installation.
func TestSettingsThatAnybodyMayHaveMadeAreNotKept(t *testing.T) {
	for _, planted := range []string{"folder", "file"} {
		m, manager := fakeMachine(t)
		if err := errors.Join(os.MkdirAll(m.folder, 0o700), os.WriteFile(m.config(), []byte("machine: m\nserver: evil.example:1\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		m.owned = func(path string) (bool, error) { return (path == m.folder) != (planted == "folder"), nil }
		if _, err := serviceRun(t, m, "install"); err == nil || !strings.Contains(err.Error(), "anybody may have made it") || len(manager.asked) > 0 {
			t.Errorf("%s: %v, %v", planted, err, manager.asked)
		}
		if out, err := serviceRun(t, m, "install", "--machine=m", "--force"); err != nil {
			t.Errorf("%s: %v\n%s", planted, err, out)
		}
		// Now the service is installed, and what is there is its own.
		if out, err := serviceRun(t, m, "install"); err != nil || !strings.Contains(out, "(kept)") {
			t.Errorf("%s: %v\n%s", planted, err, out)
		}
	}
}

func TestAnAccountAndItsPasswordReachTheManager(t *testing.T) {
	m, manager := fakeMachine(t)
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("se cret\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := serviceRun(t, m, "install", "--machine=m", `--account=.\robot`, "--password-file="+password); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if manager.defined.Account != `.\robot` || manager.defined.Password != "se cret" {
		t.Errorf("%+v", manager.defined)
	}
	if content, err := os.ReadFile(m.config()); err != nil || strings.Contains(string(content), "cret") {
		t.Errorf("%v; the settings hold the password:\n%s", err, content)
	}
}

func TestTheServicesCommandsSayWhatTheyDidAndStatusIsAnExitCode(t *testing.T) {
	m, _ := fakeMachine(t)
	if out, err := serviceRun(t, m, "install", "--machine=m"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, step := range []struct {
		args string
		code int
		says string
	}{
		{"status", service.ExitStopped, "state:     stopped"},
		{"start", 0, "the service runs"},
		{"start", 0, "was running already"},
		{"status", 0, "state:     running"},
		{"stop", 0, "has stopped"},
		{"stop", 0, "was stopped already"},
		{"uninstall", 0, m.folder},
		{"status", service.ExitNotInstalled, "installed: no"},
		{"start", service.ExitNotInstalled, ""},
	} {
		out, err := serviceRun(t, m, strings.Fields(step.args)...)
		code := 0
		if err != nil {
			code = exitCode(err)
		}
		if code != step.code || !strings.Contains(out, step.says) {
			t.Errorf("%s: exit code %d, %v, says %q", step.args, code, err, out)
		}
	}
	out, _ := serviceRun(t, m, "status", "--json")
	var info service.Info
	if err := json.Unmarshal([]byte(out), &info); err != nil || info.Installed {
		t.Errorf("%v: %q", err, out)
	}
	if got := exitCode(fmt.Errorf("connect: %w", service.ErrNotElevated)); got != service.ExitNotElevated {
		t.Errorf("without rights the exit code is %d", got)
	}
}

func TestStatusAsksForNoMoreRightsThanAnyUserHas(t *testing.T) {
	m, _ := fakeMachine(t)
	if out, err := serviceRun(t, m, "install", "--machine=m"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m.connect = func() (*service.Service, error) { return nil, service.ErrNotElevated }
	if out, err := serviceRun(t, m, "status"); exitCode(err) != service.ExitStopped || !strings.Contains(out, "stopped") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := serviceRun(t, m, "start"); exitCode(err) != service.ExitNotElevated {
		t.Errorf("start without the rights: %v", err)
	}
}

func TestOnAnotherSystemThereIsOneClearError(t *testing.T) {
	if _, err := service.Connect(); err == nil {
		t.Skip("this system has services")
	}
	for _, args := range [][]string{{"start"}, {"stop"}, {"status"}, {"uninstall"}, {"install", "--machine=m"}, {"run"}} {
		m := thisMachine()
		m.folder = filepath.Join(t.TempDir(), "reprise")
		if _, err := serviceRun(t, m, args...); !errors.Is(err, service.ErrUnsupported) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestWithoutAFolderForItNothingIsDoneToTheService(t *testing.T) {
	lost := errors.New("no such folder")
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"start"}, {"stop"}, {"status"}, {"uninstall"}, {"install", "--machine=m"}, {"run"}} {
		if _, err := serviceRun(t, machineWith("", lost), args...); !errors.Is(err, lost) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if left, err := filepath.Glob("*"); err != nil || len(left) > 0 {
		t.Errorf("%v, left behind: %v", err, left)
	}
}
