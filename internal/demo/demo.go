// Package demo runs the product's main job with real programs and real faults,
// and proves from the desktop's own count that every action had its effect
// exactly once, in order. It is the one place, with cases and sim, that sees both
// server and agent.
package demo

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
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/testkit"
)

// Config sets up a run. All fields are required.
type Config struct {
	Bin      string    // folder with the programs, built with fault points
	Workflow string    // the workflow file
	Dir      string    // an empty folder for everything that the run leaves
	Out      io.Writer // what people read
}

// machine is the one machine of a run.
const machine = "demo"

// stage is the programs of a run and the links between them.
type stage struct {
	Config
	log       *os.File // what the programs print
	faults    *faultpoint.Listener
	link      *testkit.Link
	server    *testkit.Process
	agent     *testkit.Process
	address   string   // of the server
	agentArgs []string // beyond what every agent gets
	closers   []func() error
}

func newStage(c Config) (*stage, error) {
	log, err := os.Create(filepath.Join(c.Dir, "programs.log"))
	if err != nil {
		return nil, err
	}
	s := &stage{Config: c, log: log}
	s.closers = append(s.closers, log.Close)
	if s.faults, err = faultpoint.Listen(); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.faults.Close)
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.link, err = testkit.NewLink(s.address); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.link.Close)
	return s, nil
}

func (s *stage) close() error {
	var errs []error
	for _, p := range []*testkit.Process{s.agent, s.server} {
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

func (s *stage) say(format string, args ...any) { _, _ = fmt.Fprintf(s.Out, format+"\n", args...) }

func (s *stage) program(name string) string { return filepath.Join(s.Bin, name) }

func (s *stage) dataDir() string { return filepath.Join(s.Dir, "server") }

func (s *stage) spoolDir() string { return filepath.Join(s.Dir, "agent") }

func (s *stage) operatorToken() string { return filepath.Join(s.dataDir(), "operator.token") }

func (s *stage) agentToken() string { return filepath.Join(s.Dir, "agent.token") }

// faultEnv makes a program stop at the points named.
func (s *stage) faultEnv(points ...string) []string {
	return []string{faultpoint.Address + "=" + s.faults.Address(), faultpoint.Names + "=" + strings.Join(points, ",")}
}

func (s *stage) startServer(ctx context.Context, points ...string) (err error) {
	s.server, err = testkit.Start(ctx, "reprised", s.log, s.faultEnv(points...),
		s.program("reprised"), "--listen", s.address, "--data-dir", s.dataDir())
	if err != nil {
		return err
	}
	_, err = s.server.Line(ctx, "msg=serving")
	return err
}

func (s *stage) registerMachine(ctx context.Context) error {
	p, err := testkit.Start(ctx, "reprised-token", s.log, nil,
		s.program("reprised"), "token", "add-agent", machine, "--data-dir", s.dataDir(), "--out", s.agentToken())
	if err != nil {
		return err
	}
	if err := p.Wait(ctx); err != nil {
		return fmt.Errorf("register the machine: %w: %s", err, p.Output())
	}
	return nil
}

func (s *stage) startAgent(ctx context.Context, points ...string) (err error) {
	args := append([]string{
		"run", "--server", s.link.Address(), "--machine", machine,
		"--token-file", s.agentToken(), "--state-dir", s.spoolDir(),
	}, s.agentArgs...)
	s.agent, err = testkit.Start(ctx, "reprise-agent", s.log, s.faultEnv(points...), s.program("reprise-agent"), args...)
	return err
}

// startDesktop starts a virtual desktop and returns the addresses of its doors.
func (s *stage) startDesktop(ctx context.Context) (input, control string, err error) {
	p, err := testkit.Start(ctx, "virtual-desktop", s.log, nil, s.program("virtual-desktop"))
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

// reprisectl runs a command of the operator's tool to its end and returns what it
// printed.
func (s *stage) reprisectl(ctx context.Context, args ...string) (string, error) {
	p, err := s.startCtl(ctx, nil, args...)
	if err != nil {
		return "", err
	}
	err = p.Wait(ctx)
	if err != nil {
		err = fmt.Errorf("reprisectl %s: %w: %s", strings.Join(args, " "), err, p.Output())
	}
	return p.Output(), err
}

func (s *stage) startCtl(ctx context.Context, out io.Writer, args ...string) (*testkit.Process, error) {
	args = append([]string{"--server", s.address, "--token-file", s.operatorToken()}, args...)
	return testkit.Start(ctx, "  ", out, nil, s.program("reprisectl"), args...)
}

// submit creates the replay and returns its id.
func (s *stage) submit(ctx context.Context) (string, error) {
	out, err := s.reprisectl(ctx, "run", s.Workflow, "--machine", machine, "--wait=false", "--output", "json")
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

// client connects to the server as an operator.
func (s *stage) client() (*grpc.ClientConn, error) {
	return grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(bearer(s.operatorToken())))
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

// getReplay returns the replay as the server has it.
func (s *stage) getReplay(ctx context.Context, id string) (*reprisev1.Replay, error) {
	conn, err := s.client()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	res, err := reprisev1.NewReplayServiceClient(conn).GetReplay(ctx, &reprisev1.GetReplayRequest{ReplayId: id}, grpc.WaitForReady(true))
	return res.GetReplay(), err
}

// awaitPause waits until the replay is paused, and returns it.
func (s *stage) awaitPause(ctx context.Context, id string) (*reprisev1.Replay, error) {
	conn, err := s.client()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	watch, err := reprisev1.NewReplayServiceClient(conn).WatchReplay(ctx, &reprisev1.WatchReplayRequest{ReplayId: id}, grpc.WaitForReady(true))
	if err != nil {
		return nil, err
	}
	for {
		res, err := watch.Recv()
		if err != nil {
			return nil, fmt.Errorf("the replay did not pause: %w", err)
		}
		if r := res.GetReplay(); r.GetState() == reprisev1.ReplayState_REPLAY_STATE_PAUSED {
			return r, nil
		}
	}
}

// limit bounds a whole run.
const limit = 5 * time.Minute
