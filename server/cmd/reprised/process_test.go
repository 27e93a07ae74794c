package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/testkit"
	"github.com/reprise-rpa/reprise/server/session/sessiontest"
)

const machine = "desk-1"

// patience is how long a test waits for what must come. It says nothing of how long
// that takes.
const patience = 5 * time.Minute

// program is the built reprised.
var program string

func TestMain(m *testing.M) {
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "reprised")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "reprised")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build reprised: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// server is a reprised that runs.
type server struct {
	t       *testing.T
	dir     string
	process *testkit.Process
	address string
	conn    *grpc.ClientConn
	replays reprisev1.ReplayServiceClient
	ctx     context.Context // with the operator's token
}

// start starts a server on a data folder, with these further flags.
func start(t *testing.T, dir string, args ...string) *server {
	t.Helper()
	s := &server{t: t, dir: dir}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	var err error
	args = append([]string{"--data-dir", dir, "--listen", "127.0.0.1:0"}, args...)
	if s.process, err = testkit.Start(t.Context(), "reprised", nil, nil, program, args...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.process.Kill)
	line, err := s.process.Line(ctx, "msg=serving ")
	if err != nil {
		t.Fatal(err)
	}
	s.address = regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(line)[1]
	s.conn = s.dial(insecure.NewCredentials())
	s.replays = reprisev1.NewReplayServiceClient(s.conn)
	s.ctx = s.operator()
	return s
}

func (s *server) dial(creds credentials.TransportCredentials) *grpc.ClientConn {
	s.t.Helper()
	conn, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(creds))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (s *server) operator() context.Context {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.dir, "operator.token"))
	if err != nil {
		s.t.Fatal(err)
	}
	return bearer(s.t.Context(), string(token))
}

func bearer(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+strings.TrimSpace(token))
}

// run runs reprised to its end.
func run(t *testing.T, args ...string) (output string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// addAgent registers the machine and returns a context with its agent's token.
func (s *server) addAgent() context.Context {
	s.t.Helper()
	out, code := run(s.t, "token", "add-agent", machine, "--data-dir", s.dir)
	if code != 0 {
		s.t.Fatalf("add-agent: %d, %s", code, out)
	}
	return bearer(s.t.Context(), out)
}

// agent opens the machine's stream; a token that was just made is known within a
// second.
func (s *server) agent(ctx context.Context) *sessiontest.Agent {
	s.t.Helper()
	s.until("the token is known", func() bool {
		_, err := reprisev1.NewEvidenceServiceClient(s.conn).FindMissing(ctx, &reprisev1.FindMissingRequest{Sha256: []string{strings.Repeat("0", 64)}})
		return status.Code(err) != codes.Unauthenticated
	})
	a, _ := sessiontest.Welcomed(s.t, ctx, s.conn, sessiontest.Hello(machine, "spool"))
	return a
}

// until waits until something holds of which nobody tells.
func (s *server) until(what string, holds func() bool) {
	s.t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	late := time.NewTimer(patience)
	defer late.Stop()
	for !holds() {
		select {
		case <-poll.C:
		case <-late.C:
			s.t.Fatalf("not yet: %s", what)
		}
	}
}

func (s *server) create() string {
	s.t.Helper()
	res, err := s.replays.CreateReplay(s.ctx, &reprisev1.CreateReplayRequest{MachineId: machine, Workflow: &reprisev1.Workflow{
		Name: "clicks", Actions: []*reprisev1.Action{{
			Target: &reprisev1.Target{Point: &reprisev1.Point{X: .5, Y: .5}}, Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}},
		}},
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	return res.GetReplay().GetReplayId()
}

func (s *server) state(id string) reprisev1.ReplayState {
	s.t.Helper()
	res, err := s.replays.GetReplay(s.ctx, &reprisev1.GetReplayRequest{ReplayId: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return res.GetReplay().GetState()
}

// stopped asks the server to stop and says how long that took.
func (s *server) stopped() time.Duration {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	began := time.Now()
	if err := s.process.Terminate(ctx); err != nil {
		s.t.Errorf("the server ended with %v; it said: %s", err, s.process.Output())
	}
	return time.Since(began)
}

func trusting(c tls.Certificate) credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool(c), ServerName: "127.0.0.1"})
}
