package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Started is a child and the right to end it.
type Started struct {
	Server
	cmd *exec.Cmd
}

// Start runs a program with args, which must lead to Attend, and waits until it
// serves. The program is this one again, unless it is named. What it says on its
// standard error goes to this process's. ctx ends it the hard way, Stop in order.
func Start(ctx context.Context, program string, args ...string) (_ *Started, err error) {
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("child: %w", err)
		}
	}
	s := &Started{cmd: exec.CommandContext(ctx, program, args...)}
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	address, err := s.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("child: %s did not begin to serve: %w", strings.Join(args, " "), err), s.Stop())
	}
	s.Address = strings.TrimSpace(address)
	return s, nil
}

// Stop ends the child in order and says how it ended.
func (s *Started) Stop() error {
	if err := errors.Join(s.in.Close(), s.cmd.Wait()); err != nil {
		return fmt.Errorf("child: %w", err)
	}
	return nil
}
