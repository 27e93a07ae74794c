package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/setting"
)

// loadWith loads settings from a file's content, an environment and flags.
func loadWith(t *testing.T, file string, env map[string]string, args ...string) (settings, error) {
	t.Helper()
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	l := bind(fs)
	if file != "" {
		path := filepath.Join(t.TempDir(), "agent.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	s, _, err := l.load(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	return s, err
}

func TestDefaultsAreTheContracts(t *testing.T) {
	s, err := loadWith(t, "", nil, "--machine", "m", "--state-dir", "d")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Backoff) != 5 || s.Backoff[4] != 15*time.Second || s.Remember != 256 || s.KeepaliveTime != 10*time.Second ||
		s.KeepaliveTimeout != 5*time.Second || s.MinDisplay != (setting.Size{Width: 1200, Height: 800}) ||
		s.MaxWaiting != 256<<20 || len(s.Masks) != 0 {
		t.Errorf("settings %+v", s)
	}
}

func TestEverySettingHasAFlagALineAndAVariable(t *testing.T) {
	var s settings
	for _, one := range declare(&s).All() {
		if one.Env == "" || one.Help == "" {
			t.Errorf("%s has no variable or no meaning", one.Name)
		}
	}
	file := "machine: from-file\nstate-dir: from-file\nreconnect-backoff: [1s, 2s]\ndedup-size: 5\n"
	got, err := loadWith(t, file, map[string]string{"RPA_RECONNECT_BACKOFF_S": "3,4.5", "RPA_STATE_DIR": "from-env"}, "--state-dir", "from-flag")
	if err != nil {
		t.Fatal(err)
	}
	if got.Machine != "from-file" || got.StateDir != "from-flag" || got.Remember != 5 || got.Backoff[1] != 4500*time.Millisecond {
		t.Errorf("settings %+v", got)
	}
}

func TestAllFaultsAreNamedAtOnce(t *testing.T) {
	_, err := loadWith(t, "colour: blue\ndedup-size: none\n", map[string]string{"RPA_KEEPALIVE_TIME_S": "10s"},
		"--driver", "virtual", "--state-dir", "d", "--reconnect-backoff", "5s,1s")
	for _, want := range []string{"colour", "dedup-size", "RPA_KEEPALIVE_TIME_S", "machine is required", "desktop is required", "shorter than the one before"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not name %q", err, want)
		}
	}
}

func TestMasksComeFromAnySourceAndABadOneStopsTheStart(t *testing.T) {
	want := []work.Mask{{Left: 0.1, Top: 0.2, Width: 0.3, Height: 0.4}, {Monitor: 1, Width: 1, Height: 0.05}}
	const text = "0:0.1,0.2,0.3,0.4;1:0,0,1,0.05"
	for name, given := range map[string]struct {
		file string
		env  map[string]string
		args []string
	}{
		"file":        {file: "masks: " + text + "\n"},
		"environment": {env: map[string]string{"RPA_MASKS": text}},
		"flag":        {args: []string{"--masks", text}},
	} {
		s, err := loadWith(t, given.file, given.env, append(given.args, "--machine", "m", "--state-dir", "d")...)
		if err != nil || !slices.Equal(s.Masks, want) {
			t.Errorf("%s: %v, %v", name, s.Masks, err)
		}
	}
	_, err := loadWith(t, "", map[string]string{"RPA_MASKS": "0:0,0,2,1"}, "--machine", "m", "--state-dir", "d")
	if err == nil || !strings.Contains(err.Error(), "RPA_MASKS") || !strings.Contains(err.Error(), "0:0,0,2,1") {
		t.Errorf("a bad mask: %v", err)
	}
}

// watched is what a command prints; it calls seen when that holds a text.
type watched struct {
	mu   sync.Mutex
	all  bytes.Buffer
	text string
	seen func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.all.Write(p)
	if w.seen != nil && strings.Contains(w.all.String(), w.text) {
		w.seen()
	}
	return n, err
}

// execute runs the command line to its end.
func execute(ctx context.Context, out *watched, args ...string) error {
	cmd := command()
	cmd.SetOut(out)
	cmd.SetErr(out)
	cmd.SetArgs(args)
	return cmd.ExecuteContext(ctx)
}

func TestTheAgentRunsWithoutServerAndDesktopAndEndsInOrder(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	out := &watched{text: "connecting again", seen: func() { stop(errSignal) }}
	err := execute(ctx, out, "run", "--machine", "m", "--state-dir", t.TempDir(), "--server", "127.0.0.1:1",
		"--driver", "virtual", "--desktop", "127.0.0.1:1")
	if !errors.Is(err, errSignal) {
		t.Errorf("run = %v", err)
	}
	for _, want := range []string{"the agent starts", "the agent ends"} {
		if !strings.Contains(out.all.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, out.all.String())
		}
	}
}

func TestVersionIsPrinted(t *testing.T) {
	out := &watched{}
	if err := execute(t.Context(), out, "version"); err != nil || strings.TrimSpace(out.all.String()) == "" {
		t.Errorf("version printed %q, %v", out.all.String(), err)
	}
}

func TestAWordThatNamesNoCommandEndsWith1(t *testing.T) {
	for line, want := range map[string]string{
		"rum":              "did you mean run?",
		"service unistall": "did you mean install or uninstall?",
		"service bogus":    `"reprise-agent service --help" lists them`,
	} {
		out := &watched{}
		err := execute(t.Context(), out, strings.Fields(line)...)
		if err == nil || exitCode(err) != 1 || !strings.Contains(err.Error(), want) || out.all.Len() > 0 {
			t.Errorf("%s: %v, printed %q", line, err, out.all.String())
		}
	}
}
