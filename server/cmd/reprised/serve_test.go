package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

// One server, looked at from all sides while it runs, and stopped with an action
// in flight.
func TestAServerFromStartToStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() // 0755: others made it
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := start(t, dir, "--metrics-listen", "127.0.0.1:0", "--drain-timeout", "30m") // more than the test's patience
	t.Run("health needs no token", s.health)
	t.Run("reflection needs the operator's token", s.reflection)
	t.Run("a second server on its folder is refused", func(t *testing.T) {
		out, code := run(t, "--data-dir", dir, "--listen", "127.0.0.1:0")
		if code != 1 || !strings.Contains(out, "data directory is in use") || strings.Count(out, "\n") > 2 {
			t.Errorf("%d: %s", code, out)
		}
	})
	a := s.agent(s.addAgent())
	id := s.create()
	d := a.Dispatch()
	a.Progress(d.GetActionId(), "clicking")
	a.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Ping{Ping: &reprisev1.Ping{Number: 1}}})
	if a.Next().GetPong().GetNumber() != 1 { // the server has taken what was said before
		t.Error("no pong")
	}
	t.Run("metrics have the names that sites know", s.metrics)
	t.Run("nobody else can read its files", s.modes)

	// The agent is at it when the server is asked to stop: the report counts.
	go func() {
		_, err := s.process.Line(t.Context(), "msg=draining")
		if err == nil {
			time.AfterFunc(time.Second, func() { a.Report(sessiontest.Done(d)) })
		}
	}()
	if took := s.stopped(); took < time.Second {
		t.Errorf("stopping took %v", took)
	}
	if v := a.Ack(); v != reprisev1.ReportVerdict_REPORT_VERDICT_ACCEPTED {
		t.Errorf("verdict %v", v)
	}
	if a.Next().GetGoAway() == nil {
		t.Error("the agent was not told when to come back")
	}
	again := start(t, dir)
	if st := again.state(id); st != reprisev1.ReplayState_REPLAY_STATE_COMPLETED {
		t.Errorf("the replay is %v", st)
	}
}

func (s *server) health(t *testing.T) {
	for _, service := range []string{"", "reprise.v1.AgentService", "reprise.v1.ReplayService"} {
		res, err := healthpb.NewHealthClient(s.conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		if err != nil || res.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", service, res, err)
		}
	}
}

func (s *server) reflection(t *testing.T) {
	services := func(ctx context.Context) (string, error) {
		ctx, end := context.WithCancel(ctx)
		defer end() // an open stream would hold up the stop
		st, err := reflectionpb.NewServerReflectionClient(s.conn).ServerReflectionInfo(ctx)
		if err != nil {
			return "", err
		}
		// What Send says of a stream that is refused is not why: Recv knows.
		_ = st.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
		res, err := st.Recv()
		return res.String(), err
	}
	if _, err := services(t.Context()); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a token: %v", err)
	}
	if all, err := services(s.ctx); err != nil || !strings.Contains(all, "reprise.v1.ReplayService") {
		t.Errorf("with the operator's: %s, %v", all, err)
	}
}

func (s *server) metrics(t *testing.T) {
	line, err := s.process.Line(t.Context(), "serving metrics")
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, regexp.MustCompile(`http://\S+`).FindString(line), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"rpa_replay_in_flight_actions", "rpa_replay_orphan_age_seconds_bucket", "rpa_watchdog_sweeps_total", "rpa_journal_append_seconds_count",
		"rpa_agent_streams_open 1", `rpa_agent_connects_total{machine="desk-1"} 1`, "rpa_replay_dispatch_latency_seconds_count 1",
		`grpc_server_handled_total{grpc_code="OK",grpc_method="CreateReplay"`, `grpc_server_started_total{grpc_method="Connect"`,
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %s", want)
		}
	}
}

func (s *server) modes(t *testing.T) {
	files := 0
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == s.dir {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the server has removed it meanwhile
		}
		if err != nil {
			return err
		}
		files++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestAJournalThatOthersCouldReadIsMadePrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, dir)
	s.process.Kill()
	names, err := filepath.Glob(filepath.Join(dir, "journal.db*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, n := range names {
		if err := os.Chmod(n, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	start(t, dir).modes(t)
}

// An agent that will never report holds up the stop no longer than it may.
func TestADeadAgentDoesNotHoldUpTheStop(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "reprised.yaml")
	if err := os.WriteFile(file, []byte("drain-timeout: 30m\n"), 0o600); err != nil { // more than the test's patience
		t.Fatal(err)
	}
	s := start(t, t.TempDir(), "--config", file, "--drain-timeout", "1500ms")
	a := s.agent(s.addAgent())
	s.create()
	a.Dispatch()
	s.stopped()
	if out := s.process.Output(); !strings.Contains(out, "actions are still in flight") {
		t.Errorf("it does not say what it leaves: %s", out)
	}
}

func TestASecondSignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--drain-timeout", "30m")
	a := s.agent(s.addAgent())
	s.create()
	a.Dispatch()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.process.Terminate(ctx); err == nil {
		t.Fatal("the server ended at once")
	}
	if _, err := s.process.Line(t.Context(), "msg=draining"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		wait, stop := context.WithTimeout(ctx, 200*time.Millisecond) // the first signal may still be under way
		err := s.process.Terminate(wait)
		stop()
		if err == nil {
			t.Error("the server ended as if nothing were in flight")
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			return
		}
	}
	t.Error("the server goes on")
}

// I9, with a real kill: what was answered is there, and the action in flight is
// asked for again, as one that a restart has interrupted.
func TestAKilledServerGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, dir)
	agent := s.addAgent()
	a := s.agent(agent)
	id := s.create()
	first := a.Dispatch()
	s.process.Kill()
	s = start(t, dir)
	if st := s.state(id); st != reprisev1.ReplayState_REPLAY_STATE_RUNNING {
		t.Errorf("the replay is %v", st)
	}
	b := s.agent(agent)
	again := b.Dispatch()
	if again.GetActionId() != first.GetActionId() || again.GetDispatchMeta().GetResendReason() != reprisev1.ResendReason_RESEND_REASON_SERVER_RESTART {
		t.Errorf("%v came after %v", again, first)
	}
	b.Report(sessiontest.Done(again))
	b.Ack()
	if st := s.state(id); st != reprisev1.ReplayState_REPLAY_STATE_COMPLETED {
		t.Errorf("the replay is %v", st)
	}
}

func TestAllWrongSettingsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	out, code := run(t, "--listen", "0.0.0.0:0", "--orphan-timeout", "soon", "--max-resends=-1", "--data-dir", t.TempDir())
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"listen", "loopback", "orphan-timeout", "max-resends"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing of %s in: %s", want, out)
		}
	}
}
