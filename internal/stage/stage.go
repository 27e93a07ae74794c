// Package stage runs the product's programs for a test or a demonstration: server,
// agent and desktop as processes, a link that breaks between them, and fault
// points at which they stand still. It knows their flags and nothing of their
// insides.
package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/testkit"
)

// Config sets up a stage. All fields are required.
type Config struct {
	Bin string    // folder with the programs, built with fault points
	Dir string    // an empty folder for everything that the run leaves
	Out io.Writer // what people read
}

// Machine is the one machine of a stage.
const Machine = "demo"

// Stage is the programs of a run and the links between them.
type Stage struct {
	Config
	Log       *os.File // what the programs print
	Faults    *faultpoint.Listener
	Link      *testkit.Link    // between agent and server
	Server    *testkit.Process // nil before StartServer
	Agent     *testkit.Process // nil before StartAgent
	Address   string           // of the server
	AgentArgs []string         // beyond what every agent gets
	closers   []func() error
}

// OnClose adds what Close does first.
func (s *Stage) OnClose(f func() error) { s.closers = append(s.closers, f) }

// New makes a stage; Close ends everything on it.
func New(c Config) (*Stage, error) {
	log, err := os.Create(filepath.Join(c.Dir, "programs.log"))
	if err != nil {
		return nil, err
	}
	s := &Stage{Config: c, Log: log}
	s.closers = append(s.closers, log.Close)
	if s.Faults, err = faultpoint.Listen(); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.Faults.Close)
	if s.Address, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.Link, err = testkit.NewLink(s.Address); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.Link.Close)
	return s, nil
}

