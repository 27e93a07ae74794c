package servertest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Register registers a machine whose agent never comes.
func (s *Server) Register(machineID string) error {
	_, err := s.register(machineID)
	return err
}

func (s *Server) register(machineID string) (secret string, err error) {
	in, err := s.current()
	if err != nil {
		return "", err
	}
	if secret, err = in.host.Tokens().AddAgent(machineID); err != nil {
		return "", fmt.Errorf("servertest: %w", err)
	}
	return secret, nil
}

// Agent is [Server.NewAgent] for a test: what goes wrong ends the test that was given
// to [Start], so only that test's own goroutine may call it; others, subtests among
// them, call NewAgent. On a server of [New] it panics.
func (s *Server) Agent(machineID string, script Script) *Agent {
	a, err := s.NewAgent(s.ctx, machineID, script)
	if err != nil {
		s.fatal(err)
	}
	return a
}

// patience is how long a new agent may take to be taken by the server.
const patience = 5 * time.Minute

// NewAgent registers a machine and connects an agent that follows a script; a nil
// script succeeds. It returns when the server has taken the agent, which lives until
// the server is closed.
func (s *Server) NewAgent(ctx context.Context, machineID string, script Script) (*Agent, error) {
	secret, err := s.register(machineID)
	if err != nil {
		return nil, err
	}
	conn, err := s.dial(secret)
	if err != nil {
		return nil, err
	}
	a := newAgent(machineID, script, conn, s.log)
	s.mu.Lock()
	if s.closed || s.agents[machineID] != nil {
		s.mu.Unlock()
		return nil, errors.Join(fmt.Errorf("servertest: %s has an agent, or the server is closed", machineID), conn.Close())
	}
	s.agents[machineID] = a
	a.run(s.ctx)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return a, a.AwaitConnected(ctx)
}
