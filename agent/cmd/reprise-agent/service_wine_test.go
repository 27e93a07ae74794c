//go:build windows && wine

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"

	"github.com/reprise-rpa/reprise/agent/doctor"
	"github.com/reprise-rpa/reprise/agent/service"
	"github.com/reprise-rpa/reprise/agent/spool"
)

// The service control manager starts this program again, as the service.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "service" {
		main()
		return
	}
	os.Exit(m.Run())
}

// installed is a service of Wine's service control manager.
type installed struct {
	t *testing.T
	m machine
}

// install installs the service with a desktop and a server that are not there. Its
// folder is that of every service, whatever this console's variables say.
func install(t *testing.T) installed {
	t.Helper()
	t.Setenv("ProgramData", t.TempDir())
	i := installed{t, thisMachine()}
	i.remove() // of a run that was killed
	out := i.must("install", "--machine=m", "--driver=virtual", "--desktop=127.0.0.1:1", "--server=127.0.0.1:1")
	if !strings.Contains(out, "is installed") || !strings.Contains(out, i.m.config()+" (written)") {
		t.Errorf("install says\n%s", out)
	}
	t.Cleanup(i.remove)
	return i
}

// remove leaves nothing of the service.
func (i installed) remove() {
	i.t.Helper()
	if out, err := i.run("uninstall"); err != nil && !errors.Is(err, service.ErrNotInstalled) {
		i.t.Errorf("uninstall: %v\n%s", err, out)
	}
	if err := os.RemoveAll(i.m.folder); err != nil {
		i.t.Error(err)
	}
}

func (i installed) log() string { return filepath.Join(i.m.folder, "logs", "agent.log") }

// run runs one of the commands.
func (i installed) run(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := serviceCommand(i.m)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(context.WithoutCancel(i.t.Context())) // also when the test is over
	return out.String(), err
}

func (i installed) must(args ...string) string {
	i.t.Helper()
	out, err := i.run(args...)
	if err != nil {
		i.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// is fails unless status says so, with that exit code.
func (i installed) is(state string, code int) service.Info {
	i.t.Helper()
	out, err := i.run("status", "--json")
	got := 0
	if err != nil {
		got = exitCode(err)
	}
	var info service.Info
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		i.t.Fatalf("%v: %q", err, out)
	}
	if info.State != state || got != code {
		i.t.Errorf("exit code %d, %s; want %d and %q", got, out, code, state)
	}
	return info
}

// ask sends a request to the service, and waits until it is in a state.
func (i installed) ask(request svc.Cmd, want svc.State) {
	i.t.Helper()
	m, err := mgr.Connect()
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = m.Disconnect() }()
	s, err := m.OpenService(service.Name)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err = s.Control(request); err != nil {
		i.t.Fatalf("request %d: %v", request, err)
	}
	i.await("the state", func() bool {
		st, err := s.Query()
		return err == nil && st.State == want
	})
}

// await asks until it is so.
func (i installed) await(what string, so func() bool) {
	i.t.Helper()
	ctx, stop := context.WithTimeout(i.t.Context(), patience)
	defer stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !so() {
		select {
		case <-look.C:
		case <-ctx.Done():
			i.t.Fatalf("%s did not come", what)
		}
	}
}

// logged is how often the log file has a text.
func (i installed) logged(text string) int { return strings.Count(i.logText(), text) }

func (i installed) logText() string {
	content, err := os.ReadFile(i.log())
	if err != nil && !os.IsNotExist(err) {
		i.t.Fatal(err)
	}
	return string(content)
}

func TestTheServiceLivesByTheManagersRequests(t *testing.T) {
	i := install(t)
	i.is("stopped", service.ExitStopped)
	i.must("start")
	info := i.is("running", 0)
	if info.PID == 0 || int(info.PID) == os.Getpid() {
		t.Errorf("the service is process %d", info.PID)
	}
	i.await("the agent's first line", func() bool { return i.logged(`msg="the agent starts"`) == 1 })
	if out := i.must("start"); !strings.Contains(out, "already") {
		t.Errorf("start of a service that runs says %q", out)
	}

	i.ask(svc.Pause, svc.Paused)
	if i.logged(`msg="the agent ends"`) != 1 {
		t.Errorf("a paused service has an agent that has not ended:\n%s", i.logText())
	}
	i.is("paused", service.ExitPaused)
	i.ask(svc.Continue, svc.Running)
	i.await("the agent again", func() bool { return i.logged(`msg="the agent starts"`) == 2 })

	i.must("stop")
	i.is("stopped", service.ExitStopped)
	if i.logged(`msg="the agent ends"`) != 2 || i.logged(service.ErrStopped.Error()) != 1 {
		t.Errorf("the agent did not end in order:\n%s", i.logText())
	}
	out := i.must("uninstall")
	if _, err := os.Stat(filepath.Join(i.m.folder, "state", "spool")); err != nil || !strings.Contains(out, i.m.folder) {
		t.Errorf("after uninstall: %v, said %q", err, out)
	}
	i.is("", service.ExitNotInstalled)
}