// Close kills what still runs and returns what could not be closed.
func (s *Stage) Close() error {
	var errs []error
	for _, p := range []*testkit.Process{s.Agent, s.Server} {
		if p != nil {
			p.Kill()
		}
	}
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// freeAddress returns a loopback address that is free now; the server needs the
// same one after each restart.
func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// Say prints a line for people.
func (s *Stage) Say(format string, args ...any) { _, _ = fmt.Fprintf(s.Out, format+"\n", args...) }

func (s *Stage) program(name string) string { return filepath.Join(s.Bin, name) }

func (s *Stage) dataDir() string { return filepath.Join(s.Dir, "server") }

// SpoolDir is where the agent keeps its spool.
func (s *Stage) SpoolDir() string { return filepath.Join(s.Dir, "agent") }

func (s *Stage) operatorToken() string { return filepath.Join(s.dataDir(), "operator.token") }

func (s *Stage) agentToken() string { return filepath.Join(s.Dir, "agent.token") }

// faultEnv makes a program stop at the points named.
func (s *Stage) faultEnv(points ...string) []string {
	return []string{faultpoint.Address + "=" + s.Faults.Address(), faultpoint.Names + "=" + strings.Join(points, ",")}
}

// StartServer starts reprised, which stops at the points named, and waits until it
// serves. It may be called again after a kill.
func (s *Stage) StartServer(ctx context.Context, points ...string) (err error) {
	s.Server, err = testkit.Start(ctx, "reprised", s.Log, s.faultEnv(points...),
		s.program("reprised"), "--listen", s.Address, "--data-dir", s.dataDir())
	if err != nil {
		return err
	}
	_, err = s.Server.Line(ctx, "msg=serving")
	return err
}

// RegisterMachine makes the token of the agent.
func (s *Stage) RegisterMachine(ctx context.Context) error {
	p, err := testkit.Start(ctx, "reprised-token", s.Log, nil,
		s.program("reprised"), "token", "add-agent", Machine, "--data-dir", s.dataDir(), "--out", s.agentToken())
	if err != nil {
		return err
	}
	if err := p.Wait(ctx); err != nil {
		return fmt.Errorf("register the machine: %w: %s", err, p.Output())
	}
	return nil
}

// StartAgent starts reprise-agent, which stops at the points named. It may be
// called again after a kill.
func (s *Stage) StartAgent(ctx context.Context, points ...string) (err error) {
	args := append([]string{
		"run", "--server", s.Link.Address(), "--machine", Machine,
		"--token-file", s.agentToken(), "--state-dir", s.SpoolDir(),
	}, s.AgentArgs...)
	s.Agent, err = testkit.Start(ctx, "reprise-agent", s.Log, s.faultEnv(points...), s.program("reprise-agent"), args...)
	return err
}

// StartDesktop starts a virtual desktop and returns the addresses of its doors.
func (s *Stage) StartDesktop(ctx context.Context, scene string) (input, control string, err error) {
	p, err := testkit.Start(ctx, "virtual-desktop", s.Log, nil, s.program("virtual-desktop"), "--scene", scene)
	if err != nil {
		return "", "", err
	}
	s.closers = append(s.closers, func() error { p.Kill(); return nil })
	line, err := p.Line(ctx, `"control"`)
	if err != nil {
		return "", "", err
	}
	var doors struct{ Input, Control string }
	if err := json.Unmarshal([]byte(line), &doors); err != nil {
		return "", "", fmt.Errorf("the desktop says %q: %w", line, err)
	}
	return doors.Input, doors.Control, nil
}

// Reprisectl runs a command of the operator's tool to its end and returns what it
// printed.
func (s *Stage) Reprisectl(ctx context.Context, args ...string) (string, error) {
	p, err := s.StartCtl(ctx, nil, args...)
	if err != nil {
		return "", err
	}
	err = p.Wait(ctx)
	if err != nil {
		err = fmt.Errorf("reprisectl %s: %w: %s", strings.Join(args, " "), err, p.Output())
	}
	return p.Output(), err
}

// StartCtl starts a command of the operator's tool and copies what it prints to out.
func (s *Stage) StartCtl(ctx context.Context, out io.Writer, args ...string) (*testkit.Process, error) {
	args = append([]string{"--server", s.Address, "--token-file", s.operatorToken()}, args...)
	return testkit.Start(ctx, "  ", out, nil, s.program("reprisectl"), args...)
}

// Submit creates the replay and returns its id.
func (s *Stage) Submit(ctx context.Context, workflow string) (string, error) {
	out, err := s.Reprisectl(ctx, "run", workflow, "--machine", Machine, "--wait=false", "--output", "json")
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(out, "\n") {
		var answer struct {
			ReplayID string `json:"replayId"`
			Replay   struct {
				ReplayID string `json:"replayId"`
			} `json:"replay"`
		}
		if json.Unmarshal([]byte(line), &answer) != nil {
			continue
		}
		if id := answer.ReplayID + answer.Replay.ReplayID; id != "" {
			return id, nil
		}
	}
	return "", fmt.Errorf("reprisectl run says no replay id: %s", out)
}

// Client connects to the server as an operator.
func (s *Stage) Client() (*grpc.ClientConn, error) {
	return grpc.NewClient(s.Address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(bearer(s.operatorToken())))
}

// bearer is the path of a file with a token.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	token, err := os.ReadFile(string(b))
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + strings.TrimSpace(string(token))}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials; the server
// of a run listens on loopback.
func (bearer) RequireTransportSecurity() bool { return false }

// GetReplay returns the replay as the server has it.
func (s *Stage) GetReplay(ctx context.Context, id string) (*reprisev1.Replay, error) {
	conn, err := s.Client()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	res, err := reprisev1.NewReplayServiceClient(conn).GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: id}, grpc.WaitForReady(true))
	return res.GetReplay(), err
}

// ErrNoPause says that a replay ended without a pause.
var ErrNoPause = errors.New("the replay ended without a pause")

// AwaitPause waits until the replay is paused, also across restarts of the
// server, and returns it. A replay that ends without is ErrNoPause.
func (s *Stage) AwaitPause(ctx context.Context, id string) (*reprisev1.Replay, error) {
	conn, err := s.Client()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	for {
		r, err := watchForPause(ctx, reprisev1.NewReplayServiceClient(conn), id)
		if status.Code(err) != codes.Unavailable || ctx.Err() != nil {
			return r, err
		}
	}
}

func watchForPause(ctx context.Context, replays reprisev1.ReplayServiceClient, id string) (*reprisev1.Replay, error) {
	watch, err := replays.WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: id}, grpc.WaitForReady(true))
	if err != nil {
		return nil, err
	}
	for {
		res, err := watch.Recv()
		if errors.Is(err, io.EOF) {
			return nil, ErrNoPause
		}
		if err != nil {
			return nil, err
		}
		if r := res.GetReplay(); r.GetState() == reprisev1.ReplayState_REPLAY_STATE_PAUSED {
			return r, nil
		}
	}
}
