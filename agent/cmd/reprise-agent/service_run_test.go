package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-rpa/reprise/agent/service"
	"github.com/reprise-rpa/reprise/agent/spool"
)

// events is an event log that remembers.
type events struct {
	mu      sync.Mutex
	entries []string
}

func (e *events) Write(id uint32, _ slog.Level, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.entries = append(e.entries, fmt.Sprint(id, " ", text))
	return nil
}

// asService runs the service's program with settings in a file.
func asService(ctx context.Context, t *testing.T, h service.Host, config string) (log string, err error) {
	t.Helper()
	m, _ := fakeMachine(t)
	if err := os.MkdirAll(m.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.config(), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	m.run = func(_ context.Context, p service.Program) error { return p(ctx, h) }
	_, err = serviceRun(t, m, "run", "--config", m.config())
	content, _ := os.ReadFile(filepath.Join(m.folder, "logs", "agent.log"))
	return string(content), err
}

func TestTheServicesAgentLogsToItsFileAndWarnsInTheEventLog(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	e := &events{}
	ready := 0
	h := service.Host{Events: e, Ready: func() { ready++; stop(service.ErrStopped) }}
	log, err := asService(ctx, t, h, "machine: m\ndriver: virtual\ndesktop: 127.0.0.1:1\nserver: 127.0.0.1:1\n")
	if !errors.Is(err, service.ErrStopped) || ready != 1 {
		t.Errorf("it ended with %v, ready %d times", err, ready)
	}
	for _, want := range []string{"the agent starts", "the agent ends", service.ErrStopped.Error()} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
	for _, entry := range e.entries {
		if id, _, _ := strings.Cut(entry, " "); len(id) != 3 {
			t.Errorf("an entry that is no warning: %q", entry)
		}
	}
}

// inUse is a state directory that another process has, until the test ends.
func inUse(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	fs, err := spool.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := fs.Lock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	return dir
}

func TestTheServicesAgentSaysWhyItCannotWork(t *testing.T) {
	dir := inUse(t)
	const here = "machine: m\ndriver: virtual\ndesktop: 127.0.0.1:1\nserver: 127.0.0.1:1\n"
	for name, tt := range map[string]struct {
		config string
		want   error
	}{
		"a wrong setting": {"colour: red\n", service.ErrSettings},
		"a wrong server":  {strings.Replace(here, "127.0.0.1:1\n", "here\n", 2), service.ErrSettings},
		"no token":        {here + "token-file: " + filepath.Join(dir, "none") + "\n", service.ErrSettings},
		"no log file":     {here + "log-file: /dev/null/agent.log\n", service.ErrSettings},
		"a memory in use": {here + "state-dir: " + dir + "\n", spool.ErrLocked},
	} {
		if _, err := asService(t.Context(), t, service.Host{Ready: func() {}}, tt.config); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The exit code of a service that was asked to stop does not tell of its failure.
func TestTheServicesAgentLogsAFailureOnItsWayOut(t *testing.T) {
	dir := inUse(t)
	ctx, stop := context.WithCancelCause(t.Context())
	h := service.Host{Ready: func() { stop(service.ErrStopped) }}
	log, err := asService(ctx, t, h, "machine: m\ndriver: virtual\ndesktop: 127.0.0.1:1\nserver: 127.0.0.1:1\nstate-dir: "+dir+"\n")
	if !errors.Is(err, spool.ErrLocked) || !strings.Contains(log, "the agent failed") {
		t.Errorf("it ended with %v; the log:\n%s", err, log)
	}
}
