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
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	Log        *os.File // what the programs print
	Faults     *faultpoint.Listener
	Link       *testkit.Link    // between agent and server
	Server     *testkit.Process // nil before StartServer
	Agent      *testkit.Process // nil before StartAgent
	Address    string           // of the server
	ServerArgs []string         // beyond what every server gets
	AgentArgs  []string         // beyond what every agent gets
	Wine       bool             // the agent is the Windows program, and Wine runs it
	closers    []func() error
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
	// Of the server at each of its starts, also while there is none.
	address, release, err := testkit.ReservePort()
	if err != nil {
		return nil, err
	}
	s.Address, s.closers = address, append(s.closers, release)
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
	args := append([]string{"--listen", s.Address, "--data-dir", s.dataDir()}, s.ServerArgs...)
	s.Server, err = testkit.Start(ctx, "reprised", s.Log, s.faultEnv(points...), s.program("reprised"), args...)
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
	s.Agent, err = s.agent(ctx, "reprise-agent", s.SpoolDir(), points)
	return err
}

// StartOtherAgent starts a second agent for the same machine, with a memory of its
// own. It ends with the stage.
func (s *Stage) StartOtherAgent(ctx context.Context, points ...string) (*testkit.Process, error) {
	p, err := s.agent(ctx, "other-agent", filepath.Join(s.Dir, "other-agent"), points)
	if err == nil {
		s.OnClose(func() error { p.Kill(); return nil })
	}
	return p, err
}

func (s *Stage) agent(ctx context.Context, name, stateDir string, points []string) (*testkit.Process, error) {
	args := slices.Concat([]string{"run"}, s.agentFlags(stateDir), s.AgentArgs)
	program := s.program("reprise-agent")
	if s.Wine {
		program, args = "wine", append([]string{program + ".exe"}, args...)
	}
	return testkit.Start(ctx, name, s.Log, s.faultEnv(points...), program, args...)
}

// AgentFlags are those that every agent on this stage needs.
func (s *Stage) AgentFlags() []string { return s.agentFlags(s.SpoolDir()) }

func (s *Stage) agentFlags(stateDir string) []string {
	return []string{
		"--server", s.Link.Address(), "--machine", Machine,
		"--token-file", s.AgentPath(s.agentToken()), "--state-dir", s.AgentPath(stateDir),
	}
}

// AgentPath is a file as the agent names it. Wine has this machine's files on drive Z.
func (s *Stage) AgentPath(path string) string {
	if !s.Wine {
		return path
	}
	return "Z:" + strings.ReplaceAll(path, "/", `\`)
}

// doubleClickTime is what two presses may be apart on the desktop of a stage: the agent
// may stand still between them, and a slow machine does.
const doubleClickTime = "10m"

// StartDesktop starts a virtual desktop and returns the addresses of its doors.
func (s *Stage) StartDesktop(ctx context.Context, scene string) (input, control string, err error) {
	p, err := testkit.Start(ctx, "virtual-desktop", s.Log, nil, s.program("virtual-desktop"), "--scene", scene, "--double-click-time", doubleClickTime)
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
