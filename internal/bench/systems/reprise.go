package systems

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"

	"github.com/reprise-rpa/reprise/internal/bench/child"
	"github.com/reprise-rpa/reprise/internal/bench/loadagent"
	"github.com/reprise-rpa/reprise/internal/bench/race"
	"github.com/reprise-rpa/reprise/server/tokens"
)

// Reprise is the product's server.
type Reprise struct {
	child    *child.Started
	operator *grpc.ClientConn
	conns    []*grpc.ClientConn // by machine
	sizes    loadagent.Sizes
}

var _ System = (*Reprise)(nil)

// StartReprise starts a server on a folder, which must be empty, and connects so
// many machines to it. The server is this program's own, unless the program of
// another build is named.
func StartReprise(ctx context.Context, program, dir string, machines int) (*Reprise, error) {
	secrets, operator, err := register(dir, machines)
	if err != nil {
		return nil, fmt.Errorf("register the machines: %w", err)
	}
	s := &Reprise{conns: make([]*grpc.ClientConn, machines)}
	if s.child, err = child.Start(ctx, program, ServeFlag, kindReprise+dir); err != nil {
		return nil, err
	}
	s.operator, err = loadagent.Dial(s.child.Address, operator)
	if err == nil {
		err = connect(s.conns, func(i int) (*grpc.ClientConn, error) { return loadagent.Dial(s.child.Address, secrets[i]) })
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// register makes a token for each machine, and returns them with the operator's.
func register(dir string, machines int) (secrets []string, operator string, err error) {
	store, err := tokens.Open(dir, nil)
	if err != nil {
		return nil, "", err
	}
	for i := range machines {
		secret, err := store.AddAgent(machine(i))
		if err != nil {
			return nil, "", err
		}
		secrets = append(secrets, secret)
	}
	text, err := os.ReadFile(filepath.Join(dir, tokens.OperatorFile))
	return secrets, strings.TrimSpace(string(text)), err
}

func machine(i int) string { return fmt.Sprintf("desk-%d", i+1) }

// Close implements System.
func (s *Reprise) Close() error {
	return errors.Join(closeAll(append(s.conns, s.operator)), s.child.Stop())
}

// Sizes returns the bytes of one action's messages, as they were in the last run.
func (s *Reprise) Sizes() loadagent.Sizes { return s.sizes }

// Run implements System.
func (s *Reprise) Run(ctx context.Context, actions int) (Measured, error) {
	return s.run(ctx, actions, "")
}

// Profile is a Run that leaves a profile of the server's processor time at path.
func (s *Reprise) Profile(ctx context.Context, actions int, path string) error {
	_, err := s.run(ctx, actions, path)
	return err
}

func (s *Reprise) run(ctx context.Context, actions int, profile string) (Measured, error) {
	m, err := s.load(ctx, actions, profile)
	if err != nil {
		return Measured{}, fmt.Errorf("the server: %w", err)
	}
	return m, nil
}

func (s *Reprise) load(ctx context.Context, actions int, profile string) (Measured, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	agents, replays := make([]*loadagent.Agent, len(s.conns)), make([]string, len(s.conns))
	err := each(len(replays), func(i int) (err error) {
		replays[i], err = loadagent.CreateReplay(ctx, s.operator, machine(i), actions)
		return err
	})
	if err != nil {
		return Measured{}, err
	}
	err = each(len(agents), func(i int) (err error) {
		agents[i], err = loadagent.Open(ctx, s.conns[i], machine(i), actions)
		return err
	})
	if err != nil {
		return Measured{}, err
	}
	workers := make([]race.Worker, len(agents))
	for i, a := range agents {
		workers[i] = a
	}
	m, err := measure(&s.child.Server, workers, actions, profile)
	if err != nil {
		return Measured{}, err
	}
	s.sizes = agents[0].Sizes()
	return m, each(len(agents), func(i int) error {
		if err := agents[i].Close(); err != nil {
			return err
		}
		return loadagent.CheckSettled(ctx, s.operator, replays[i], actions)
	})
}
