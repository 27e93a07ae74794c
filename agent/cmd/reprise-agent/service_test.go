package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/service"
)

// serviceSpecific is ERROR_SERVICE_SPECIFIC_ERROR of winerror.h.
const serviceSpecific = 1066

// fakeManager is a service control manager that remembers, and whose services come to
// their states at once.
type fakeManager struct {
	info    service.Info
	defined service.Definition
	asked   []string
	fails   uint32 // the event with which a service that starts ends; 0: it runs
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
func (m *fakeManager) Start(string) error {
	if m.info.State = "running"; m.fails != 0 {
		m.info.State, m.info.LastExit, m.info.LastEvent = "stopped", serviceSpecific, m.fails
	}
	return nil
}
func (m *fakeManager) Stop(string) error { m.info.State = "stopped"; return nil }
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

func TestAStartThatFailsBySettingsNamesThem(t *testing.T) {
	for settings, want := range map[string]string{
		"colour: red\n":             `agent.yaml:2: no setting has this name`,
		"dedup-size: none\n":        `dedup-size: "none" from `,
		"stop-key: ctrl\n":          `stop-key: "ctrl" from `,
		"limits-file: /none.yaml\n": "open /none.yaml: ",
		"token-file: /none\n":       "token file: open /none: ",
		"log-file: " + write(t, t.TempDir(), "file", "") + "/a.log\n": "log-file: mkdir ",
		"server: 127.0.0.1:1\n": "event log: Application, source reprise-agent, event 301", // it may be the variables of the service
	} {
		m, manager := fakeMachine(t)
		manager.fails, manager.info = service.EventSettings, service.Info{Installed: true, State: "stopped"}
		must(t, errors.Join(os.MkdirAll(m.folder, 0o700), os.WriteFile(m.config(), []byte("machine: m\n"+settings), 0o600)))
		t.Setenv("RPA_DEDUP_SIZE", "nothing") // of this console, and not of the service
		_, err := serviceRun(t, m, "start")
		if exitCode(err) != 1 || !strings.Contains(err.Error(), "has ended at once: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "nothing") {
			t.Errorf("%s: %v", settings, err)
		}
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
