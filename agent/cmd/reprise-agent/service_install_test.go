package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

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
		"no desktop":    {"--machine=m", "--driver=windows"},
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
	if _, err := serviceRun(t, m, "install", "--machine=second"); err == nil || !strings.Contains(err.Error(), "--machine would have no effect: without flags") ||
		!strings.Contains(err.Error(), "--force") {
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

func TestOnlyLocalSystemIsTheAccountOfAServiceThatStartsHelpers(t *testing.T) {
	for account, good := range map[string]bool{
		"localsystem": true, `.\LocalSystem`: true, `NT AUTHORITY\SYSTEM`: true, `.\robot`: false, `NT AUTHORITY\LocalService`: false,
	} {
		m, manager := fakeMachine(t)
		_, err := serviceRun(t, m, "install", "--machine=m", "--account="+account)
		if good != (err == nil) || err != nil && !strings.Contains(err.Error(), "leave --account out") {
			t.Errorf("%s: %v", account, err)
		}
		if _, there := os.Stat(m.folder); !good && (!os.IsNotExist(there) || len(manager.asked) != 0) {
			t.Errorf("%s: installed all the same", account)
		}
	}
}

// A file that is there may hold what was never checked for a service.
func TestSettingsOfNoServiceAreNotKept(t *testing.T) {
	m, manager := fakeMachine(t)
	must(t, errors.Join(os.MkdirAll(m.folder, 0o700), os.WriteFile(m.config(), []byte("machine: m\ndriver: windows\n"), 0o600)))
	_, err := serviceRun(t, m, "install")
	if !errors.Is(err, errSettings) || !strings.Contains(err.Error(), "agent.yaml:2") || len(manager.asked) > 0 {
		t.Errorf("%v, %v", err, manager.asked)
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
		for _, flags := range [][]string{nil, {"--machine=m"}} { // told at once, and not one after the other
			_, err := serviceRun(t, m, append([]string{"install"}, flags...)...)
			if err == nil || !strings.Contains(err.Error(), "anybody may have made it") || !strings.Contains(err.Error(), "--force") || len(manager.asked) > 0 {
				t.Errorf("%s, %v: %v, %v", planted, flags, err, manager.asked)
			}
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
	if out, err := serviceRun(t, m, "install", "--machine=m", "--driver=virtual", "--desktop=h:1", `--account=.\robot`, "--password-file="+password); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if manager.defined.Account != `.\robot` || manager.defined.Password != "se cret" {
		t.Errorf("%+v", manager.defined)
	}
	if content, err := os.ReadFile(m.config()); err != nil || strings.Contains(string(content), "cret") {
		t.Errorf("%v; the settings hold the password:\n%s", err, content)
	}
}
