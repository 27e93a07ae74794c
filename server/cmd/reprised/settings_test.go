package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// warned runs reprised with the watchdog off, which it warns of, on a port that is
// taken, which it ends for; it returns what it said before that.
func warned(t *testing.T, env []string, args ...string) (lines []string) {
	t.Helper()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := filepath.Join(t.TempDir(), "data")
	args = append([]string{"--watchdog=off", "--listen", taken.Addr().String(), "--data-dir", dir}, args...)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(out), "address already in use") {
		t.Fatalf("%d, %v: %s", code, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "reprised: ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func isJSON(line string) bool { return json.Valid([]byte(line)) }

func TestTheLogHasTheLevelAndTheFormThatAreSet(t *testing.T) {
	t.Parallel()
	if got := warned(t, nil); len(got) != 1 || isJSON(got[0]) || !strings.Contains(got[0], "level=WARN") {
		t.Errorf("by default: %q", got)
	}
	if got := warned(t, nil, "--log-format=json"); len(got) != 1 || !isJSON(got[0]) {
		t.Errorf("as JSON: %q", got)
	}
	if got := warned(t, nil, "--log-level=error"); len(got) != 0 {
		t.Errorf("errors alone: %q", got)
	}
}

// The form of the log shows which source has won.
func TestAFlagWinsOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "reprised.yaml")
	if err := os.WriteFile(file, []byte("log-format: json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	named := "RPA_CONFIG=" + file
	for name, tt := range map[string]struct {
		env  []string
		args []string
		json bool
	}{
		"the default":               {nil, nil, false},
		"the file over the default": {[]string{named}, nil, true},
		"the environment over it":   {[]string{named, "RPA_LOG_FORMAT=text"}, nil, false},
		"the flag over all":         {[]string{named, "RPA_LOG_FORMAT=text"}, []string{"--log-format=json"}, true},
	} {
		if got := warned(t, tt.env, tt.args...); len(got) != 1 || isJSON(got[0]) != tt.json {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestOlderNamesAreTakenAndWarnedOf(t *testing.T) {
	t.Parallel()
	got := strings.Join(warned(t, []string{"RPA_RETRY_WATCHDOG_ENABLED=no", "RPA_WATCHDOG_MAX_RETRIES=3"}), "\n")
	for _, want := range []string{
		"RPA_RETRY_WATCHDOG_ENABLED is an older name, use RPA_WATCHDOG_ENABLED",
		"RPA_WATCHDOG_MAX_RETRIES is an older name, use RPA_WATCHDOG_MAX_RESENDS",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not said once in:\n%s", want, got)
		}
	}
}

// What belongs together is checked together, and the fault names both with their
// values.
func TestSettingsThatContradictEachOtherStopTheProgram(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"--receipt-timeout=40s":     {`receipt-timeout is "40s" from --receipt-timeout`, `orphan-timeout is "30s" from the default`},
		"--keepalive-min-time=11s":  {`keepalive-min-time is "11s"`, `keepalive-time is "10s"`, `ping-interval is "10s"`},
		"--ping-interval=2s":        {`keepalive-min-time is "5s"`, `ping-interval is "2s"`},
		"--action-timeout=20s":      {`resolve-timeout is "30s"`, `action-timeout is "20s"`},
		"--effect-timeout=2m":       {`effect-timeout is "2m"`, `action-timeout is "1m"`},
		"--agent-offline-grace=10s": {`ping-timeout is "10s"`, `agent-offline-grace is "10s"`},
		"--max-resends=20":          {`max-resends is "20"`, `max-deliveries is "20"`},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		out, code := run(t, args, "--listen", "127.0.0.1:0", "--data-dir", dir)
		if code != 1 {
			t.Errorf("%s: exit code %d", args, code)
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: nothing of %s in: %s", args, w, out)
			}
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a data folder was made", args)
		}
	}
}

func TestTheServerListensWhereItIsTold(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--listen", "127.0.0.3:0")
	host, port, err := net.SplitHostPort(s.address)
	if err != nil || host != "127.0.0.3" {
		t.Fatalf("it serves on %s, %v", s.address, err)
	}
	if _, err := healthpb.NewHealthClient(s.dial(insecure.NewCredentials())).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Error(err)
	}
	// Another program may have the same port of another address: it knows no token of this one.
	s.address = net.JoinHostPort("127.0.0.1", port)
	elsewhere := reprisev1.NewReplayServiceClient(s.dial(insecure.NewCredentials()))
	if _, err := elsewhere.ListReplays(s.ctx, &reprisev1.ListReplaysRequest{}); err == nil {
		t.Error("it listens elsewhere too")
	}
}

func TestMetricsAreServedOnlyWhereTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	if out := start(t, t.TempDir()).process.Output(); strings.Contains(out, "serving metrics") {
		t.Errorf("nobody asked for metrics: %s", out)
	}
	s := start(t, t.TempDir(), "--metrics-listen", "127.0.0.3:0")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	line, err := s.process.Line(ctx, "serving metrics")
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, regexp.MustCompile(`http://127\.0\.0\.3:\d+/metrics`).FindString(line), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("metrics answer %s", res.Status)
	}
}