func TestInstallOverAServiceKeepsItsSettings(t *testing.T) {
	i := install(t)
	before, err := os.ReadFile(i.m.config())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := i.run("install", "--machine=other"); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("settings that would have no effect: %v\n%s", err, out)
	}
	if out := i.must("install"); !strings.Contains(out, "is updated") || !strings.Contains(out, "(kept)") {
		t.Errorf("install says\n%s", out)
	}
	after, err := os.ReadFile(i.m.config())
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("%v, the settings were\n%s\nand are\n%s", err, before, after)
	}
	i.must("start") // by what was updated
}

// Windows keeps the time there that the service control manager is told.
func TestAShutdownOfTheMachineWaitsUntilTheAgentHasEnded(t *testing.T) {
	install(t)
	out, err := exec.CommandContext(t.Context(), "reg", "query", `HKLM\System\CurrentControlSet\Services\`+service.Name, "/v", "PreshutdownTimeout").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	words := strings.Fields(string(out))
	waits, err := strconv.ParseInt(words[len(words)-1], 0, 64)
	// Not for the three minutes that it is by itself under Wine, either.
	if wait := time.Duration(waits) * time.Millisecond; err != nil || wait <= service.EndWithin || wait >= 2*service.EndWithin {
		t.Errorf("%v; Windows waits %d ms, and the agent may take %v to end\n%s", err, waits, service.EndWithin, out)
	}
}

func TestAServiceThatCannotWorkEndsAndSaysWhy(t *testing.T) {
	i := install(t)
	t.Run("its state is in use", func(t *testing.T) {
		fs, err := spool.Dir(filepath.Join(i.m.folder, "state"))
		if err != nil {
			t.Fatal(err)
		}
		lock, err := fs.Lock()
		if err != nil {
			t.Fatal(err)
		}
		// It may have been running for a moment.
		if _, err := i.run("start"); err != nil && !strings.Contains(err.Error(), "another agent") {
			t.Errorf("start = %v", err)
		}
		i.await("its end", func() bool { info, _ := i.status(); return info.State == "stopped" })
		if info, _ := i.status(); info.LastEvent != service.EventLocked {
			t.Errorf("it ended with %+v", info)
		}
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("its settings are wrong", func(t *testing.T) {
		if err := os.WriteFile(i.m.config(), []byte("colour: red\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := i.run("start"); err == nil || !strings.Contains(err.Error(), i.m.config()+":1: no setting has this name") {
			t.Errorf("start = %v", err)
		}
		if info := i.is("stopped", service.ExitStopped); info.LastEvent != service.EventSettings {
			t.Errorf("it ended with %+v", info)
		}
	})
}

func (i installed) status() (service.Info, error) {
	s, err := i.m.look()
	if err != nil {
		return service.Info{}, err
	}
	defer func() { _ = s.Close() }()
	return s.Status()
}

func TestNobodyElseRunsTheService(t *testing.T) {
	i := installed{t, thisMachine()}
	if _, err := i.run("run"); !errors.Is(err, service.ErrNotByManager) || !strings.Contains(err.Error(), "reprise-agent run") {
		t.Errorf("service run in a console: %v", err)
	}
}

// What install, uninstall and doctor speak of is what the service uses.
func TestTheServiceUsesTheFoldersThatAreToldOfIt(t *testing.T) {
	i := install(t)
	i.must("start")
	i.await("the agent's first line", func() bool { return i.logged(`msg="the agent starts"`) == 1 })
	out, _, _ := examined(t, i.m.folder, nil, "--json") // there is no server
	for _, id := range []string{"state-dir", "spool"} {
		if got := reported(t, out, id); got.Result != doctor.OK || strings.Contains(got.Found, "yet") {
			t.Errorf("%+v", got)
		}
	}
}
